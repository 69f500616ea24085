/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/plot/plot_svg.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "render/regions.h"

#define WIDTH 900
#define HEIGHT 360
#define LEFT 64
#define RIGHT 16
#define TOP 52
#define BOTTOM 50
#define TICKS 5
#define LEGEND_ROW 18
#define LEGEND_COLUMN 140
#define REGIONS_ROOM 34 /* of the bar of regions, below the time axis */
#define REGIONS_HEIGHT 16
#define REGIONS_LEAST 24 /* width of one with a name */
#define MARK_ROOM 4      /* between two marks or their names */
#define LETTER 6         /* width */

double plot_time_s(const struct plot_job *job, int64_t unix_ns)
{
    return (double)(unix_ns - job->show.total.start_unix_ns) / NS_PER_S;
}

bool plot_marks(const struct show_step *step)
{
    return strcmp(step->step, "batch") != 0 && strcmp(step->step, "extern") != 0;
}

double plot_share(const struct plot_job *job, const struct apapi_region_result *region)
{
    double known_j = 0, energy_j = apapi_region_energy_j(region);

    for (size_t i = 0; i < job->regions.count; i++) {
        double one_j = apapi_region_energy_j(&job->regions.list[i]);

        known_j += isnan(one_j) ? 0 : one_j;
    }
    return energy_j > 0 ? energy_j / fmax(known_j, job->show.total.energy_j) : 0;
}

/* Colours of Okabe and Ito, distinct for colour-blind people, without yellow, too pale on paper;
 * dashes distinguish lines in black-and-white print. */
static const char style[] =
    "<style>text{font:11px sans-serif;fill:#262626}.title{font:bold 14px sans-serif}"
    ".step{font-size:9px}.end{text-anchor:end}.middle{text-anchor:middle}path{fill:none}"
    ".axis{stroke:#262626}.grid{stroke:#dedede}.mark{stroke:#999;stroke-dasharray:1 3}"
    ".crossing{fill:#d65e00}.line{stroke-width:1.8}</style>\n";
static const struct {
    const char *colour, *dash;
} lines[PLOT_COLOURS] = {{"#333333", "none"}, {"#0073b3", "none"},    {"#e69e00", "7 3"},
                         {"#009e73", "2 2"},  {"#cc78a6", "9 3 2 3"}, {"#d65e00", "4 2"},
                         {"#57b5e8", "12 4"}, {"#8c7326", "1 3"}};

/* Where a job is drawn. */
struct panel {
    const struct plot_job *job;
    double x, y, width, height, right, bottom; /* of the plot area */
    double greatest_w, step_w, unit_w, greatest_s, step_s, unit_s;
};

struct text {
    const char *class;
    double x, y, room; /* a longer one is cut */
};

static void svg_text(FILE *out, const struct text *place, const char *text)
{
    char cut[2 * APAPI_TEXT_SIZE];

    text_shorten(cut, sizeof cut, text, (size_t)fmax(4, place->room / LETTER), 0);
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", place->class, place->x, place->y);
    for (const char *at = cut; *at; at++) {
        fprintf(out, strchr("<>&", *at) ? "&#%d;" : "%c", *at);
    }
    fputs("</text>\n", out);
}

static double nice_step(double greatest)
{
    double raw = greatest / TICKS, base = pow(10, floor(log10(raw)));
    double share = raw / base;

    return base * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static double x_of(const struct panel *panel, double time_s)
{
    return panel->x + panel->width * time_s / panel->greatest_s;
}

static double y_of(const struct panel *panel, double power_w)
{
    return panel->bottom - panel->height * power_w / panel->greatest_w;
}

static void svg_power_axis(FILE *out, const struct panel *panel)
{
    char label[UNITS_SIZE];

    snprintf(label, sizeof label, "power [%sW]",
             panel->unit_w > 1e3   ? "M"
             : panel->unit_w > 1.0 ? "k"
                                   : "");
    svg_text(out, &(struct text){"", panel->x - LEFT + 10, panel->y - 10, LEFT + 60}, label);
    for (int i = 0; i * panel->step_w <= panel->greatest_w * 1.0001; i++) {
        double y = y_of(panel, i * panel->step_w);

        fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", i ? "grid" : "axis", panel->x,
                y, panel->right);
        snprintf(label, sizeof label, "%g", i * panel->step_w / panel->unit_w);
        svg_text(out, &(struct text){"end", panel->x - 6, y + 4, LEFT}, label);
    }
}

static void svg_time_axis(FILE *out, const struct panel *panel)
{
    char label[64];

    for (int i = 0; i * panel->step_s <= panel->greatest_s * 1.0001; i++) {
        double x = x_of(panel, i * panel->step_s);

        fprintf(out, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>\n", x, panel->bottom);
        snprintf(label, sizeof label, "%g", i * panel->step_s / panel->unit_s);
        svg_text(out, &(struct text){"middle", x, panel->bottom + 17, LEFT}, label);
    }
    snprintf(label, sizeof label, "time since the start [%s]",
             panel->unit_s > 3600 ? "d"
             : panel->unit_s > 60 ? "h"
             : panel->unit_s > 1  ? "min"
                                  : "s");
    svg_text(
        out,
        &(struct text){"middle", panel->x + panel->width / 2, panel->bottom + 34, panel->width},
        label);
}

/* A step for each mean; nothing if not known. */
static void svg_series(FILE *out, const struct panel *panel, const struct plot_series *series)
{
    double column_s = panel->job->length_s / PLOT_COLUMNS;
    bool open = false;

    fputs("<path class=\"line\" d=\"", out);
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        double power_w = series->power_w[i];

        if (!isnan(power_w)) {
            fprintf(out, "%c%.2f %.2fH%.2f", open ? 'L' : 'M', x_of(panel, i * column_s),
                    y_of(panel, power_w), x_of(panel, (i + 1) * column_s));
        }
        open = !isnan(power_w);
    }
    fprintf(out, "\" stroke=\"%s\" stroke-dasharray=\"%s\"/>\n",
            lines[series->colour % PLOT_COLOURS].colour, lines[series->colour % PLOT_COLOURS].dash);
}

/* A name that has room behind the last one. @return where it ends */
static double svg_name(FILE *out, const struct panel *panel, const struct text *place,
                       const char *name)
{
    double end = place->x + LETTER * (double)text_columns(name);

    if (place->x < place->room || end > panel->right) {
        return place->room;
    }
    svg_text(out, &(struct text){place->class, place->x, place->y, panel->width}, name);
    return end + MARK_ROOM;
}

static void svg_marks(FILE *out, const struct panel *panel)
{
    const struct show *show = &panel->job->show;
    double last = panel->x - MARK_ROOM, named = panel->x;

    for (size_t i = 0; i < show->step_count; i++) {
        double x = x_of(panel, plot_time_s(panel->job, show->steps[i].used.start_unix_ns));

        if (plot_marks(&show->steps[i]) && x >= last + MARK_ROOM) {
            fprintf(out, "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/>\n", x, panel->y,
                    panel->bottom);
            named = svg_name(out, panel, &(struct text){"step", x, panel->y - 2, named},
                             show->steps[i].step);
            last = x;
        }
    }
    named = panel->x;
    for (size_t i = 0; i < show->entries.count; i++) {
        const struct apapi_record *record = show_record_at(show, i);

        for (size_t k = 0; k < record->crossing_count; k++) {
            double x = x_of(panel, plot_time_s(panel->job, record->crossing[k].unix_ns));

            fprintf(out, "<path class=\"crossing\" d=\"M%.1f %.1fl-4 -8h8z\"/>\n", x,
                    panel->bottom - 1);
            named = svg_name(out, panel, &(struct text){"step", x + 6, panel->bottom - 3, named},
                             record->crossing[k].threshold);
        }
    }
}

static void svg_regions(FILE *out, const struct panel *panel)
{
    const struct apapi_regions *regions = &panel->job->regions;
    double x = panel->x, y = panel->bottom + BOTTOM - 6;

    if (regions->count > 0) {
        svg_text(out, &(struct text){"end", x - 6, y + 12, LEFT}, "energy");
    }
    for (size_t i = 0, drawn = 0; i < regions->count; i++) {
        double share = plot_share(panel->job, &regions->list[i]), width = panel->width * share;
        char text[APAPI_REGION_PATH_SIZE + 16];

        if (share > 0) {
            fprintf(out, "<path style=\"fill:%s;opacity:.5\" d=\"M%.1f %.1fh%.1fv%dh-%.1fz\"/>\n",
                    lines[1 + drawn++ % (PLOT_COLOURS - 1)].colour, x, y, width, REGIONS_HEIGHT,
                    width);
            snprintf(text, sizeof text, "%s %.0f %%", table_region_label(&regions->list[i]),
                     100 * share);
        }
        if (width > REGIONS_LEAST) {
            svg_text(out, &(struct text){"step", x + 4, y + 12, width - 6}, text);
        }
        x += width;
    }
}

static void svg_legend(FILE *out, const struct panel *panel, double room)
{
    size_t in_row = (size_t)fmax(1, floor(panel->width / LEGEND_COLUMN));

    for (size_t i = 0; i < panel->job->series_count; i++) {
        const struct plot_series *series = &panel->job->series[i];
        size_t row = i / in_row;
        double x = panel->x + (double)(i % in_row) * LEGEND_COLUMN;
        double y = panel->bottom + BOTTOM + room + (double)row * LEGEND_ROW;

        fprintf(
            out,
            "<path class=\"line\" d=\"M%.1f %.1fh26\" stroke=\"%s\" stroke-dasharray=\"%s\"/>\n", x,
            y, lines[series->colour % PLOT_COLOURS].colour,
            lines[series->colour % PLOT_COLOURS].dash);
        svg_text(out, &(struct text){"", x + 32, y + 4, LEGEND_COLUMN - 36}, series->name);
    }
}

static void svg_title(FILE *out, const struct panel *panel)
{
    const char *name = show_record_at(&panel->job->show, 0)->id.job_name;
    char text[2 * APAPI_TEXT_SIZE], start[TIMESTAMP_SIZE];

    snprintf(text, sizeof text, "job %s%s%s", *panel->job->id ? panel->job->id : "-",
             *name ? "  " : "", name);
    svg_text(out, &(struct text){"title", panel->x - LEFT + 10, panel->y - 30, panel->width - 120},
             text);
    timestamp_format(start, sizeof start, panel->job->show.total.start_unix_ns);
    snprintf(text, sizeof text, "%.10s %.8s UTC", start, start + strlen("2026-11-21T"));
    svg_text(out, &(struct text){"end", panel->right, panel->y - 30, 160}, text);
}

static void svg_scales(struct panel *panel)
{
    double power_w = panel->job->greatest_w > 0 ? panel->job->greatest_w : 1;
    double time_s = panel->job->length_s > 0 ? panel->job->length_s : 1;

    panel->unit_w = power_w >= 1e6 ? 1e6 : power_w >= 1e4 ? 1e3 : 1;
    panel->step_w = nice_step(power_w / panel->unit_w) * panel->unit_w;
    panel->greatest_w = ceil(power_w * 1.02 / panel->step_w) * panel->step_w;
    panel->unit_s = time_s >= 3 * 86400  ? 86400
                    : time_s >= 3 * 3600 ? 3600
                    : time_s >= 180      ? 60
                                         : 1;
    panel->greatest_s = time_s;
    panel->step_s = nice_step(time_s / panel->unit_s) * panel->unit_s;
}

void plot_svg(const struct plot_job *job, FILE *out)
{
    double in_row = floor((double)(WIDTH - LEFT - RIGHT) / LEGEND_COLUMN);
    double legend = ceil((double)job->series_count / in_row) * LEGEND_ROW;
    double regions = job->regions.count > 0 ? REGIONS_ROOM : 0;
    double height = HEIGHT + regions + legend;
    struct panel panel = {.job = job,
                          .x = LEFT,
                          .y = TOP,
                          .width = WIDTH - LEFT - RIGHT,
                          .height = HEIGHT - TOP - BOTTOM};

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height, style);
    panel.right = panel.x + panel.width;
    panel.bottom = panel.y + panel.height;
    svg_scales(&panel);
    svg_title(out, &panel);
    svg_power_axis(out, &panel);
    svg_time_axis(out, &panel);
    for (size_t k = 0; k < job->series_count; k++) {
        svg_series(out, &panel, &job->series[k]);
    }
    svg_marks(out, &panel);
    svg_regions(out, &panel);
    svg_legend(out, &panel, regions);
    fputs("</svg>\n", out);
}
