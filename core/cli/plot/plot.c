/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi plot: power over time as a picture or a page, see apapi-plot(1). */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "config/config.h"
#include "render/regions.h"
#include "sum/members.h"

#define PLOT_JOBS_MAX 24
#define PLOT_COLUMNS 240
#define PLOT_SERIES_MAX 8

/* One line of a picture. */
struct plot_series {
    char name[APAPI_TEXT_SIZE];
    unsigned colour;              /* index in the palette; 0: colour of a total */
    double power_w[PLOT_COLUMNS]; /* NaN: not known for all that ran then */
};

struct plot_job {
    char id[32];
    size_t order; /* position of the word that selects it */
    struct show show;
    struct plot_series series[PLOT_SERIES_MAX];
    size_t series_count;
};

struct plot {
    bool by_node;    /* otherwise by domain */
    bool same_scale; /* all jobs use the same scale */
    size_t job_count;
    struct plot_job *jobs[PLOT_JOBS_MAX];
};

/* plot_page.html as a string, made by the build. */
extern const char plot_page_text[];

/* --- lines ---------------------------------------------------------------------------------- */

/* Add a line if anything is known of it. */
static void keep_series(struct plot_job *job)
{
    const double *power_w = job->series[job->series_count].power_w;
    bool known = false;

    for (int i = 0; i < PLOT_COLUMNS; i++) {
        known = known || !isnan(power_w[i]);
    }
    job->series_count += known;
}

static int add_series(struct plot_job *job, const char *name, unsigned colour, const char *node,
                      int domain)
{
    struct plot_series *series = &job->series[job->series_count];

    series->colour = colour;
    snprintf(series->name, sizeof series->name, "%s", name);
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
static int work_out_others(struct plot_job *job, struct show_node *const *nodes, size_t count)
{
    struct plot_series *series = &job->series[job->series_count];
    double power_w[PLOT_COLUMNS];
    unsigned known[PLOT_COLUMNS] = {0};

    *series = (struct plot_series){0};
    snprintf(series->name, sizeof series->name, "mean of %zu others", count);
    for (size_t n = 0; n < count; n++) {
        if (show_power(&job->show, nodes[n]->name, APAPI_DOMAIN_NONE, power_w, PLOT_COLUMNS)) {
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

static int work_out_nodes(struct plot_job *job, struct show_node *const *nodes)
{
    size_t count = job->show.node_count;
    size_t own = count > PLOT_SERIES_MAX - 1 ? PLOT_SERIES_MAX - 1 : count;

    for (size_t n = 0; n < own; n++) {
        const char *name = nodes[n]->name;

        if (add_series(job, name, (unsigned)n + 1, name, APAPI_DOMAIN_NONE)) {
            return -1;
        }
    }
    return count > own ? work_out_others(job, nodes + own, count - own) : 0;
}

/*
 * Calculate the lines of a job with records. A moment of a node counts once, from the record that
 * knows most of it. There are no lines if no record has a timeline.
 * @return 0; -1 with errno ENOMEM.
 */
static int plot_work_out(struct plot_job *job, bool by_node)
{
    struct show *show = &job->show;
    struct show_node **nodes;
    int result;

    if (show_work_out(show)) {
        return -1;
    }
    nodes = calloc(show->node_count + 1, sizeof(struct show_node *));
    if (!nodes) {
        return -1;
    }
    for (size_t i = 0; i < show->node_count; i++) {
        nodes[i] = &show->nodes[i];
    }
    qsort(nodes, show->node_count, sizeof(struct show_node *), show_compare_nodes);
    result = by_node ? work_out_nodes(job, nodes) : work_out_domains(job);
    free(nodes);
    return result;
}

/* --- power of regions ----------------------------------------------------------------------- */

#define PLOT_BANDS_MAX 6 /* regions with a name */

/* The power of regions over time, as far as records know it. */
struct plot_bands {
    size_t count;
    const char *paths[PLOT_BANDS_MAX];
    double power_w[PLOT_BANDS_MAX][PLOT_COLUMNS]; /* 0 at the start */
    bool known;
};

static bool has_shares(const struct apapi_record *record)
{
    for (size_t i = 0; i < record->regions.count; i++) {
        if (record->regions.list[i].bins > 0) {
            return true;
        }
    }
    return false;
}

/* NULL: none ran then. They are in the order of their starts. */
static const struct apapi_record *bands_at(const struct apapi_record *const *records, size_t count,
                                           int64_t unix_ns)
{
    while (count-- > 0) {
        const struct apapi_measurement *m = &records[count]->measurement;

        if (unix_ns >= m->start_unix_ns && unix_ns < m->start_unix_ns + (int64_t)m->elapsed_ns) {
            return records[count];
        }
    }
    return NULL;
}

static double bands_share(const struct apapi_record *record, const char *path, int64_t unix_ns)
{
    uint64_t since_ns = (uint64_t)(unix_ns - record->measurement.start_unix_ns);

    for (size_t i = 0; i < record->regions.count; i++) {
        const struct apapi_region_result *region = &record->regions.list[i];

        if (region->bins > 0 && strcmp(region->path, path) == 0) {
            uint64_t bin = since_ns / region->bin_ns;

            return bin < region->bins ? region->share_pct[bin] / 100.0 : 0;
        }
    }
    return 0;
}

static int bands_add_node(const struct show *show, const char *node,
                          const struct apapi_record **records, struct plot_bands *bands)
{
    size_t count = 0;
    int64_t start_ns = show->total.start_unix_ns;
    double width_ns = (double)(show->total.end_unix_ns - start_ns) / PLOT_COLUMNS;
    double node_w[PLOT_COLUMNS];

    for (size_t i = 0; i < show->count; i++) {
        if (strcmp(show->records[i].id.node, node) == 0 && has_shares(&show->records[i])) {
            records[count++] = &show->records[i];
        }
    }
    if (count == 0) {
        return 0;
    }
    if (show_power(show, node, APAPI_DOMAIN_NONE, node_w, PLOT_COLUMNS)) {
        return -1;
    }
    bands->known = true;
    for (size_t c = 0; c < PLOT_COLUMNS; c++) {
        int64_t unix_ns = start_ns + (int64_t)(((double)c + 0.5) * width_ns);
        const struct apapi_record *record = bands_at(records, count, unix_ns);

        for (size_t i = 0; record && !isnan(node_w[c]) && i < bands->count; i++) {
            bands->power_w[i][c] += node_w[c] * bands_share(record, bands->paths[i], unix_ns);
        }
    }
    return 0;
}

/* --- the model ------------------------------------------------------------------------------ */

#define COLOURS 7 /* of regions; 0 is of totals */
#define CROSSINGS_DRAWN 256

static void put_clean(struct json_writer *json, const char *key, const char *text)
{
    char clean[APAPI_TEXT_SIZE];

    text_clean(clean, sizeof clean, text);
    if (*clean) {
        json_put_text(json, key, clean);
    }
}

static void put_line(const char *text, void *json)
{
    char clean[1024];

    text_clean(clean, sizeof clean, text);
    json_put_text(json, NULL, clean);
}

static void put_power(struct json_writer *json, const char *name, unsigned colour,
                      const double *power_w)
{
    json_begin_object(json, NULL);
    json_put_text(json, "name", name);
    json_put_count(json, "colour", colour);
    json_begin_array(json, "power_w");
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        json_put_number(json, NULL, round(power_w[i] * 1000) / 1000, JSON_EXACT);
    }
    json_end(json);
    json_end(json);
}

static int compare_starts(const void *left, const void *right)
{
    const struct show_step *a = left, *b = right;
    int order = COMPARE(a->start_ns, b->start_ns);

    return order ? order : strverscmp(a->step, b->step);
}

static double since_start_s(const struct show *show, int64_t unix_ns)
{
    return (double)(unix_ns - show->total.start_unix_ns) / NS_PER_S;
}

/* Marks on the time axis. A step as long as the job needs none. */
static void put_steps(struct json_writer *json, const struct show *show)
{
    json_begin_array(json, "steps");
    for (size_t i = 0; i < show->step_count; i++) {
        const struct show_step *step = &show->steps[i];

        if (strcmp(step->step, "batch") == 0 || strcmp(step->step, "extern") == 0) {
            continue;
        }
        json_begin_object(json, NULL);
        put_clean(json, "step", step->step);
        json_put_number(json, "start_s", since_start_s(show, step->start_ns), JSON_EXACT);
        json_put_number(json, "end_s", since_start_s(show, step->end_ns), JSON_EXACT);
        json_end(json);
    }
    json_end(json);
}

/* --- regions -------------------------------------------------------------------------------- */

static int plot_sum_regions(const struct show *show, struct apapi_regions *result)
{
    struct region_sums sums = {0};
    int failed = 0;

    for (size_t i = 0; i < show->count && !failed; i++) {
        failed = region_sums_add(&sums, &show->records[i]);
    }
    failed = failed || region_sums_result(&sums, PLOT_BANDS_MAX, result);
    region_sums_free(&sums);
    return failed ? -1 : 0;
}

/* How the energy divides into regions, as far as that is known. No key without any. */
static void put_regions(struct json_writer *json, const struct apapi_regions *regions,
                        double total_j)
{
    double known_j = 0;

    for (size_t i = 0; i < regions->count; i++) {
        double energy_j = apapi_region_energy_j(&regions->list[i]);

        known_j += isnan(energy_j) ? 0 : energy_j;
    }
    json_begin_array(json, "regions");
    for (size_t i = 0; i < regions->count; i++) {
        double energy_j = apapi_region_energy_j(&regions->list[i]);

        if (energy_j > 0) {
            json_begin_object(json, NULL);
            put_clean(json, "name", table_region_label(&regions->list[i]));
            json_put_number(json, "energy_j", energy_j, JSON_ROUGH);
            json_put_number(json, "share", energy_j / fmax(known_j, total_j), JSON_ROUGH);
            json_end(json);
        }
    }
    json_end_or_drop(json);
}

/* Their power over time, below the curve of the total, in the colours that put_regions() gives
 * them. No key if no record knows it. */
static int put_bands(struct json_writer *json, const struct show *show,
                     const struct apapi_regions *regions)
{
    struct plot_bands *bands = calloc(1, sizeof *bands);
    const struct apapi_record **records = calloc(show->count + 1, sizeof(struct apapi_record *));
    int result = bands && records ? 0 : -1;

    for (size_t i = 0; i < regions->count && !result && bands->count < PLOT_BANDS_MAX; i++) {
        if (regions->list[i].kind == APAPI_REGION_NAMED &&
            apapi_region_energy_j(&regions->list[i]) > 0) {
            bands->paths[bands->count++] = regions->list[i].path;
        }
    }
    for (size_t i = 0; i < show->node_count && !result; i++) {
        result = bands_add_node(show, show->nodes[i].name, records, bands);
    }
    json_begin_array(json, "bands");
    for (size_t i = 0; !result && i < bands->count && bands->known; i++) {
        char clean[APAPI_TEXT_SIZE];

        text_clean(clean, sizeof clean, bands->paths[i]);
        put_power(json, clean, 1 + (unsigned)i % COLOURS, bands->power_w[i]);
    }
    json_end_or_drop(json);
    free(records);
    free(bands);
    return result;
}

/* Marks in time: each crossing that the records have. No key without any. */
static void put_crossings(struct json_writer *json, const struct show *show)
{
    size_t count = 0;

    json_begin_array(json, "crossings");
    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_record *record = &show->records[i];

        for (size_t k = 0; k < record->crossing_count && count < CROSSINGS_DRAWN; k++, count++) {
            const struct apapi_crossing *crossing = &record->crossing[k];

            json_begin_object(json, NULL);
            put_clean(json, "threshold", crossing->threshold);
            put_clean(json, "node", record->id.node);
            put_clean(json, "step", record->id.step);
            json_put_number(json, "at_s", since_start_s(show, crossing->unix_ns), JSON_EXACT);
            json_end(json);
        }
    }
    json_end_or_drop(json);
}

/* --- all ------------------------------------------------------------------------------------ */

static int put_job(struct json_writer *json, struct plot_job *job, bool by_node)
{
    const struct show *show = &job->show;
    const struct apapi_identity *id = &show->records[0].id;
    struct apapi_regions regions = {0};
    char *table = NULL;
    int result;

    qsort(show->steps, show->step_count, sizeof *show->steps, compare_starts);
    if (plot_sum_regions(show, &regions) || show_table(show, job->id, &table)) {
        apapi_regions_clear(&regions);
        return -1;
    }
    json_begin_array(json, "odd");
    show_find_unusual(show, put_line, json);
    json_end(json);
    json_begin_array(json, "trust");
    show_say_trust(show, put_line, json);
    json_end(json);
    put_clean(json, "job", job->id);
    put_clean(json, "job_name", id->job_name);
    put_clean(json, "cluster", id->cluster);
    put_clean(json, "user", id->user);
    put_clean(json, "account", id->account);
    put_clean(json, "partition", id->partition);
    json_put_moment(json, "start", show->total.start_unix_ns);
    json_put_moment(json, "end", show->total.end_unix_ns);
    json_put_number(json, "length_s", since_start_s(show, show->total.end_unix_ns), JSON_EXACT);
    json_begin_array(json, "series");
    for (size_t i = 0; i < job->series_count; i++) {
        put_power(json, job->series[i].name, job->series[i].colour, job->series[i].power_w);
    }
    json_end(json);
    put_steps(json, show);
    put_regions(json, &regions, show->total.energy_j);
    put_crossings(json, show);
    json_put_text(json, "table", table);
    result = by_node ? 0 : put_bands(json, show, &regions);
    free(table);
    apapi_regions_clear(&regions);
    return result;
}

/* The maximum of each axis. */
struct ends {
    double time_s, power_w;
};

static struct ends ends_of(const struct plot_job *job, struct ends ends)
{
    ends.time_s = fmax(ends.time_s, since_start_s(&job->show, job->show.total.end_unix_ns));
    for (size_t i = 0; i < job->series_count; i++) {
        for (int c = 0; c < PLOT_COLUMNS; c++) {
            ends.power_w = fmax(ends.power_w, job->series[i].power_w[c]);
        }
    }
    return ends;
}

/* @return everything that a picture shows, as JSON, for free(); NULL: out of memory. */
static char *plot_model(const struct plot *plot)
{
    struct json_writer json = {0};
    struct ends ends = {0};
    int result = 0;
    char *text;

    for (size_t i = 0; i < plot->job_count; i++) {
        ends = ends_of(plot->jobs[i], ends);
    }
    json_begin_object(&json, NULL);
    json_put_text(&json, "by", plot->by_node ? "node" : "domain");
    json_put_flag(&json, "same_scale", plot->same_scale);
    json_begin_array(&json, "jobs");
    for (size_t i = 0; i < plot->job_count && result == 0; i++) {
        if (!plot->same_scale) {
            ends = ends_of(plot->jobs[i], (struct ends){0});
        }
        json_begin_object(&json, NULL);
        result = put_job(&json, plot->jobs[i], plot->by_node);
        json_put_number(&json, "scale_s", ends.time_s, JSON_EXACT);
        json_put_number(&json, "scale_w", ends.power_w, JSON_EXACT);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    text = json_take(&json);
    if (result) {
        free(text);
        return NULL;
    }
    return text;
}

#define COMMAND "plot"

static const char *const formats[] = {"svg", "png", "pdf", "html"};

/* A word that selects jobs. */
struct word {
    const char *text;
    struct job_list jobs;
};

struct request {
    struct report_input input;
    const char *output, *form, *by;
    char *joined, *parts; /* the words joined by commas; a copy that is cut up */
    struct word *words;
    size_t word_count;
    struct plot plot;
    bool crowded; /* more jobs than allowed */
};

static const struct option_row rows[] = {
    {'o', "output", "=FILE",
     "the output: a picture (svg, png, pdf), or a page with zoom (html);\n"
     "- is standard output",
     TO_TEXT(struct request, output)},
    {'f', "format", "=FORM", "svg, png, pdf or html, whatever the name; default for -: svg",
     TO_TEXT(struct request, form)},
    {0, "by", "=WHAT", "a line for each domain (default) or node", TO_TEXT(struct request, by)},
    {0, "same-scale", NULL, "one scale of time and power for all jobs",
     TO_FLAG(struct request, plot.same_scale)},
    {'j', "jobs", "=JOB[.STEP],...", "the jobs; then all arguments are RECORDS",
     TO_TEXT(struct request, input.jobs)},
    {OPTION_ROWS_OF(struct request, input, input_filter_rows)},
    {OPTION_ROWS_OF(struct request, input, input_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi plot [OPTION]... JOB[.STEP]... -o FILE.{svg,png,pdf,html} [RECORDS]...\n"
            "Draw the power of jobs over time, side by side, from the accounting folder, from\n"
            "files of RECORDS (-: a pipe) or --db. JOB is 17, 17_3 of an array, or 17+1 of a\n"
            "heterogeneous job. Write ./17.jsonl for a file whose name begins with a digit.\n",
    .foot = "Exit status: 0 done, 1 no record found, or failure, 2 wrong usage.\n",
    .column = 23,
    .rows = rows};

/* --- records ---------------------------------------------------------------------------------- */

static struct plot_job *find_job(struct request *request, const struct apapi_identity *id)
{
    struct plot *plot = &request->plot;
    struct plot_job *job;

    for (size_t i = 0; i < plot->job_count; i++) {
        const struct apapi_identity *known = &plot->jobs[i]->show.records[0].id;

        if (known->job == id->job && strcmp(known->cluster, id->cluster) == 0) {
            return plot->jobs[i];
        }
    }
    request->crowded = request->crowded || plot->job_count == PLOT_JOBS_MAX;
    job = request->crowded ? NULL : calloc(1, sizeof *job);
    if (job) {
        plot->jobs[plot->job_count++] = job;
        job_id_text(id, job->id, sizeof job->id);
        while (job->order < request->word_count &&
               !job_list_has(&request->words[job->order].jobs, id)) {
            job->order++;
        }
    }
    return job;
}

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *context)
{
    struct request *request = context;
    struct plot_job *job = find_job(request, &record->id);

    return job ? show_add(record, line, size, &job->show) : request->crowded ? 0 : -1;
}

/* In the order of their words; for one word, by number. */
static int compare_jobs(const void *left, const void *right)
{
    const struct plot_job *one = *(struct plot_job *const *)left,
                          *other = *(struct plot_job *const *)right;
    const struct apapi_identity *a = &one->show.records[0].id, *b = &other->show.records[0].id;
    int order = COMPARE(one->order, other->order);

    order = order ? order : COMPARE(a->job, b->job);
    return order ? order : strcmp(a->cluster, b->cluster);
}

static void free_job(struct plot_job *job)
{
    show_free(&job->show);
    free(job);
}

/* Drop another user's job that claims to be part of this one. */
static void drop_strangers(struct plot *plot, const char *word)
{
    struct claims claims = {.job = (uint32_t)strtoul(word, NULL, 10)};
    size_t kept = 0;

    for (size_t i = 0; i < plot->job_count; i++) {
        claims_learn(&claims, &plot->jobs[i]->show.records[0].id);
    }
    for (size_t i = 0; i < plot->job_count; i++) {
        const struct apapi_identity *id = &plot->jobs[i]->show.records[0].id;
        bool part = id->array_job == claims.job || id->het_job == claims.job;

        if (id->job != claims.job && part && !claims_hold(&claims, id)) {
            free_job(plot->jobs[i]);
        } else {
            plot->jobs[kept++] = plot->jobs[i];
        }
    }
    plot->job_count = kept;
}

static bool is_found(const struct plot *plot, const struct word *word)
{
    for (size_t i = 0; i < plot->job_count; i++) {
        const struct show *show = &plot->jobs[i]->show;

        for (size_t k = 0; k < show->count; k++) {
            if (job_list_has(&word->jobs, &show->records[k].id)) {
                return true;
            }
        }
    }
    return false;
}

/* --- a page or a picture ---------------------------------------------------------------------- */

#define PROGRAM "apapi-plot"
#define MARK "@MODEL@"

/* The page with the model. In a <script>, only "</script" and "<!--" are special: every '<' is
 * escaped.
 */
static char *page_of(const char *model, size_t *size)
{
    const char *mark = strstr(plot_page_text, MARK);
    char *page = NULL;
    FILE *out = open_memstream(&page, size);

    if (out) {
        fwrite(plot_page_text, 1, (size_t)(mark - plot_page_text), out);
        for (; *model; model++) {
            if (*model == '<') {
                fputs("\\u003c", out);
            } else {
                fputc(*model, out);
            }
        }
        fputs(mark + strlen(MARK), out);
    }
    return text_of_stream(out, &page, 0);
}

/* 0: it was successful. */
static int run_program(const char *libexec_dir, const char *form, const int ends[2],
                       struct apapi_error *err)
{
    char path[PATH_MAX], program[] = PROGRAM, argument[8];
    char *argv[] = {program, argument, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int result, status = 0;

    snprintf(argument, sizeof argument, "%s", form);
    snprintf(path, sizeof path, "%s/" PROGRAM, libexec_dir);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    result = posix_spawn(&pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result) {
        return apapi_fail(err, result, "%s: %s%s", path, strerror(result),
                          result == ENOENT ? "; package apapi-plot has it; .html needs none" : "");
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? 0 : apapi_fail(err, EIO, "%s could not draw", path);
}

/* The picture drawn by apapi-plot; NULL with `err`. */
static char *draw_picture(const struct request *request, const char *model, size_t *size,
                          struct apapi_error *err)
{
    const int ends[] = {memfd_create("model", MFD_CLOEXEC), memfd_create("picture", MFD_CLOEXEC)};
    char *picture = NULL;
    struct stat status;

    if (ends[0] < 0 || ends[1] < 0 || write_all(ends[0], model, strlen(model)) ||
        lseek(ends[0], 0, SEEK_SET)) {
        apapi_fail(err, errno, "a temporary file: %s", strerror(errno));
    } else if (run_program(request->input.config->libexec_dir, request->form, ends, err) == 0 &&
               fstat(ends[1], &status) == 0) {
        *size = (size_t)status.st_size;
        picture = malloc(*size + 1);
        if (!picture || pread(ends[1], picture, *size, 0) != status.st_size) {
            free(picture);
            picture = NULL;
            apapi_fail(err, ENOMEM, "no memory");
        }
    }
    folder_close(ends[0]);
    folder_close(ends[1]);
    return picture;
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static int fail_job(const char *before, const char *job, const char *behind)
{
    struct apapi_error err;

    apapi_fail(&err, ENOENT, "%s job %.60s %s", before, job, behind);
    return command_fail(COMMAND, err.text);
}

static int draw(const struct request *request)
{
    char *model = plot_model(&request->plot), *text = NULL;
    struct apapi_error err = {.text = "no memory"};
    mode_t mask = umask(0);
    size_t size = 0;
    int failed;

    umask(mask);
    if (model && strcmp(request->form, "html") == 0) {
        text = page_of(model, &size);
    } else if (model) {
        text = draw_picture(request, model, &size, &err);
    }
    failed = !text;
    if (text && strcmp(request->output, "-") == 0) {
        fwrite(text, 1, size, stdout);
    } else if (text) {
        failed = replace_file(request->output, 0666 & ~mask, text, size, &err);
    }
    free(text);
    free(model);
    return failed ? command_fail(COMMAND, err.text) : command_finish(COMMAND, EXIT_SUCCESS);
}

static int print(void *context)
{
    struct request *request = context;
    struct plot *plot = &request->plot;

    if (request->crowded) {
        return command_fail(COMMAND, "more than 24 jobs match; name fewer");
    }
    for (size_t i = 0; i < request->word_count; i++) {
        drop_strangers(plot, request->words[i].text);
        if (!is_found(plot, &request->words[i])) {
            return fail_job("no record of", request->words[i].text, "found");
        }
    }
    qsort(plot->jobs, plot->job_count, sizeof(struct plot_job *), compare_jobs);
    for (size_t i = 0; i < plot->job_count; i++) {
        struct show *show = &plot->jobs[i]->show;

        show_drop_earlier(show, show->records[0].id.job, COMMAND);
        if (plot_work_out(plot->jobs[i], plot->by_node)) {
            return command_fail(COMMAND, "no memory");
        }
        if (plot->jobs[i]->series_count == 0) {
            return fail_job("the records of", plot->jobs[i]->id, "have no power over time");
        }
    }
    return draw(request);
}

/* --- the command line ------------------------------------------------------------------------- */

static const char *find_form(const char *name)
{
    for (size_t i = 0; name && i < COUNT_OF(formats); i++) {
        if (strcasecmp(name, formats[i]) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

static int check(struct request *request)
{
    struct apapi_error err;
    const char *dot;

    if (!*request->joined) {
        return command_refuse(COMMAND, "which JOB? See 'apapi help plot'");
    }
    request->plot.by_node = strcmp(request->by, "node") == 0;
    if (!request->plot.by_node && strcmp(request->by, "domain") != 0) {
        apapi_fail(&err, EINVAL, "--by=%.60s: it is domain or node", request->by);
        return command_refuse(COMMAND, err.text);
    }
    if (!request->output) {
        return command_refuse(COMMAND,
                              "which file? -o FILE.svg, FILE.png, FILE.pdf or FILE.html; or -o -");
    }
    if (request->form) {
        apapi_fail(&err, EINVAL, "--format=%.60s: it is svg, png, pdf or html", request->form);
        request->form = find_form(request->form);
    } else if (strcmp(request->output, "-") == 0) {
        request->form = "svg";
    } else {
        apapi_fail(
            &err, EINVAL,
            "%.200s: its name must end with .svg, .png, .pdf or .html, or -f say which it is",
            request->output);
        dot = strrchr(request->output, '.');
        request->form = find_form(dot ? dot + 1 : NULL);
    }
    return request->form ? EXIT_SUCCESS : command_refuse(COMMAND, err.text);
}

/*
 * Words that begin with a digit and are not paths select jobs, up to the first other word. That and
 * all following ones are files. A word that is not a job is refused with the rest of the input.
 */
static int take_words(struct request *request, char **words, size_t count)
{
    FILE *out = open_memstream(&request->joined, &(size_t){0});
    size_t jobs = 0;
    char *rest;

    if (out && request->input.jobs) {
        fputs(request->input.jobs, out);
    } else {
        for (; out && jobs < count && isdigit((unsigned char)*words[jobs]) &&
               !strchr(words[jobs], '/');
             jobs++) {
            fprintf(out, "%s%s", jobs ? "," : "", words[jobs]);
        }
    }
    request->joined = text_of_stream(out, &request->joined, 0);
    request->parts = rest = request->joined ? strdup(request->joined) : NULL;
    request->words = rest ? calloc(strlen(rest) + 1, sizeof *request->words) : NULL;
    while (request->words && rest) {
        struct word *next = &request->words[request->word_count];

        next->text = strsep(&rest, ",");
        if (job_list_parse(next->text, &next->jobs, NULL)) {
            job_list_free(&next->jobs);
        } else {
            request->word_count++;
        }
    }
    request->input.jobs = request->joined;
    request->input.files = words + jobs;
    request->input.file_count = count - jobs;
    return request->words ? 0 : -1;
}

int plot_command(int argc, char **argv)
{
    static struct request request = {.input = {.command = COMMAND}, .by = "domain"};
    int status = command_options(&table, argc, argv, &request);

    if (status >= 0) {
        return status;
    }
    status = take_words(&request, argv + optind, (size_t)(argc - optind))
                 ? command_fail(COMMAND, "no memory")
                 : check(&request);
    if (status == EXIT_SUCCESS) {
        status = report_input_print(&request.input, take_record, print, &request);
    }
    for (size_t i = 0; i < request.plot.job_count; i++) {
        free_job(request.plot.jobs[i]);
    }
    for (size_t i = 0; i < request.word_count; i++) {
        job_list_free(&request.words[i].jobs);
    }
    free(request.words);
    free(request.parts);
    free(request.joined);
    return status;
}
