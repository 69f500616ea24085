/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-plot: draws a picture from JSON. */
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* Shared by the parts of a picture, and its regions. */

#define LEFT 64
#define BOTTOM 50
#define INK 0.15
#define TITLE_SIZE 14 /* of text; it is bold */

/* Colours of Okabe and Ito, distinct for colour-blind people, without yellow, too pale on paper. */
#define PLOT_COLOURS 8
static const double plot_colours[PLOT_COLOURS][3] = {
    {0.20, 0.20, 0.20}, {0.00, 0.45, 0.70}, {0.90, 0.62, 0.00}, {0.00, 0.62, 0.45},
    {0.80, 0.47, 0.65}, {0.84, 0.37, 0.00}, {0.34, 0.71, 0.91}, {0.55, 0.45, 0.15}};

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
    double size, x, y, align, room;
};

/* --- the model ------------------------------------------------------------------------------ */

static size_t elements_of(const struct tree_node *array)
{
    return tree_is(array, TREE_ARRAY) ? array->size : 0;
}

static double number_of(const struct tree_node *object, const char *key)
{
    return tree_number(tree_get(object, key));
}

/* "": none. */
static const char *text_of(const struct tree_node *object, const char *key)
{
    const struct tree_node *text = tree_get(object, key);

    return tree_is(text, TREE_TEXT) ? text->text : "";
}

static size_t colour_of(const struct tree_node *object)
{
    return (size_t)number_of(object, "colour") % PLOT_COLOURS;
}

/* --- regions -------------------------------------------------------------------------------- */

#define REGIONS_HEIGHT 16
#define REGIONS_LEAST 24 /* width of one with a name */
#define BAND_COLUMNS 1024

static double text_width(cairo_t *cr, const struct text_box *box, const char *text)
{
    cairo_text_extents_t extents;

    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           box->size >= TITLE_SIZE ? CAIRO_FONT_WEIGHT_BOLD
                                                   : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, box->size);
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

static void draw_text(cairo_t *cr, const struct text_box *box, const char *text)
{
    char shown[1024];
    size_t size;
    double width;

    snprintf(shown, sizeof shown, "%s", text);
    size = strlen(shown);
    while ((width = text_width(cr, box, shown)) > box->room && size > 0) {
        do {
            size--;
        } while (size > 0 && ((unsigned char)shown[size] & 0xC0) == 0x80);
        snprintf(shown + size, sizeof shown - size, "%s", size + 4 < sizeof shown ? "…" : "");
    }
    cairo_set_source_rgb(cr, INK, INK, INK);
    cairo_move_to(cr, box->x - width * box->align, box->y);
    cairo_show_text(cr, shown);
}

static void draw_colour(cairo_t *cr, const double *rgb)
{
    cairo_set_source_rgb(cr, (1 + rgb[0]) / 2, (1 + rgb[1]) / 2, (1 + rgb[2]) / 2);
}

static void draw_bands(cairo_t *cr, const struct panel *panel, const struct tree_node *bands,
                       double length_s)
{
    double sum_w[BAND_COLUMNS] = {0};

    for (const struct tree_node *band = NULL; (band = tree_each(bands, band));) {
        const struct tree_node *powers = tree_get(band, "power_w");
        const struct tree_node *power = NULL;
        double column =
            panel->width * length_s / panel->time.greatest / (double)elements_of(powers);
        double scale = panel->height / panel->power.greatest;

        for (size_t i = 0; i < BAND_COLUMNS && (power = tree_each(powers, power)); i++) {
            double power_w = tree_number(power);

            sum_w[i] += power_w;
            cairo_rectangle(cr, panel->x + column * (double)i,
                            panel->y + panel->height - sum_w[i] * scale, column, power_w * scale);
        }
        draw_colour(cr, plot_colours[colour_of(band)]);
        cairo_fill(cr);
    }
}

static void draw_regions(cairo_t *cr, const struct panel *panel, const struct tree_node *regions)
{
    double x = panel->x, y = panel->y + panel->height + BOTTOM - 6;
    size_t i = 0;

    if (regions) {
        draw_text(cr, &(struct text_box){11, x - 6, y + 12, 1, LEFT}, "energy");
    }
    for (const struct tree_node *region = NULL; (region = tree_each(regions, region));) {
        double width = panel->width * number_of(region, "share");
        char text[1024];

        draw_colour(cr, plot_colours[1 + i++ % (PLOT_COLOURS - 1)]);
        cairo_rectangle(cr, x, y, width, REGIONS_HEIGHT);
        cairo_fill(cr);
        snprintf(text, sizeof text, "%s %.0f %%", text_of(region, "name"),
                 100 * number_of(region, "share"));
        if (width > REGIONS_LEAST) {
            draw_text(cr, &(struct text_box){10, x + 4, y + 12, 0, width - 6}, text);
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

static void put_line(cairo_t *cr, const double ends[4], double grey)
{
    cairo_set_source_rgb(cr, grey, grey, grey);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, ends[0], ends[1]);
    cairo_line_to(cr, ends[2], ends[3]);
    cairo_stroke(cr);
}

/* @param up  the power axis, at the left; otherwise that of time, below */
static void put_axis(cairo_t *cr, const struct panel *panel, bool up)
{
    const struct scale *scale = up ? &panel->power : &panel->time;
    double right = panel->x + panel->width, bottom = panel->y + panel->height;

    for (int i = 0; i * scale->step <= scale->greatest * 1.0001; i++) {
        double share = i * scale->step / scale->greatest;
        double x = panel->x + panel->width * share, y = panel->y + panel->height * (1 - share);
        char label[32];

        snprintf(label, sizeof label, "%g", i * scale->step / scale->unit);
        if (up) {
            put_line(cr, (double[]){panel->x, y, right, y}, i ? FAINT : INK);
            draw_text(cr, &(struct text_box){11, panel->x - 6, y + 4, 1, LEFT}, label);
        } else {
            put_line(cr, (double[]){x, bottom, x, bottom + 4}, INK);
            draw_text(cr, &(struct text_box){11, x, bottom + 17, 0.5, LEFT}, label);
        }
    }
    draw_text(
        cr,
        up ? &(struct text_box){11, panel->x - LEFT + 10, panel->y - 10, 0, LEFT + 60}
           : &(struct text_box){11, panel->x + panel->width / 2, bottom + 34, 0.5, panel->width},
        scale->name);
}

/* --- lines ---------------------------------------------------------------------------------- */

static void set_style(cairo_t *cr, const struct tree_node *series)
{
    const double *rgb = plot_colours[colour_of(series)], *dash = dashes[colour_of(series)];

    cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
    cairo_set_line_width(cr, 1.8);
    cairo_set_dash(cr, dash, dash[0] > 0 ? 4 : 0, 0);
}

/* Draw a step for each mean; nothing if not known. */
static void put_series(cairo_t *cr, const struct panel *panel, const struct tree_node *series,
                       double length_s)
{
    const struct tree_node *powers = tree_get(series, "power_w");
    double column = panel->width * length_s / panel->time.greatest / (double)elements_of(powers);
    double x = panel->x;
    bool open = false;

    set_style(cr, series);
    for (const struct tree_node *power = NULL; (power = tree_each(powers, power)); x += column) {
        double y = panel->y + panel->height * (1 - tree_number(power) / panel->power.greatest);

        if (tree_is_number(power)) {
            (open ? cairo_line_to : cairo_move_to)(cr, x, y);
            cairo_line_to(cr, x + column, y);
        }
        open = tree_is_number(power);
    }
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

/* Mark where steps begin; names and marks without room are omitted. */
static void put_marks(cairo_t *cr, const struct panel *panel, const struct tree_node *steps)
{
    double last_mark = panel->x - MARK_ROOM, last_name = panel->x;

    for (const struct tree_node *step = NULL; (step = tree_each(steps, step));) {
        double start_s = number_of(step, "start_s");
        double x = panel->x + panel->width * start_s / panel->time.greatest;
        const struct text_box box = {9, x, panel->y - 2, 0, LEGEND_COLUMN};
        const char *name = text_of(step, "step");
        double end = x + text_width(cr, &box, name);

        if (x < last_mark + MARK_ROOM) {
            continue;
        }
        cairo_set_dash(cr, (double[]){1, 3}, 2, 0);
        put_line(cr, (double[]){x, panel->y, x, panel->y + panel->height}, MARK);
        cairo_set_dash(cr, NULL, 0, 0);
        last_mark = x;
        if (*name && x >= last_name && end <= panel->x + panel->width) {
            draw_text(cr, &box, name);
            last_name = end + MARK_ROOM;
        }
    }
}

/* A mark below the time axis' line for each threshold that was crossed, with its text if it has
 * room. */
static void put_crossings(cairo_t *cr, const struct panel *panel, const struct tree_node *crossings)
{
    const double *rgb = plot_colours[CROSSING], bottom = panel->y + panel->height;
    double last_name = panel->x;

    for (const struct tree_node *crossing = NULL; (crossing = tree_each(crossings, crossing));) {
        double at_s = number_of(crossing, "at_s");
        double x = panel->x + panel->width * at_s / panel->time.greatest;
        const struct text_box box = {9, x + 6, bottom - 3, 0, panel->width};
        const char *threshold = text_of(crossing, "threshold");
        double end = x + text_width(cr, &box, threshold);

        cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
        cairo_move_to(cr, x, bottom - 1);
        cairo_line_to(cr, x - 4, bottom - 9);
        cairo_line_to(cr, x + 4, bottom - 9);
        cairo_fill(cr);
        if (*threshold && x >= last_name && end <= panel->x + panel->width) {
            draw_text(cr, &box, threshold);
            last_name = end + MARK_ROOM + 6;
        }
    }
}

static void put_legend(cairo_t *cr, const struct panel *panel, const struct tree_node *lines)
{
    size_t in_row = (size_t)fmax(1, floor(panel->width / LEGEND_COLUMN)), i = 0;

    for (const struct tree_node *series = NULL; (series = tree_each(lines, series)); i++) {
        double x = panel->x + (double)(i % in_row) * LEGEND_COLUMN;
        size_t row = i / in_row;
        double y = panel->y + panel->height + BOTTOM + panel->regions + (double)row * LEGEND_ROW;

        set_style(cr, series);
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + 26, y);
        cairo_stroke(cr);
        cairo_set_dash(cr, NULL, 0, 0);
        draw_text(cr, &(struct text_box){11, x + 32, y + 4, 0, LEGEND_COLUMN - 36},
                  text_of(series, "name"));
    }
}

static void put_title(cairo_t *cr, const struct panel *panel, const struct tree_node *job)
{
    const char *id = text_of(job, "job");
    const char *name = text_of(job, "job_name");
    const char *start = text_of(job, "start");
    char text[1024];

    snprintf(text, sizeof text, "job %s%s%s", *id ? id : "-", *name ? "  " : "", name);
    draw_text(
        cr,
        &(struct text_box){TITLE_SIZE, panel->x - LEFT + 10, panel->y - 30, 0, panel->width - 90},
        text);
    snprintf(text, sizeof text, "%.10s %.8s UTC", start,
             *start ? start + strlen("2026-11-21T") : "");
    draw_text(cr, &(struct text_box){11, panel->x + panel->width, panel->y - 30, 1, 160}, text);
}

static void put_panel(cairo_t *cr, const struct panel *panel, const struct tree_node *job)
{
    const struct tree_node *lines = tree_get(job, "series");
    double length_s = number_of(job, "length_s");

    put_title(cr, panel, job);
    draw_bands(cr, panel, tree_get(job, "bands"), length_s);
    put_axis(cr, panel, true);
    put_axis(cr, panel, false);
    put_marks(cr, panel, tree_get(job, "steps"));
    for (const struct tree_node *series = NULL; (series = tree_each(lines, series));) {
        put_series(cr, panel, series, length_s);
    }
    put_crossings(cr, panel, tree_get(job, "crossings"));
    draw_regions(cr, panel, tree_get(job, "regions"));
    put_legend(cr, panel, lines);
}

/* --- the whole ------------------------------------------------------------------------------ */

struct sheet {
    size_t count, columns, rows;
    double panel_width, panel_height, area_height, regions;
};

static struct sheet sheet_of(const struct tree_node *jobs)
{
    struct sheet sheet = {.count = elements_of(jobs)};
    size_t most = 0, in_row, rows;

    sheet.columns = sheet.count == 4 ? 2 : sheet.count < ROW_JOBS ? sheet.count : ROW_JOBS;
    sheet.rows = (sheet.count + sheet.columns - 1) / sheet.columns;
    sheet.panel_width = sheet.count == 1 ? 900 : 560;
    for (const struct tree_node *job = NULL; (job = tree_each(jobs, job));) {
        size_t lines = elements_of(tree_get(job, "series"));

        most = lines > most ? lines : most;
        if (tree_get(job, "regions")) {
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

static void paint(cairo_t *cr, const struct tree_node *jobs, const struct sheet *sheet)
{
    size_t i = 0;

    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    for (const struct tree_node *job = NULL; (job = tree_each(jobs, job)); i++) {
        size_t row = i / sheet->columns;
        struct panel panel = {.x = (double)(i % sheet->columns) * sheet->panel_width + LEFT,
                              .y = (double)row * sheet->panel_height + TOP,
                              .width = sheet->panel_width - LEFT - RIGHT,
                              .height = sheet->area_height,
                              .regions = sheet->regions,
                              .time = time_scale(number_of(job, "scale_s")),
                              .power = power_scale(number_of(job, "scale_w"))};

        put_panel(cr, &panel, job);
    }
}

static cairo_status_t draw(const struct tree_node *jobs, const char *form)
{
    bool png = strcmp(form, "png") == 0;
    struct sheet sheet = sheet_of(jobs);
    double width = sheet.panel_width * (double)sheet.columns;
    double height = sheet.panel_height * (double)sheet.rows;
    cairo_surface_t *surface =
        png ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * PNG_SCALE),
                                         (int)(height * PNG_SCALE))
            : (strcmp(form, "pdf") == 0
                   ? cairo_pdf_surface_create_for_stream
                   : cairo_svg_surface_create_for_stream)(write_bytes, stdout, width, height);
    cairo_t *cr = cairo_create(surface);
    cairo_status_t status;

    if (png) {
        cairo_scale(cr, PNG_SCALE, PNG_SCALE);
    }
    paint(cr, jobs, &sheet);
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

int main(int argc, char **argv)
{
    struct tree_problem problem = {.what = "it has no jobs"};
    const struct tree_node *jobs = NULL;
    struct tree model = {0};
    cairo_status_t status;
    char *text = NULL;
    size_t room = 0;
    ssize_t size;

    if (argc != 2 || (strcmp(argv[1], "svg") != 0 && strcmp(argv[1], "png") != 0 &&
                      strcmp(argv[1], "pdf") != 0)) {
        fputs("usage: apapi-plot svg|png|pdf <MODEL >PICTURE; 'apapi plot' runs it\n", stderr);
        return 2;
    }
    size = getdelim(&text, &room, '\0', stdin);
    if (size > 0 && tree_parse(&model, text, (size_t)size, &problem) == 0) {
        jobs = tree_get(model.nodes, "jobs");
    }
    free(text);
    if (elements_of(jobs) == 0) {
        fprintf(stderr, "apapi-plot: no model: %s\n", problem.what);
        tree_free(&model);
        return EXIT_FAILURE;
    }
    status = draw(jobs, argv[1]);
    tree_free(&model);
    if (status != CAIRO_STATUS_SUCCESS || fflush(stdout)) {
        fprintf(stderr, "apapi-plot: %s\n", cairo_status_to_string(status));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
