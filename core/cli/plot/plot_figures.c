/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines and regions of a job's picture, and all of it as JSON. */
#include "cli/plot/plot_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "render/regions.h"
#include "sum/members.h"

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

int plot_work_out(struct plot_job *job, bool by_node)
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

/* Calculate the power of `paths`. 0; -1 with errno ENOMEM. */
static int bands_work_out(const struct show *show, struct plot_bands *bands)
{
    const struct apapi_record **records = calloc(show->count + 1, sizeof(struct apapi_record *));
    int result = records ? 0 : -1;

    for (size_t i = 0; i < show->node_count && result == 0; i++) {
        result = bands_add_node(show, show->nodes[i].name, records, bands);
    }
    free(records);
    return result;
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
    char clean[APAPI_TEXT_SIZE];
    int result = bands ? 0 : -1;

    if (bands) {
        for (size_t i = 0; i < regions->count && bands->count < PLOT_BANDS_MAX; i++) {
            if (regions->list[i].kind == APAPI_REGION_NAMED &&
                apapi_region_energy_j(&regions->list[i]) > 0) {
                bands->paths[bands->count++] = regions->list[i].path;
            }
        }
        result = bands_work_out(show, bands);
        json_begin_array(json, "bands");
        for (size_t i = 0; i < bands->count && bands->known; i++) {
            text_clean(clean, sizeof clean, bands->paths[i]);
            put_power(json, clean, 1 + (unsigned)i % COLOURS, bands->power_w[i]);
        }
        json_end_or_drop(json);
    }
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

static void put_identity(struct json_writer *json, const struct plot_job *job)
{
    const struct show *show = &job->show;
    const struct apapi_identity *id = &show->records[0].id;

    put_clean(json, "job", job->id);
    put_clean(json, "job_name", id->job_name);
    put_clean(json, "cluster", id->cluster);
    put_clean(json, "user", id->user);
    put_clean(json, "account", id->account);
    put_clean(json, "partition", id->partition);
    json_put_moment(json, "start", show->total.start_unix_ns);
    json_put_moment(json, "end", show->total.end_unix_ns);
    json_put_number(json, "length_s", since_start_s(show, show->total.end_unix_ns), JSON_EXACT);
}

static int put_job(struct json_writer *json, struct plot_job *job, bool by_node)
{
    const struct show *show = &job->show;
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
    put_identity(json, job);
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

char *plot_model(const struct plot *plot)
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
