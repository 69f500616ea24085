/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi plot: power over time as a picture or a page, see apapi-plot(1). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/records/input.h"
#include "render/regions.h"
#include "sum/members.h"

#define REGIONS_NAMED 6
#define CROSSINGS_DRAWN 256

#define PLOT_COLUMNS 240
#define PLOT_SERIES_MAX 8
#define PLOT_COLOURS 8 /* colour 0 is for totals */

/* One line of a picture. */
struct plot_series {
    char name[APAPI_TEXT_SIZE];
    unsigned colour;
    double power_w[PLOT_COLUMNS]; /* NaN: at that time, the power of a running node is not known */
};

struct plot {
    struct query query;
    const char *output;
    int page;    /* form: 1: a page; 0: a picture; -1: depends on the file's name */
    int by_node; /* 1: a line for each node; 0: for each domain */
    struct show show;
    struct plot_series series[PLOT_SERIES_MAX];
    size_t series_count;
    struct apapi_regions regions;
    double length_s, greatest_w; /* greatest values of the axes */
};

/* Text of plot_page.html, which the build makes into a string. */
extern const char plot_page_text[];

/* @return a time on the job's axis: seconds since its start. */
static double plot_time_s(const struct plot *plot, int64_t unix_ns)
{
    return (double)(unix_ns - plot->show.total.start_unix_ns) / NS_PER_S;
}

/* @return whether the picture has a mark where the step begins. */
static bool plot_marks(const struct show_part *step)
{
    return !step_is(step->name, "batch") && !step_is(step->name, "extern");
}

/* @return the part of the job's energy that a region used, up to 1; 0: not known. */
static double plot_share(const struct plot *plot, const struct apapi_region_result *region)
{
    double known_j = 0, energy_j = apapi_region_energy_j(region);

    for (size_t i = 0; i < plot->regions.count; i++) {
        double one_j = apapi_region_energy_j(&plot->regions.list[i]);

        known_j += isnan(one_j) ? 0 : one_j;
    }
    return energy_j > 0 ? energy_j / fmax(known_j, plot->show.total.energy_j) : 0;
}

/* --- lines ---------------------------------------------------------------------------------- */

static struct plot_series *next_series(struct plot *plot, const char *name, unsigned colour)
{
    struct plot_series *series = &plot->series[plot->series_count];

    *series = (struct plot_series){.colour = colour};
    snprintf(series->name, sizeof series->name, "%s", name);
    return series;
}

/* Add the line that next_series() has begun, if any of its values is known. */
static void keep_series(struct plot *plot)
{
    bool known = false;

    for (int i = 0; i < PLOT_COLUMNS; i++) {
        known = known || !isnan(plot->series[plot->series_count].power_w[i]);
    }
    plot->series_count += known;
}

static int add_series(struct plot *plot, const char *name, unsigned colour, const char *node,
                      int domain)
{
    struct plot_series *series = next_series(plot, name, colour);

    if (show_power(&plot->show, node, domain, series->power_w, PLOT_COLUMNS)) {
        return -1;
    }
    keep_series(plot);
    return 0;
}

static int work_out_domains(struct plot *plot)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (add_series(plot, apapi_domain_name(d), (unsigned)d, NULL, d)) {
            return -1;
        }
    }
    return plot->series_count > 1 ? add_series(plot, "total", 0, NULL, APAPI_DOMAIN_NONE) : 0;
}

/* Add the mean of the nodes without a line of their own: in each column, of the known powers. */
static int work_out_others(struct plot *plot, const struct show_part *nodes, size_t count)
{
    double power_w[PLOT_COLUMNS];
    unsigned known[PLOT_COLUMNS] = {0};
    struct plot_series *series;
    char name[40];

    snprintf(name, sizeof name, "mean of %zu others", count);
    series = next_series(plot, name, 0);
    for (size_t n = 0; n < count; n++) {
        if (show_power(&plot->show, nodes[n].name, APAPI_DOMAIN_NONE, power_w, PLOT_COLUMNS)) {
            return -1;
        }
        for (int i = 0; i < PLOT_COLUMNS; i++) {
            known[i] += !isnan(power_w[i]);
            series->power_w[i] += isnan(power_w[i]) ? 0 : power_w[i];
        }
    }
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        series->power_w[i] = known[i] ? series->power_w[i] / known[i] : NAN;
    }
    keep_series(plot);
    return 0;
}

static int work_out_nodes(struct plot *plot)
{
    struct show_part *nodes = show_order_nodes(&plot->show);
    size_t count = nodes ? plot->show.node_count : 0;
    size_t own = count > PLOT_SERIES_MAX - 1 ? PLOT_SERIES_MAX - 1 : count;
    int result = nodes ? 0 : -1;

    for (size_t n = 0; n < own && result == 0; n++) {
        result = add_series(plot, nodes[n].name, (unsigned)n + 1, nodes[n].name, APAPI_DOMAIN_NONE);
    }
    if (count > own && result == 0) {
        result = work_out_others(plot, nodes + own, count - own);
    }
    free(nodes);
    return result;
}

static int compare_starts(const void *left, const void *right)
{
    const struct show_part *a = left, *b = right;
    int order = COMPARE(a->used.start_unix_ns, b->used.start_unix_ns);

    return order ? order : strverscmp(a->name, b->name);
}

/* --- a picture ------------------------------------------------------------------------------ */

#define WIDTH 900
#define HEIGHT 360
#define LEFT 64.0 /* edges of the area inside the axes */
#define RIGHT 884.0
#define TOP 52.0
#define BOTTOM 310.0
#define TICKS 5
#define LEGEND_ROW 18
#define LEGEND_COLUMN 140
#define LEGENDS_IN_ROW 5
#define REGIONS_ROOM 34 /* height of the bar of regions below the time axis */
#define REGIONS_HEIGHT 16
#define REGIONS_LEAST 24 /* least width of a region that has a name */
#define MARK_ROOM 4      /* least distance of two marks, or of their names */
#define LETTER 6         /* width of a letter */

/* Colours of Okabe and Ito, which colour-blind people can distinguish; without yellow, which is too
 * pale on paper. Dashes distinguish lines printed in black and white. */
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

/* What is drawn, and the scales of the axes. */
struct panel {
    const struct plot *plot;
    double greatest_w, step_w, unit_w, greatest_s, step_s, unit_s;
};

struct text {
    const char *class;
    double x, y, room; /* a text longer than `room` is cut */
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
    return LEFT + (RIGHT - LEFT) * time_s / panel->greatest_s;
}

static double y_of(const struct panel *panel, double power_w)
{
    return BOTTOM - (BOTTOM - TOP) * power_w / panel->greatest_w;
}

static void svg_power_axis(FILE *out, const struct panel *panel)
{
    svg_text(out, &(struct text){"", 10, TOP - 10, LEFT + 60},
             panel->unit_w > 1e3   ? "power [MW]"
             : panel->unit_w > 1.0 ? "power [kW]"
                                   : "power [W]");
    for (int i = 0; i * panel->step_w <= panel->greatest_w * 1.0001; i++) {
        double y = y_of(panel, i * panel->step_w);

        fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", i ? "grid" : "axis", LEFT, y,
                RIGHT);
        svg_text(out, &(struct text){"end", LEFT - 6, y + 4, LEFT},
                 units_part(true, "%g", i * panel->step_w / panel->unit_w).text);
    }
}

static void svg_time_axis(FILE *out, const struct panel *panel)
{
    for (int i = 0; i * panel->step_s <= panel->greatest_s * 1.0001; i++) {
        double x = x_of(panel, i * panel->step_s);

        fprintf(out, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>\n", x, BOTTOM);
        svg_text(out, &(struct text){"middle", x, BOTTOM + 17, LEFT},
                 units_part(true, "%g", i * panel->step_s / panel->unit_s).text);
    }
    svg_text(out, &(struct text){"middle", (LEFT + RIGHT) / 2, BOTTOM + 34, RIGHT - LEFT},
             panel->unit_s > 3600 ? "time since the start [d]"
             : panel->unit_s > 60 ? "time since the start [h]"
             : panel->unit_s > 1  ? "time since the start [min]"
                                  : "time since the start [s]");
}

/* Draw each mean as a horizontal line; leave a gap where the power is not known. */
static void svg_series(FILE *out, const struct panel *panel, const struct plot_series *series)
{
    double column_s = panel->plot->length_s / PLOT_COLUMNS;
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

/* Write a name, if it does not overlap the last one. @return where the next one may begin */
static double svg_name(FILE *out, const struct text *place, const char *name)
{
    double end = place->x + LETTER * (double)text_columns(name);

    if (place->x < place->room || end > RIGHT) {
        return place->room;
    }
    svg_text(out, &(struct text){place->class, place->x, place->y, RIGHT - LEFT}, name);
    return end + MARK_ROOM;
}

static void svg_marks(FILE *out, const struct panel *panel)
{
    const struct show *show = &panel->plot->show;
    double last = LEFT - MARK_ROOM, named = LEFT;

    for (size_t i = 0; i < show->step_count; i++) {
        double x = x_of(panel, plot_time_s(panel->plot, show->steps[i].used.start_unix_ns));

        if (plot_marks(&show->steps[i]) && x >= last + MARK_ROOM) {
            fprintf(out, "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/>\n", x, TOP, BOTTOM);
            named = svg_name(out, &(struct text){"step", x, TOP - 2, named}, show->steps[i].name);
            last = x;
        }
    }
    named = LEFT;
    for (size_t i = 0; i < show->entries.count; i++) {
        const struct apapi_record *record = show_record_at(show, i);

        for (size_t k = 0; k < record->crossing_count; k++) {
            double x = x_of(panel, plot_time_s(panel->plot, record->crossing[k].unix_ns));

            fprintf(out, "<path class=\"crossing\" d=\"M%.1f %.1fl-4 -8h8z\"/>\n", x, BOTTOM - 1);
            named = svg_name(out, &(struct text){"step", x + 6, BOTTOM - 3, named},
                             record->crossing[k].threshold);
        }
    }
}

static void svg_regions(FILE *out, const struct panel *panel)
{
    const struct apapi_regions *regions = &panel->plot->regions;
    double x = LEFT, y = HEIGHT - 6;

    if (regions->count > 0) {
        svg_text(out, &(struct text){"end", x - 6, y + 12, LEFT}, "energy");
    }
    for (size_t i = 0, drawn = 0; i < regions->count; i++) {
        double share = plot_share(panel->plot, &regions->list[i]), width = (RIGHT - LEFT) * share;
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
    for (size_t i = 0; i < panel->plot->series_count; i++) {
        const struct plot_series *series = &panel->plot->series[i];
        size_t row = i / LEGENDS_IN_ROW;
        double x = LEFT + (double)(i % LEGENDS_IN_ROW) * LEGEND_COLUMN;
        double y = HEIGHT + room + (double)row * LEGEND_ROW;

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
    const char *name = show_record_at(&panel->plot->show, 0)->id.job_name;
    char text[2 * APAPI_TEXT_SIZE], start[TIMESTAMP_SIZE];

    snprintf(text, sizeof text, "job %.31s%s%s", *panel->plot->show.id ? panel->plot->show.id : "-",
             *name ? "  " : "", name);
    svg_text(out, &(struct text){"title", 10, TOP - 30, RIGHT - LEFT - 120}, text);
    timestamp_format(start, sizeof start, panel->plot->show.total.start_unix_ns);
    snprintf(text, sizeof text, "%.10s %.8s UTC", start, start + strlen("2026-11-21T"));
    svg_text(out, &(struct text){"end", RIGHT, TOP - 30, 160}, text);
}

static void svg_scales(struct panel *panel)
{
    double power_w = panel->plot->greatest_w > 0 ? panel->plot->greatest_w : 1;
    double time_s = panel->plot->length_s > 0 ? panel->plot->length_s : 1;

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

static void plot_svg(const struct plot *plot, FILE *out)
{
    double legend = ceil((double)plot->series_count / LEGENDS_IN_ROW) * LEGEND_ROW;
    double regions = plot->regions.count > 0 ? REGIONS_ROOM : 0;
    double height = HEIGHT + regions + legend;
    struct panel panel = {.plot = plot};

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height, style);
    svg_scales(&panel);
    svg_title(out, &panel);
    svg_power_axis(out, &panel);
    svg_time_axis(out, &panel);
    for (size_t k = 0; k < plot->series_count; k++) {
        svg_series(out, &panel, &plot->series[k]);
    }
    svg_marks(out, &panel);
    svg_regions(out, &panel);
    svg_legend(out, &panel, regions);
    fputs("</svg>\n", out);
}

/* --- the model ------------------------------------------------------------------------------ */

static void put_clean(struct json_writer *json, const char *key, const char *text)
{
    char clean[APAPI_TEXT_SIZE];

    text_clean(clean, sizeof clean, text);
    if (*clean) {
        json_put_text(json, key, clean);
    }
}

static void put_remarks(struct json_writer *json, const char *key, struct remarks *remarks)
{
    char clean[1024];

    json_begin_array(json, key);
    for (size_t i = 0; i < remarks->texts.count; i++) {
        text_clean(clean, sizeof clean, remarks->texts.names[i]);
        json_put_text(json, NULL, clean);
    }
    json_end(json);
    namelist_free(&remarks->texts);
}

static void put_steps(struct json_writer *json, const struct plot *plot)
{
    json_begin_array(json, "steps");
    for (size_t i = 0; i < plot->show.step_count; i++) {
        const struct show_part *step = &plot->show.steps[i];

        if (plot_marks(step)) {
            json_begin_object(json, NULL);
            put_clean(json, "step", step->name);
            json_put_number(json, "start_s", plot_time_s(plot, step->used.start_unix_ns),
                            JSON_EXACT);
            json_end(json);
        }
    }
    json_end(json);
}

/* Write how the energy divides into regions, as far as known. Without any, write no key. */
static void put_regions(struct json_writer *json, const struct plot *plot)
{
    json_begin_array(json, "regions");
    for (size_t i = 0; i < plot->regions.count; i++) {
        const struct apapi_region_result *region = &plot->regions.list[i];

        if (plot_share(plot, region) > 0) {
            json_begin_object(json, NULL);
            put_clean(json, "name", table_region_label(region));
            json_put_number(json, "energy_j", apapi_region_energy_j(region), JSON_ROUGH);
            json_put_number(json, "share", plot_share(plot, region), JSON_ROUGH);
            json_end(json);
        }
    }
    json_end_or_drop(json);
}

/* Write each crossing in the records, as a mark in time. Without any, write no key. */
static void put_crossings(struct json_writer *json, const struct plot *plot)
{
    const struct show *show = &plot->show;
    size_t count = 0;

    json_begin_array(json, "crossings");
    for (size_t i = 0; i < show->entries.count; i++) {
        const struct apapi_record *record = show_record_at(show, i);

        for (size_t k = 0; k < record->crossing_count && count < CROSSINGS_DRAWN; k++, count++) {
            const struct apapi_crossing *crossing = &record->crossing[k];

            json_begin_object(json, NULL);
            put_clean(json, "threshold", crossing->threshold);
            put_clean(json, "node", record->id.node);
            put_clean(json, "step", record->id.step);
            json_put_number(json, "at_s", plot_time_s(plot, crossing->unix_ns), JSON_EXACT);
            json_end(json);
        }
    }
    json_end_or_drop(json);
}

/* --- all ------------------------------------------------------------------------------------ */

/* If memory runs out, nothing is written. */
static void put_job(struct json_writer *json, const struct plot *plot)
{
    const struct show *show = &plot->show;
    const struct apapi_identity *id = &show_record_at(show, 0)->id;
    struct remarks odd = {.most = 0}, trust = {.most = 0};
    char *table = NULL;

    if (show_table(show, &table)) {
        return;
    }
    json_begin_object(json, NULL);
    show_find_unusual(show, &odd);
    put_remarks(json, "odd", &odd);
    show_say_trust(show, &trust);
    put_remarks(json, "trust", &trust);
    put_clean(json, "job", plot->show.id);
    put_clean(json, "job_name", id->job_name);
    put_clean(json, "cluster", id->cluster);
    put_clean(json, "user", id->user);
    put_clean(json, "account", id->account);
    put_clean(json, "partition", id->partition);
    json_put_moment(json, "start", show->total.start_unix_ns);
    json_put_moment(json, "end", show->total.end_unix_ns);
    json_put_number(json, "length_s", plot->length_s, JSON_EXACT);
    json_begin_array(json, "series");
    for (size_t i = 0; i < plot->series_count; i++) {
        json_begin_object(json, NULL);
        json_put_text(json, "name", plot->series[i].name);
        json_put_count(json, "colour", plot->series[i].colour);
        json_begin_array(json, "power_w");
        for (int k = 0; k < PLOT_COLUMNS; k++) {
            json_put_number(json, NULL, round(plot->series[i].power_w[k] * 1000) / 1000,
                            JSON_EXACT);
        }
        json_end(json);
        json_end(json);
    }
    json_end(json);
    put_steps(json, plot);
    put_regions(json, plot);
    put_crossings(json, plot);
    json_put_text(json, "table", table);
    json_put_number(json, "greatest_w", plot->greatest_w, JSON_EXACT);
    json_end(json);
    free(table);
}

#define COMMAND "plot"

static const struct option_row rows[] = {
    {'o', "output", "=FILE",
     "the output: a picture (.svg), or a page with zoom (.html);\n"
     "- is standard output",
     TO_TEXT(struct plot, output)},
    {'f', "format", "=FORM", "svg or html, whatever the name; default for -: svg",
     TO_CHOICE(struct plot, page, "svg and html")},
    {0, "by", "=WHAT", "a line for each domain (default) or node",
     TO_CHOICE(struct plot, by_node, "domain and node")},
    {'j', "jobs", "=JOB[.STEP]", "the job; then all arguments are FILEs",
     TO_WORDS(struct plot, query.jobs)},
    {OPTION_ROWS_OF(struct plot, query, query_filter_rows)},
    {OPTION_ROWS_OF(struct plot, query, query_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi plot [OPTION]... JOB[.STEP] -o FILE.{svg,html} [FILE]...\n"
            "Draw the power of a job over time, from the accounting folder, from FILEs of records\n"
            "(-: a pipe) or --db. JOB is 17, 17_3 of an array, 17+1 of a heterogeneous job, or 17\n"
            "for all of its components.\n",
    .foot = "Exit status: 0 done, 1 no record found, or failure, 2 wrong usage.\n",
    .column = 23,
    .rows = rows};

/* --- a page or a picture ---------------------------------------------------------------------- */

#define MARK "@MODEL@"

/* Write the page with the model in it. In a <script>, only "</script" and "<!--" are special, so
 * every '<' is escaped.
 */
static int put_page(const struct plot *plot, FILE *out)
{
    const char *mark = strstr(plot_page_text, MARK);
    struct json_writer json = {0};
    char *model;

    put_job(&json, plot);
    model = json_take(&json); /* NULL: out of memory */
    fwrite(plot_page_text, 1, (size_t)(mark - plot_page_text), out);
    for (const char *at = model; at && *at; at++) {
        fputs(*at == '<' ? "\\u003c" : (char[]){*at, '\0'}, out);
    }
    fputs(mark + strlen(MARK), out);
    free(model);
    return model ? 0 : -1;
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static int draw(struct plot *plot)
{
    struct apapi_error err = {.text = "no memory"};
    mode_t mask = umask(0);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int failed = !out;

    umask(mask);
    if (out && plot->page) {
        failed = put_page(plot, out);
    } else if (out) {
        plot_svg(plot, out);
    }
    failed = !text_of_stream(out, &text, failed);
    if (!failed && strcmp(plot->output, "-") == 0) {
        fwrite(text, 1, size, stdout);
    } else if (!failed) {
        failed = replace_file(plot->output, 0666 & ~mask, text, size, &err);
    }
    free(text);
    return failed ? command_fail(COMMAND, "%s", err.text) : command_finish(COMMAND, EXIT_SUCCESS);
}

/* Work out the lines, and the greatest values of the axes. @return 0; -1: out of memory */
static int work_out(struct plot *plot)
{
    struct show *show = &plot->show;

    if (show_regions(show, NULL, REGIONS_NAMED, &plot->regions) ||
        (plot->by_node ? work_out_nodes : work_out_domains)(plot)) {
        return -1;
    }
    qsort(show->steps, show->step_count, sizeof *show->steps, compare_starts);
    plot->length_s = plot_time_s(plot, show->total.end_unix_ns);
    for (size_t i = 0; i < plot->series_count * PLOT_COLUMNS; i++) {
        plot->greatest_w =
            fmax(plot->greatest_w, plot->series[i / PLOT_COLUMNS].power_w[i % PLOT_COLUMNS]);
    }
    return 0;
}

static int print(struct plot *plot)
{
    int status = show_choose(&plot->show, &plot->query);

    if (status) {
        return status;
    }
    if (work_out(plot)) {
        return command_fail(COMMAND, "no memory");
    }
    return plot->series_count == 0
               ? command_fail(COMMAND, "the records of job %.60s have no power over time",
                              plot->show.id)
               : draw(plot);
}

/* --- the command line ------------------------------------------------------------------------- */

static int check(struct plot *plot)
{
    const char *dot = plot->output ? strrchr(plot->output, '.') : NULL;

    if (!plot->query.jobs) {
        return command_refuse(COMMAND, "which JOB? See 'apapi help plot'");
    }
    if (!plot->output) {
        return command_refuse(COMMAND, "which file? -o FILE.svg or FILE.html; or -o -");
    }
    if (plot->page < 0) {
        plot->page = dot && strcasecmp(dot, ".html") == 0;
        if (!plot->page && strcmp(plot->output, "-") != 0 &&
            (!dot || strcasecmp(dot, ".svg") != 0)) {
            return command_refuse(
                COMMAND, "%.200s: its name must end with .svg or .html, or -f name the format",
                plot->output);
        }
    }
    return EXIT_SUCCESS;
}

int plot_command(int argc, char **argv)
{
    static struct plot plot = {.query = {.command = COMMAND}, .page = -1};
    struct query *query = &plot.query;
    struct show *show = &plot.show;
    int status = option_table_read(&table, argc, argv, &plot);

    if (status >= 0) {
        return status;
    }
    query_words(query, argv + optind, (size_t)(argc - optind), true);
    status = check(&plot);
    if (status) {
        return status;
    }
    status = records_begin(query);
    show->job = status ? 0 : query->job_list.jobs[0];
    status = status ? status : records_read(query, show_add, show);
    status = records_end(query, status ? status : print(&plot));
    apapi_regions_clear(&plot.regions);
    show_free(show);
    return status;
}
