/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines and regions of a job's picture, and all of it as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/job/job.h"
#include "cli/plot/plot_figures.h"
#include "record/fields.h"
#include "record/tree.h"
#include "render/regions.h"
#include "sum/members.h"

/* --- lines ---------------------------------------------------------------------------------- */

static bool plot_work_is_known(const struct plot_series *series)
{
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        if (!isnan(series->power_w[i])) {
            return true;
        }
    }
    return false;
}

/* Add a line if anything is known of it. */
static int add_series(struct plot_job *job, const char *node, int domain)
{
    struct plot_series *series = &job->series[job->series_count];

    if (show_power(&job->show, node, domain, series->power_w, PLOT_COLUMNS)) {
        return -1;
    }
    job->series_count += plot_work_is_known(series);
    return 0;
}

static int work_out_domains(struct plot_job *job)
{
    int result = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && result == 0; d++) {
        struct plot_series *series = &job->series[job->series_count];

        *series = (struct plot_series){.colour = (unsigned)d};
        snprintf(series->name, sizeof series->name, "%s", apapi_domain_name(d));
        result = add_series(job, NULL, d);
    }
    if (job->series_count > 1 && result == 0) {
        job->series[job->series_count] = (struct plot_series){.name = "total"};
        result = add_series(job, NULL, APAPI_DOMAIN_NONE);
    }
    return result;
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
    job->series_count += plot_work_is_known(series);
    return 0;
}

static int plot_work_out_nodes(struct plot_job *job, struct show_node *const *nodes)
{
    size_t count = job->show.node_count;
    size_t own = count > PLOT_SERIES_MAX - 1 ? PLOT_SERIES_MAX - 1 : count;

    for (size_t n = 0; n < own; n++) {
        struct plot_series *series = &job->series[job->series_count];

        *series = (struct plot_series){.colour = (unsigned)n + 1};
        snprintf(series->name, sizeof series->name, "%s", nodes[n]->name);
        if (add_series(job, nodes[n]->name, APAPI_DOMAIN_NONE)) {
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
    result = by_node ? plot_work_out_nodes(job, nodes) : work_out_domains(job);
    free(nodes);
    return result;
}

/* --- power of regions ----------------------------------------------------------------------- */

static bool plot_bands_has(const struct apapi_record *record)
{
    for (size_t i = 0; i < record->regions.count; i++) {
        if (record->regions.list[i].bins > 0) {
            return true;
        }
    }
    return false;
}

/* @return the node's records with shares, at most `count` of them. */
static size_t plot_bands_collect(const struct show *show, const char *node,
                                 const struct apapi_record **records)
{
    size_t count = 0;

    for (size_t i = 0; i < show->count; i++) {
        if (strcmp(show->records[i].id.node, node) == 0 && plot_bands_has(&show->records[i])) {
            records[count++] = &show->records[i];
        }
    }
    return count;
}

/* NULL: none ran then. They are in the order of their starts. */
static const struct apapi_record *plot_bands_at(const struct apapi_record *const *records,
                                                size_t count, int64_t unix_ns)
{
    while (count-- > 0) {
        const struct apapi_measurement *m = &records[count]->measurement;

        if (unix_ns >= m->start_unix_ns && unix_ns < m->start_unix_ns + (int64_t)m->elapsed_ns) {
            return records[count];
        }
    }
    return NULL;
}

static double plot_bands_share(const struct apapi_record *record, const char *path, int64_t unix_ns)
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

static void plot_bands_add(const struct apapi_record *record, double node_w, int64_t unix_ns,
                           size_t column, struct plot_bands *bands)
{
    for (size_t i = 0; i < bands->count; i++) {
        bands->power_w[i][column] += node_w * plot_bands_share(record, bands->paths[i], unix_ns);
    }
}

static int plot_bands_add_node(const struct show *show, const char *node,
                               const struct apapi_record **records, struct plot_bands *bands)
{
    size_t count = plot_bands_collect(show, node, records);
    int64_t start_ns = show->total.start_unix_ns;
    double width_ns = (double)(show->total.end_unix_ns - start_ns) / PLOT_COLUMNS;
    double node_w[PLOT_COLUMNS];

    if (count == 0) {
        return 0;
    }
    if (show_power(show, node, APAPI_DOMAIN_NONE, node_w, PLOT_COLUMNS)) {
        return -1;
    }
    bands->known = true;
    for (size_t c = 0; c < PLOT_COLUMNS; c++) {
        int64_t unix_ns = start_ns + (int64_t)(((double)c + 0.5) * width_ns);
        const struct apapi_record *record = plot_bands_at(records, count, unix_ns);

        if (record && !isnan(node_w[c])) {
            plot_bands_add(record, node_w[c], unix_ns, c, bands);
        }
    }
    return 0;
}

int plot_bands_work_out(const struct show *show, struct plot_bands *bands)
{
    const struct apapi_record **records = calloc(show->count + 1, sizeof(struct apapi_record *));
    int result = records ? 0 : -1;

    for (size_t i = 0; i < show->node_count && result == 0; i++) {
        result = plot_bands_add_node(show, show->nodes[i].name, records, bands);
    }
    free(records);
    return result;
}

/* --- the model ------------------------------------------------------------------------------ */

#define REGIONS_DRAWN PLOT_BANDS_MAX /* with a name */
#define COLOURS 7                    /* of regions; 0 is of totals */
#define CROSSINGS_DRAWN 256

static int plot_model_put_line(json_t *array, const char *text)
{
    return json_array_append_new(array, json_string(text));
}

static int plot_model_put_power(json_t *object, const char *name, unsigned colour,
                                const double *power_w)
{
    json_t *powers = json_array();
    int result = field_put_text(object, "name", name) ||
                 field_put_count(object, "colour", colour) || field_put(object, "power_w", powers);

    for (int i = 0; i < PLOT_COLUMNS && result == 0; i++) {
        double rounded_w = round(power_w[i] * 1000) / 1000;

        result =
            json_array_append_new(powers, isnan(rounded_w) ? json_null() : json_real(rounded_w));
    }
    return result;
}

static int plot_model_put_series(json_t *object, const void *job, size_t i)
{
    const struct plot_series *series = &((const struct plot_job *)job)->series[i];

    return plot_model_put_power(object, series->name, series->colour, series->power_w);
}

static void say_line(const char *text, void *array)
{
    char clean[1024];

    text_clean(clean, sizeof clean, text);
    plot_model_put_line(array, clean);
}

static int plot_model_put_clean(json_t *object, const char *key, const char *text)
{
    char clean[APAPI_TEXT_SIZE];

    text_clean(clean, sizeof clean, text);
    return *clean ? field_put_text(object, key, clean) : 0;
}

static int plot_model_put_table(json_t *object, const struct plot_job *job)
{
    char *text = NULL;
    int result =
        show_table(&job->show, job->id, &text) || field_put(object, "table", json_string(text));

    free(text);
    return result;
}

static int compare_starts(const void *left, const void *right)
{
    const struct show_step *a = left, *b = right;

    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    return strverscmp(a->step, b->step);
}

/* A mark on the time axis. A step as long as the job needs none. */
static int plot_model_put_step(json_t *object, const void *context, size_t i)
{
    const struct show *show = context;
    const struct show_step *step = &show->steps[i];
    int64_t start_ns = show->total.start_unix_ns;

    if (strcmp(step->step, "batch") == 0 || strcmp(step->step, "extern") == 0) {
        return FIELDS_NONE;
    }
    return plot_model_put_clean(object, "step", step->step) ||
           field_put(object, "start_s",
                     json_real((double)(step->start_ns - start_ns) / NS_PER_S)) ||
           field_put(object, "end_s", json_real((double)(step->end_ns - start_ns) / NS_PER_S));
}

/* --- regions -------------------------------------------------------------------------------- */

static double plot_model_known_j(const struct apapi_regions *regions)
{
    double sum_j = 0;

    for (size_t i = 0; i < regions->count; i++) {
        double energy_j = apapi_region_energy_j(&regions->list[i]);

        sum_j += isnan(energy_j) ? 0 : energy_j;
    }
    return sum_j;
}

struct drawn_regions {
    struct apapi_regions regions;
    double total_j;
};

static int plot_model_put_region(json_t *object, const void *context, size_t i)
{
    const struct drawn_regions *drawn = context;
    const struct apapi_region_result *region = &drawn->regions.list[i];
    double energy_j = apapi_region_energy_j(region);

    if (!(energy_j > 0)) {
        return FIELDS_NONE;
    }
    return plot_model_put_clean(object, "name", table_region_label(region)) ||
           field_put_rough(object, "energy_j", energy_j) ||
           field_put_rough(object, "share", energy_j / drawn->total_j);
}

static int plot_model_sum_regions(const struct show *show, struct apapi_regions *result)
{
    struct region_sums sums = {0};
    int failed = 0;

    for (size_t i = 0; i < show->count && !failed; i++) {
        failed = region_sums_add(&sums, &show->records[i]);
    }
    failed = failed || region_sums_result(&sums, REGIONS_DRAWN, result);
    region_sums_free(&sums);
    return failed ? -1 : 0;
}

/* How the energy divides into regions, as far as that is known. No key without any. */
static int plot_model_put_regions(json_t *object, const struct show *show)
{
    struct drawn_regions drawn;
    int result = plot_model_sum_regions(show, &drawn.regions);

    if (result == 0) {
        drawn.total_j = fmax(plot_model_known_j(&drawn.regions), show->total.energy_j);
        result =
            fields_put_list(object, "regions", drawn.regions.count, plot_model_put_region, &drawn);
        fields_drop_empty(object, "regions");
        apapi_regions_clear(&drawn.regions);
    }
    return result;
}

/* Colours are those of the regions in plot_model_put_regions(). */
static int plot_model_put_band(json_t *object, const void *context, size_t i)
{
    const struct plot_bands *bands = context;
    char clean[APAPI_TEXT_SIZE];

    text_clean(clean, sizeof clean, bands->paths[i]);
    return plot_model_put_power(object, clean, 1 + (unsigned)i % COLOURS, bands->power_w[i]);
}

/* Their power over time, below the curve of the total. No key if no record knows it. */
static int plot_model_put_bands(json_t *object, const struct show *show)
{
    struct plot_bands *bands = calloc(1, sizeof *bands);
    struct apapi_regions regions;
    int result = bands ? plot_model_sum_regions(show, &regions) : -1;

    if (result == 0) {
        for (size_t i = 0; i < regions.count && bands->count < PLOT_BANDS_MAX; i++) {
            if (regions.list[i].kind == APAPI_REGION_NAMED &&
                apapi_region_energy_j(&regions.list[i]) > 0) {
                bands->paths[bands->count++] = regions.list[i].path;
            }
        }
        result = plot_bands_work_out(show, bands) ||
                 (bands->known && bands->count > 0 &&
                  fields_put_list(object, "bands", bands->count, plot_model_put_band, bands));
        apapi_regions_clear(&regions);
    }
    free(bands);
    return result;
}

/* --- crossings ------------------------------------------------------------------------------ */

static int plot_model_put_crossing(json_t *object, const struct apapi_record *record,
                                   const struct apapi_crossing *crossing, int64_t start_ns)
{
    return plot_model_put_clean(object, "threshold", crossing->threshold) ||
           plot_model_put_clean(object, "node", record->id.node) ||
           plot_model_put_clean(object, "step", record->id.step) ||
           field_put(object, "at_s", json_real((double)(crossing->unix_ns - start_ns) / NS_PER_S));
}

/* Marks in time: each crossing that the records have. No key without any. */
static int plot_model_put_crossings(json_t *object, const struct show *show)
{
    json_t *array = json_array();
    int result = field_put(object, "crossings", array);

    for (size_t i = 0; i < show->count && result == 0; i++) {
        const struct apapi_record *record = &show->records[i];

        for (size_t k = 0;
             k < record->crossing_count && result == 0 && json_array_size(array) < CROSSINGS_DRAWN;
             k++) {
            json_t *mark = json_object();

            result = json_array_append_new(array, mark) ||
                     plot_model_put_crossing(mark, record, &record->crossing[k],
                                             show->total.start_unix_ns);
        }
    }
    fields_drop_empty(object, "crossings");
    return result;
}

/* --- all ------------------------------------------------------------------------------------ */

static int plot_model_put_job(json_t *object, struct plot_job *job)
{
    struct show *show = &job->show;
    const struct apapi_identity *id = &show->records[0].id;
    json_t *unusual = json_array(), *trust = json_array();
    int result;

    qsort(show->steps, show->step_count, sizeof *show->steps, compare_starts);
    result = field_put(object, "odd", unusual) || field_put(object, "trust", trust) ||
             plot_model_put_clean(object, "job", job->id) ||
             plot_model_put_clean(object, "job_name", id->job_name) ||
             plot_model_put_clean(object, "cluster", id->cluster) ||
             plot_model_put_clean(object, "user", id->user) ||
             plot_model_put_clean(object, "account", id->account) ||
             plot_model_put_clean(object, "partition", id->partition) ||
             field_put_moment(object, "start", show->total.start_unix_ns) ||
             field_put_moment(object, "end", show->total.end_unix_ns) ||
             field_put(object, "length_s",
                       json_real((double)(show->total.end_unix_ns - show->total.start_unix_ns) /
                                 NS_PER_S)) ||
             fields_put_list(object, "series", job->series_count, plot_model_put_series, job) ||
             fields_put_list(object, "steps", show->step_count, plot_model_put_step, show) ||
             plot_model_put_regions(object, show) || plot_model_put_crossings(object, show) ||
             plot_model_put_table(object, job);

    if (result == 0) {
        show_find_unusual(show, say_line, unusual);
        show_say_trust(show, say_line, trust);
    }
    return result;
}

/* The maximum of each axis. */
struct ends {
    double time_s, power_w;
};

static struct ends ends_of(const struct plot_job *job)
{
    const struct apapi_job_total *total = &job->show.total;
    struct ends ends = {.time_s = (double)(total->end_unix_ns - total->start_unix_ns) / NS_PER_S};

    for (size_t i = 0; i < job->series_count; i++) {
        for (int c = 0; c < PLOT_COLUMNS; c++) {
            ends.power_w = fmax(ends.power_w, job->series[i].power_w[c]);
        }
    }
    return ends;
}

static struct ends ends_of_all(const struct plot *plot)
{
    struct ends all = {0};

    for (size_t i = 0; i < plot->job_count; i++) {
        struct ends ends = ends_of(plot->jobs[i]);

        all = (struct ends){fmax(all.time_s, ends.time_s), fmax(all.power_w, ends.power_w)};
    }
    return all;
}

static int put_scale(json_t *object, const struct ends *ends)
{
    return field_put(object, "scale_s", json_real(ends->time_s)) ||
           field_put(object, "scale_w", json_real(ends->power_w));
}

json_t *plot_model(const struct plot *plot)
{
    const struct ends all = ends_of_all(plot);
    json_t *model = json_object(), *jobs = json_array();
    int result = field_put(model, "jobs", jobs) ||
                 field_put_text(model, "by", plot->by_node ? "node" : "domain") ||
                 field_put(model, "same_scale", json_boolean(plot->same_scale));

    for (size_t i = 0; i < plot->job_count && result == 0; i++) {
        const struct ends ends = plot->same_scale ? all : ends_of(plot->jobs[i]);
        json_t *object = json_object();

        result = json_array_append(jobs, object) || plot_model_put_job(object, plot->jobs[i]) ||
                 (!plot->by_node && plot_model_put_bands(object, &plot->jobs[i]->show)) ||
                 put_scale(object, &ends);
        json_decref(object);
    }
    if (result) {
        json_decref(model);
        return NULL;
    }
    return model;
}
