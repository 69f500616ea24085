/* SPDX-License-Identifier: BSD-3-Clause */
/* Power of regions over time: of each moment of a node, their shares in the step that began last.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/job_power.h"
#include "cli/plot/plot.h"

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
