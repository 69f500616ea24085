/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of a picture, for the page and for apapi-plot. Unknown power is null. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/text.h"
#include "cli/plot/plot.h"
#include "output/table_regions.h"
#include "record/fields.h"
#include "sum/regions.h"

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
