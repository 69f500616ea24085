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
#include "cli/plot/plot_svg.h"
#include "cli/records/input.h"
#include "render/regions.h"
#include "sum/members.h"

#define REGIONS_NAMED 6
#define CROSSINGS_DRAWN 256

/* plot_page.html as a string, made by the build. */
extern const char plot_page_text[];

/* --- lines ---------------------------------------------------------------------------------- */

static struct plot_series *next_series(struct plot_job *job, const char *name, unsigned colour)
{
    struct plot_series *series = &job->series[job->series_count];

    *series = (struct plot_series){.colour = colour};
    snprintf(series->name, sizeof series->name, "%s", name);
    return series;
}

/* Add the line if anything is known of it. */
static void keep_series(struct plot_job *job)
{
    bool known = false;

    for (int i = 0; i < PLOT_COLUMNS; i++) {
        known = known || !isnan(job->series[job->series_count].power_w[i]);
    }
    job->series_count += known;
}

static int add_series(struct plot_job *job, const char *name, unsigned colour, const char *node,
                      int domain)
{
    struct plot_series *series = next_series(job, name, colour);

    if (show_power(&job->show, node, domain, series->power_w, PLOT_COLUMNS)) {
        return -1;
    }
    keep_series(job);
    return 0;
}

static int work_out_domains(struct plot_job *job)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (add_series(job, apapi_domain_name(d), (unsigned)d, NULL, d)) {
            return -1;
        }
    }
    return job->series_count > 1 ? add_series(job, "total", 0, NULL, APAPI_DOMAIN_NONE) : 0;
}

/* The mean over the nodes without a line of their own, each time over those that are known. */
static int work_out_others(struct plot_job *job, const struct show_node *nodes, size_t count)
{
    double power_w[PLOT_COLUMNS];
    unsigned known[PLOT_COLUMNS] = {0};
    struct plot_series *series;
    char name[40];

    snprintf(name, sizeof name, "mean of %zu others", count);
    series = next_series(job, name, 0);
    for (size_t n = 0; n < count; n++) {
        if (show_power(&job->show, nodes[n].name, APAPI_DOMAIN_NONE, power_w, PLOT_COLUMNS)) {
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
    keep_series(job);
    return 0;
}

static int work_out_nodes(struct plot_job *job)
{
    struct show_node *nodes = show_order_nodes(&job->show);
    size_t count = nodes ? job->show.node_count : 0;
    size_t own = count > PLOT_SERIES_MAX - 1 ? PLOT_SERIES_MAX - 1 : count;
    int result = nodes ? 0 : -1;

    for (size_t n = 0; n < own && result == 0; n++) {
        result = add_series(job, nodes[n].name, (unsigned)n + 1, nodes[n].name, APAPI_DOMAIN_NONE);
    }
    if (count > own && result == 0) {
        result = work_out_others(job, nodes + own, count - own);
    }
    free(nodes);
    return result;
}

static int compare_starts(const void *left, const void *right)
{
    const struct show_step *a = left, *b = right;
    int order = COMPARE(a->used.start_unix_ns, b->used.start_unix_ns);

    return order ? order : strverscmp(a->step, b->step);
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

static void put_steps(struct json_writer *json, const struct plot_job *job)
{
    json_begin_array(json, "steps");
    for (size_t i = 0; i < job->show.step_count; i++) {
        const struct show_step *step = &job->show.steps[i];

        if (plot_marks(step)) {
            json_begin_object(json, NULL);
            put_clean(json, "step", step->step);
            json_put_number(json, "start_s", plot_time_s(job, step->used.start_unix_ns),
                            JSON_EXACT);
            json_end(json);
        }
    }
    json_end(json);
}

/* How the energy divides into regions, as far as that is known. No key without any. */
static void put_regions(struct json_writer *json, const struct plot_job *job)
{
    json_begin_array(json, "regions");
    for (size_t i = 0; i < job->regions.count; i++) {
        const struct apapi_region_result *region = &job->regions.list[i];

        if (plot_share(job, region) > 0) {
            json_begin_object(json, NULL);
            put_clean(json, "name", table_region_label(region));
            json_put_number(json, "energy_j", apapi_region_energy_j(region), JSON_ROUGH);
            json_put_number(json, "share", plot_share(job, region), JSON_ROUGH);
            json_end(json);
        }
    }
    json_end_or_drop(json);
}

/* Marks in time: each crossing that the records have. No key without any. */
static void put_crossings(struct json_writer *json, const struct plot_job *job)
{
    const struct show *show = &job->show;
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
            json_put_number(json, "at_s", plot_time_s(job, crossing->unix_ns), JSON_EXACT);
            json_end(json);
        }
    }
    json_end_or_drop(json);
}

/* --- all ------------------------------------------------------------------------------------ */

static int put_job(struct json_writer *json, const struct plot_job *job)
{
    const struct show *show = &job->show;
    const struct apapi_identity *id = &show_record_at(show, 0)->id;
    struct remarks odd = {.most = 0}, trust = {.most = 0};
    char *table = NULL;

    if (show_table(show, job->id, &table)) {
        return -1;
    }
    json_begin_object(json, NULL);
    show_find_unusual(show, &odd);
    put_remarks(json, "odd", &odd);
    show_say_trust(show, &trust);
    put_remarks(json, "trust", &trust);
    put_clean(json, "job", job->id);
    put_clean(json, "job_name", id->job_name);
    put_clean(json, "cluster", id->cluster);
    put_clean(json, "user", id->user);
    put_clean(json, "account", id->account);
    put_clean(json, "partition", id->partition);
    json_put_moment(json, "start", show->total.start_unix_ns);
    json_put_moment(json, "end", show->total.end_unix_ns);
    json_put_number(json, "length_s", job->length_s, JSON_EXACT);
    json_begin_array(json, "series");
    for (size_t i = 0; i < job->series_count; i++) {
        json_begin_object(json, NULL);
        json_put_text(json, "name", job->series[i].name);
        json_put_count(json, "colour", job->series[i].colour);
        json_begin_array(json, "power_w");
        for (int k = 0; k < PLOT_COLUMNS; k++) {
            json_put_number(json, NULL, round(job->series[i].power_w[k] * 1000) / 1000, JSON_EXACT);
        }
        json_end(json);
        json_end(json);
    }
    json_end(json);
    put_steps(json, job);
    put_regions(json, job);
    put_crossings(json, job);
    json_put_text(json, "table", table);
    json_put_number(json, "greatest_w", job->greatest_w, JSON_EXACT);
    json_end(json);
    free(table);
    return 0;
}

/* @return all that the page shows, as JSON, for free(); NULL: out of memory. */
static char *plot_model(const struct plot_job *job)
{
    struct json_writer json = {0};
    int result = put_job(&json, job);
    char *text = json_take(&json);

    if (result) {
        free(text);
        return NULL;
    }
    return text;
}

struct plot {
    struct query query;
    const char *output;
    int page;    /* the form: 1: a page; 0: a picture; -1: by the name */
    int by_node; /* 0: by domain */
    struct plot_job job;
};

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
     TO_TEXT(struct plot, query.jobs)},
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

/* The page with the model. In a <script>, only "</script" and "<!--" are special: every '<' is
 * escaped.
 */
static int put_page(const struct plot_job *job, FILE *out)
{
    const char *mark = strstr(plot_page_text, MARK);
    char *model = plot_model(job);

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
        failed = put_page(&plot->job, out);
    } else if (out) {
        plot_svg(&plot->job, out);
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
    struct plot_job *job = &plot->job;
    struct show *show = &job->show;

    if (show_work_out(show) || show_regions(show, NULL, REGIONS_NAMED, &job->regions) ||
        (plot->by_node ? work_out_nodes : work_out_domains)(job)) {
        return -1;
    }
    qsort(show->steps, show->step_count, sizeof *show->steps, compare_starts);
    job->length_s = plot_time_s(job, show->total.end_unix_ns);
    for (size_t i = 0; i < job->series_count * PLOT_COLUMNS; i++) {
        job->greatest_w =
            fmax(job->greatest_w, job->series[i / PLOT_COLUMNS].power_w[i % PLOT_COLUMNS]);
    }
    return 0;
}

static int print(struct plot *plot)
{
    struct plot_job *job = &plot->job;
    int status = show_choose(&job->show, COMMAND, job->id, sizeof job->id);

    if (status) {
        return status;
    }
    if (work_out(plot)) {
        return command_fail(COMMAND, "no memory");
    }
    return job->series_count == 0
               ? command_fail(COMMAND, "the records of job %.60s have no power over time", job->id)
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
                COMMAND, "%.200s: its name must end with .svg or .html, or -f say which it is",
                plot->output);
        }
    }
    return EXIT_SUCCESS;
}

int plot_command(int argc, char **argv)
{
    static struct plot plot = {.query = {.command = COMMAND}, .page = -1};
    struct query *query = &plot.query;
    struct show *show = &plot.job.show;
    int status = command_options(&table, argc, argv, &plot);

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
    apapi_regions_clear(&plot.job.regions);
    show_free(show);
    return status;
}
