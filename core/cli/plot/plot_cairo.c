/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-plot: draws a picture from JSON. */
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the parts of a picture have in common, and its regions. */

#define LEFT 64
#define BOTTOM 50
#define INK 0.15

/* Colours of Okabe and Ito, distinct for colour-blind people, without yellow, too pale on paper. */
#define PLOT_COLOURS 8
extern const double plot_colours[PLOT_COLOURS][3];

/* Scale of an axis. */
struct scale {
    double greatest, step, unit; /* [s] or [W] */
    const char *name;
};

struct panel {
    double x, y, width, height; /* of the plot area */
    double regions;             /* height of the bar below it; 0: no job has regions */
    struct scale time, power;
};

/* `align`: 0 starts at x, 0.5 is centred, 1 ends at x; cut to `room`. */
struct text_box {
    double x, y, align, room;
};

/* --- regions -------------------------------------------------------------------------------- */

#define REGIONS_HEIGHT 16
#define REGIONS_LEAST 24 /* width of one with a name */
#define BAND_COLUMNS 1024

const double plot_colours[PLOT_COLOURS][3] = {
    {0.20, 0.20, 0.20}, {0.00, 0.45, 0.70}, {0.90, 0.62, 0.00}, {0.00, 0.62, 0.45},
    {0.80, 0.47, 0.65}, {0.84, 0.37, 0.00}, {0.34, 0.71, 0.91}, {0.55, 0.45, 0.15}};

static void plot_draw_text(cairo_t *cr, const struct text_box *box, const char *text)
{
    cairo_text_extents_t extents;
    char shown[1024];
    size_t size;

    snprintf(shown, sizeof shown, "%s", text);
    size = strlen(shown);
    cairo_text_extents(cr, shown, &extents);
    while (extents.x_advance > box->room && size > 0) {
        do {
            size--;
        } while (size > 0 && ((unsigned char)shown[size] & 0xC0) == 0x80);
        snprintf(shown + size, sizeof shown - size, "%s", size + 4 < sizeof shown ? "…" : "");
        cairo_text_extents(cr, shown, &extents);
    }
    cairo_move_to(cr, box->x - extents.x_advance * box->align, box->y);
    cairo_show_text(cr, shown);
}

static void plot_draw_font(cairo_t *cr, double size, cairo_font_weight_t weight)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight);
    cairo_set_font_size(cr, size);
    cairo_set_source_rgb(cr, INK, INK, INK);
}

static void plot_cairo_draw_colour(cairo_t *cr, const double *rgb)
{
    cairo_set_source_rgb(cr, (1 + rgb[0]) / 2, (1 + rgb[1]) / 2, (1 + rgb[2]) / 2);
}

static void plot_draw_bands(cairo_t *cr, const struct panel *panel, const json_t *bands,
                            double length_s)
{
    double sum_w[BAND_COLUMNS] = {0};
    const json_t *band;
    size_t k;

    json_array_foreach(bands, k, band)
    {
        const json_t *powers = json_object_get(band, "power_w");
        size_t count = json_array_size(powers);
        double column = panel->width * length_s / panel->time.greatest / (double)count;
        const double *rgb =
            plot_colours[json_integer_value(json_object_get(band, "colour")) % PLOT_COLOURS];
        double scale = panel->height / panel->power.greatest;

        for (size_t i = 0; i < count && i < BAND_COLUMNS; i++) {
            double power_w = json_number_value(json_array_get(powers, i));

            sum_w[i] += power_w;
            cairo_rectangle(cr, panel->x + column * (double)i,
                            panel->y + panel->height - sum_w[i] * scale, column, power_w * scale);
        }
        plot_cairo_draw_colour(cr, rgb);
        cairo_fill(cr);
    }
}

static void plot_draw_regions(cairo_t *cr, const struct panel *panel, const json_t *regions)
{
    double x = panel->x, y = panel->y + panel->height + BOTTOM - 6;
    const json_t *region;
    size_t i;

    if (regions) {
        plot_draw_font(cr, 11, CAIRO_FONT_WEIGHT_NORMAL);
        plot_draw_text(cr, &(struct text_box){x - 6, y + 12, 1, LEFT}, "energy");
    }
    json_array_foreach(regions, i, region)
    {
        double width = panel->width * json_number_value(json_object_get(region, "share"));
        const double *rgb = plot_colours[1 + i % (PLOT_COLOURS - 1)];
        char text[1024];

        plot_cairo_draw_colour(cr, rgb);
        cairo_rectangle(cr, x, y, width, REGIONS_HEIGHT);
        cairo_fill(cr);
        snprintf(text, sizeof text, "%s %.0f %%",
                 json_string_value(json_object_get(region, "name")),
                 100 * json_number_value(json_object_get(region, "share")));
        plot_draw_font(cr, 10, CAIRO_FONT_WEIGHT_NORMAL);
        if (width > REGIONS_LEAST) {
            plot_draw_text(cr, &(struct text_box){x + 4, y + 12, 0, width - 6}, text);
        }
        x += width;
    }
}

#define PNG_SCALE 2 /* pixels per point: sharp on paper */
#define ROW_JOBS 3  /* panels in one row */
#define HEIGHT 360
#define RIGHT 16
#define TOP 52
#define LEGEND_ROW 18
#define LEGEND_COLUMN 118
#define TICKS 5
#define FAINT 0.87
#define MARK 0.6
#define CROSSING 5      /* colour of the marks of crossings */
#define REGIONS_ROOM 34 /* of the bar of regions, below the time axis */
#define MARK_ROOM 4     /* between two marks or their names */

/* To distinguish lines in black-and-white print. */
static const double dashes[][4] = {{0},          {0},          {7, 3, 7, 3},  {2, 2, 2, 2},
                                   {9, 3, 2, 3}, {4, 2, 4, 2}, {12, 4, 2, 4}, {1, 3, 1, 3}};

static double nice_step(double greatest)
{
    double raw = greatest / TICKS, base = pow(10, floor(log10(raw)));
    double share = raw / base;

    return base * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static struct scale power_scale(double greatest_w)
{
    struct scale scale = {.unit = 1, .name = "power [W]"};

    greatest_w = greatest_w > 0 ? greatest_w : 1;
    if (greatest_w >= 1e6) {
        scale = (struct scale){.unit = 1e6, .name = "power [MW]"};
    } else if (greatest_w >= 1e4) {
        scale = (struct scale){.unit = 1e3, .name = "power [kW]"};
    }
    scale.step = nice_step(greatest_w / scale.unit) * scale.unit;
    scale.greatest = ceil(greatest_w * 1.02 / scale.step) * scale.step;
    return scale;
}

static struct scale time_scale(double longest_s)
{
    static const struct scale scales[] = {{.unit = 86400, .name = "time since the start [d]"},
                                          {.unit = 3600, .name = "time since the start [h]"},
                                          {.unit = 60, .name = "time since the start [min]"},
                                          {.unit = 1, .name = "time since the start [s]"}};
    struct scale scale;
    size_t i = 0;

    longest_s = longest_s > 0 ? longest_s : 1;
    while (scales[i].unit > 1 && longest_s < 3 * scales[i].unit) {
        i++;
    }
    scale = scales[i];
    scale.greatest = longest_s;
    scale.step = nice_step(longest_s / scale.unit) * scale.unit;
    return scale;
}

/* --- axes ----------------------------------------------------------------------------------- */

static void plot_cairo_put_line(cairo_t *cr, const double ends[4], double grey)
{
    cairo_set_source_rgb(cr, grey, grey, grey);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, ends[0], ends[1]);
    cairo_line_to(cr, ends[2], ends[3]);
    cairo_stroke(cr);
}

static void put_power_axis(cairo_t *cr, const struct panel *panel)
{
    const struct scale *scale = &panel->power;

    for (int i = 0; i * scale->step <= scale->greatest * 1.0001; i++) {
        double y = panel->y + panel->height * (1 - i * scale->step / scale->greatest);
        char label[32];

        plot_cairo_put_line(cr, (double[]){panel->x, y, panel->x + panel->width, y},
                            i ? FAINT : INK);
        snprintf(label, sizeof label, "%g", i * scale->step / scale->unit);
        plot_draw_font(cr, 11, CAIRO_FONT_WEIGHT_NORMAL);
        plot_draw_text(cr, &(struct text_box){panel->x - 6, y + 4, 1, LEFT}, label);
    }
    plot_draw_text(cr, &(struct text_box){panel->x - LEFT + 10, panel->y - 10, 0, LEFT + 60},
                   scale->name);
}

static void put_time_axis(cairo_t *cr, const struct panel *panel)
{
    const struct scale *scale = &panel->time;
    double bottom = panel->y + panel->height;

    for (int i = 0; i * scale->step <= scale->greatest * 1.0001; i++) {
        double x = panel->x + panel->width * i * scale->step / scale->greatest;
        char label[32];

        plot_cairo_put_line(cr, (double[]){x, bottom, x, bottom + 4}, INK);
        snprintf(label, sizeof label, "%g", i * scale->step / scale->unit);
        plot_draw_font(cr, 11, CAIRO_FONT_WEIGHT_NORMAL);
        plot_draw_text(cr, &(struct text_box){x, bottom + 17, 0.5, LEFT}, label);
    }
    plot_draw_text(cr,
                   &(struct text_box){panel->x + panel->width / 2, bottom + 34, 0.5, panel->width},
                   scale->name);
}

/* --- lines ---------------------------------------------------------------------------------- */

static size_t set_style(cairo_t *cr, const json_t *series)
{
    size_t colour = (size_t)json_integer_value(json_object_get(series, "colour")) % PLOT_COLOURS;
    const double *rgb = plot_colours[colour];

    cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
    cairo_set_line_width(cr, 1.8);
    cairo_set_dash(cr, dashes[colour], dashes[colour][0] > 0 ? 4 : 0, 0);
    return colour;
}

/* Draw a step for each mean; nothing if not known. */
static void plot_cairo_put_series(cairo_t *cr, const struct panel *panel, const json_t *series,
                                  double length_s)
{
    const json_t *powers = json_object_get(series, "power_w");
    size_t count = json_array_size(powers);
    double column = panel->width * length_s / panel->time.greatest / (double)count;
    bool open = false;

    set_style(cr, series);
    for (size_t i = 0; i < count; i++) {
        const json_t *power = json_array_get(powers, i);
        double x = panel->x + column * (double)i;
        double y =
            panel->y + panel->height * (1 - json_number_value(power) / panel->power.greatest);

        if (json_is_number(power)) {
            (open ? cairo_line_to : cairo_move_to)(cr, x, y);
            cairo_line_to(cr, x + column, y);
        }
        open = json_is_number(power);
    }
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

/* Mark where steps begin; names and marks without room are omitted. */
static void plot_cairo_put_marks(cairo_t *cr, const struct panel *panel, const json_t *steps)
{
    double last_mark = panel->x - MARK_ROOM, last_name = panel->x;
    const json_t *step;
    size_t i;

    json_array_foreach(steps, i, step)
    {
        double start_s = json_number_value(json_object_get(step, "start_s"));
        double x = panel->x + panel->width * start_s / panel->time.greatest;
        const char *name = json_string_value(json_object_get(step, "step"));
        cairo_text_extents_t extents;

        if (x < last_mark + MARK_ROOM) {
            continue;
        }
        cairo_set_dash(cr, (double[]){1, 3}, 2, 0);
        plot_cairo_put_line(cr, (double[]){x, panel->y, x, panel->y + panel->height}, MARK);
        cairo_set_dash(cr, NULL, 0, 0);
        last_mark = x;
        plot_draw_font(cr, 9, CAIRO_FONT_WEIGHT_NORMAL);
        cairo_text_extents(cr, name ? name : "", &extents);
        if (name && x >= last_name && x + extents.x_advance <= panel->x + panel->width) {
            plot_draw_text(cr, &(struct text_box){x, panel->y - 2, 0, LEGEND_COLUMN}, name);
            last_name = x + extents.x_advance + MARK_ROOM;
        }
    }
}

/* A mark below the time axis' line for each threshold that was crossed, with its text if it has
 * room. */
static void plot_cairo_put_crossings(cairo_t *cr, const struct panel *panel,
                                     const json_t *crossings)
{
    const double *rgb = plot_colours[CROSSING], bottom = panel->y + panel->height;
    double last_name = panel->x;
    const json_t *crossing;
    size_t i;

    json_array_foreach(crossings, i, crossing)
    {
        double at_s = json_number_value(json_object_get(crossing, "at_s"));
        double x = panel->x + panel->width * at_s / panel->time.greatest;
        const char *threshold = json_string_value(json_object_get(crossing, "threshold"));
        cairo_text_extents_t extents;

        cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
        cairo_move_to(cr, x, bottom - 1);
        cairo_line_to(cr, x - 4, bottom - 9);
        cairo_line_to(cr, x + 4, bottom - 9);
        cairo_fill(cr);
        plot_draw_font(cr, 9, CAIRO_FONT_WEIGHT_NORMAL);
        cairo_text_extents(cr, threshold ? threshold : "", &extents);
        if (threshold && x >= last_name && x + extents.x_advance <= panel->x + panel->width) {
            plot_draw_text(cr, &(struct text_box){x + 6, bottom - 3, 0, panel->width}, threshold);
            last_name = x + extents.x_advance + MARK_ROOM + 6;
        }
    }
}

static void put_legend(cairo_t *cr, const struct panel *panel, const json_t *lines)
{
    size_t in_row = (size_t)fmax(1, floor(panel->width / LEGEND_COLUMN)), i;
    const json_t *series;

    json_array_foreach(lines, i, series)
    {
        double x = panel->x + (double)(i % in_row) * LEGEND_COLUMN;
        size_t row = i / in_row;
        double y = panel->y + panel->height + BOTTOM + panel->regions + (double)row * LEGEND_ROW;

        set_style(cr, series);
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + 26, y);
        cairo_stroke(cr);
        cairo_set_dash(cr, NULL, 0, 0);
        plot_draw_font(cr, 11, CAIRO_FONT_WEIGHT_NORMAL);
        plot_draw_text(cr, &(struct text_box){x + 32, y + 4, 0, LEGEND_COLUMN - 36},
                       json_string_value(json_object_get(series, "name")));
    }
}

static void plot_cairo_put_title(cairo_t *cr, const struct panel *panel, const json_t *job)
{
    const char *id = json_string_value(json_object_get(job, "job"));
    const char *name = json_string_value(json_object_get(job, "job_name"));
    const char *start = json_string_value(json_object_get(job, "start"));
    char text[1024];

    snprintf(text, sizeof text, "job %s%s%s", id ? id : "-", name ? "  " : "", name ? name : "");
    plot_draw_font(cr, 14, CAIRO_FONT_WEIGHT_BOLD);
    plot_draw_text(
        cr, &(struct text_box){panel->x - LEFT + 10, panel->y - 30, 0, panel->width - 90}, text);
    snprintf(text, sizeof text, "%.10s %.8s UTC", start, start + 11);
    plot_draw_font(cr, 11, CAIRO_FONT_WEIGHT_NORMAL);
    plot_draw_text(cr, &(struct text_box){panel->x + panel->width, panel->y - 30, 1, 160}, text);
}

static void put_panel(cairo_t *cr, const struct panel *panel, const json_t *job)
{
    const json_t *lines = json_object_get(job, "series"), *series;
    size_t i;

    plot_cairo_put_title(cr, panel, job);
    plot_draw_bands(cr, panel, json_object_get(job, "bands"),
                    json_number_value(json_object_get(job, "length_s")));
    put_power_axis(cr, panel);
    put_time_axis(cr, panel);
    plot_cairo_put_marks(cr, panel, json_object_get(job, "steps"));
    json_array_foreach(lines, i, series)
    {
        plot_cairo_put_series(cr, panel, series,
                              json_number_value(json_object_get(job, "length_s")));
    }
    plot_cairo_put_crossings(cr, panel, json_object_get(job, "crossings"));
    plot_draw_regions(cr, panel, json_object_get(job, "regions"));
    put_legend(cr, panel, lines);
}

/* --- the whole ------------------------------------------------------------------------------ */

struct sheet {
    size_t count, columns, rows;
    double panel_width, panel_height, area_height, regions;
};

static struct sheet sheet_of(const json_t *jobs)
{
    struct sheet sheet = {.count = json_array_size(jobs)};
    size_t most = 0, in_row, rows, i;
    const json_t *job;

    sheet.columns = sheet.count == 4 ? 2 : sheet.count < ROW_JOBS ? sheet.count : ROW_JOBS;
    sheet.rows = (sheet.count + sheet.columns - 1) / sheet.columns;
    sheet.panel_width = sheet.count == 1 ? 900 : 560;
    json_array_foreach(jobs, i, job)
    {
        size_t lines = json_array_size(json_object_get(job, "series"));

        most = lines > most ? lines : most;
        if (json_object_get(job, "regions")) {
            sheet.regions = REGIONS_ROOM;
        }
    }
    in_row = (size_t)((sheet.panel_width - LEFT - RIGHT) / LEGEND_COLUMN);
    sheet.area_height = HEIGHT - TOP - BOTTOM;
    rows = (most + in_row - 1) / in_row;
    sheet.panel_height = HEIGHT + sheet.regions + (double)rows * LEGEND_ROW;
    return sheet;
}

static cairo_status_t write_bytes(void *file, const unsigned char *bytes, unsigned size)
{
    return fwrite(bytes, 1, size, file) == size ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static void paint(cairo_t *cr, const json_t *model, const struct sheet *sheet)
{
    const json_t *job;
    size_t i;

    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    json_array_foreach(json_object_get(model, "jobs"), i, job)
    {
        size_t row = i / sheet->columns;
        struct panel panel = {
            .x = (double)(i % sheet->columns) * sheet->panel_width + LEFT,
            .y = (double)row * sheet->panel_height + TOP,
            .width = sheet->panel_width - LEFT - RIGHT,
            .height = sheet->area_height,
            .regions = sheet->regions,
            .time = time_scale(json_number_value(json_object_get(job, "scale_s"))),
            .power = power_scale(json_number_value(json_object_get(job, "scale_w")))};

        put_panel(cr, &panel, job);
    }
}

static cairo_surface_t *create_surface(const char *form, double width, double height)
{
    if (strcmp(form, "png") == 0) {
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * PNG_SCALE),
                                          (int)(height * PNG_SCALE));
    }
    return (strcmp(form, "pdf") == 0
                ? cairo_pdf_surface_create_for_stream
                : cairo_svg_surface_create_for_stream)(write_bytes, stdout, width, height);
}

static cairo_status_t plot_cairo_draw(const json_t *model, const char *form)
{
    bool png = strcmp(form, "png") == 0;
    struct sheet sheet = sheet_of(json_object_get(model, "jobs"));
    double width = sheet.panel_width * (double)sheet.columns;
    double height = sheet.panel_height * (double)sheet.rows;
    cairo_surface_t *surface = create_surface(form, width, height);
    cairo_t *cr = cairo_create(surface);
    cairo_status_t status;

    if (png) {
        cairo_scale(cr, PNG_SCALE, PNG_SCALE);
    }
    paint(cr, model, &sheet);
    status = cairo_status(cr);
    if (status == CAIRO_STATUS_SUCCESS && png) {
        status = cairo_surface_write_to_png_stream(surface, write_bytes, stdout);
    }
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) {
        status = cairo_surface_status(surface);
    }
    cairo_surface_destroy(surface);
    return status;
}

static bool is_form(const char *word)
{
    return strcmp(word, "svg") == 0 || strcmp(word, "png") == 0 || strcmp(word, "pdf") == 0;
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *model;
    cairo_status_t status;

    if (argc != 2 || !is_form(argv[1])) {
        fputs("usage: apapi-plot svg|png|pdf <MODEL >PICTURE; 'apapi plot' runs it\n", stderr);
        return 2;
    }
    model = json_loadf(stdin, 0, &error);
    if (!model || json_array_size(json_object_get(model, "jobs")) == 0) {
        fprintf(stderr, "apapi-plot: no model: %s\n", error.text);
        return EXIT_FAILURE;
    }
    status = plot_cairo_draw(model, argv[1]);
    json_decref(model);
    if (status != CAIRO_STATUS_SUCCESS || fflush(stdout)) {
        fprintf(stderr, "apapi-plot: %s\n", cairo_status_to_string(status));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
