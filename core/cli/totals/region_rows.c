/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows by region: what the regions of a name took in all records of a group of jobs. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/totals/row_fields.h"
#include "cli/totals/totals.h"
#include "record/record.h"
#include "render/regions.h"

/* --- regions of a record -------------------------------------------------------------------- */

static int region_rows_put_energies(struct report_regions *regions,
                                    const struct apapi_region_result *from,
                                    const struct apapi_measurement *m, struct report_region *region)
{
    region->energy_at = regions->energy_count;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_region_energy *energy = &from->domains[d];

        if (isnan(energy->energy_j)) {
            bool metered = m->domains[d].measured || m->unknown_domains & 1U << d;

            region->unknown_mask |= (uint8_t)(metered ? 1U << d : 0);
            continue;
        }
        if (array_add(&regions->energies, regions->energy_count, &regions->energy_room,
                      sizeof *regions->energies)) {
            return -1;
        }
        regions->energies[regions->energy_count++] =
            (struct report_region_energy){energy->energy_j, energy->uncertainty_j};
        region->domain_mask |= (uint8_t)(1U << d);
    }
    return 0;
}

static int region_rows_put(struct report_ledger *ledger, const struct apapi_region_result *from,
                           const struct apapi_measurement *m)
{
    struct report_regions *regions = &ledger->regions;
    struct report_region region = {.count = from->count,
                                   .time_s = (double)from->time_ns / NS_PER_S,
                                   .name = pool_put(&ledger->store.texts, table_region_label(from)),
                                   .kind = (uint8_t)from->kind};

    if (region.name == POOL_NONE ||
        array_add(&regions->list, regions->count, &regions->room, sizeof *regions->list) ||
        region_rows_put_energies(regions, from, m, &region)) {
        return -1;
    }
    regions->list[regions->count++] = region;
    return 0;
}

int report_regions_add(struct report_ledger *ledger, const struct apapi_record *record)
{
    struct report_regions *regions = &ledger->regions;
    size_t piece = ledger->store.piece_count - 1;

    if (ledger->by != REPORT_BY_REGION) {
        return 0;
    }
    if (array_add(&regions->ends, piece, &regions->end_room, sizeof *regions->ends)) {
        return -1;
    }
    for (size_t i = 0; i < record->regions.count; i++) {
        if (region_rows_put(ledger, &record->regions.list[i], &record->measurement)) {
            return -1;
        }
    }
    regions->ends[piece] = regions->count;
    return 0;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Where the sum is: what is counted once in a row. */
struct position {
    const struct report_bucket *bucket;
    const struct sum_piece *piece;
};

/* Of a row: where something was added last, and the domains that are not known everywhere. */
struct mark {
    struct position last;
    uint8_t unknown;
};
struct progress {
    struct mark *rows; /* by the row's number */
    size_t room;
};

static struct report_row region_rows_begin(const char *name)
{
    struct report_row row = report_row_empty();

    row.region = name;
    row.count = row.time_s = 0;
    row.jobs = row.steps = row.records = row.incomplete = row.delayed = 0;
    return row;
}

/* NULL: no memory. */
static struct report_row *region_rows_find(struct report_ledger *ledger,
                                           const struct report_bucket *bucket,
                                           const struct report_region *region,
                                           struct progress *progress, uint32_t *number)
{
    struct report_regions *regions = &ledger->regions;
    size_t before = ledger->row_keys.count;
    char key[REPORT_ROW_KEY_SIZE];

    report_row_key(ledger, bucket, region, key);
    *number = pool_put(&ledger->row_keys, key);
    if (*number == POOL_NONE ||
        array_add(&regions->rows, *number, &regions->row_room, sizeof *regions->rows) ||
        array_add(&progress->rows, *number, &progress->room, sizeof *progress->rows)) {
        return NULL;
    }
    if (ledger->row_keys.count > before) {
        regions->rows[*number] = region_rows_begin(pool_text(&ledger->store.texts, region->name));
        progress->rows[*number] = (struct mark){{NULL, NULL}, 0};
    }
    return &regions->rows[*number];
}

static void region_rows_add_record(const struct sum_piece *piece, struct report_row *row)
{
    int64_t end_ns = piece->start_ns + (int64_t)piece->elapsed_ns;

    row->start_ns =
        row->records == 0 || piece->start_ns < row->start_ns ? piece->start_ns : row->start_ns;
    row->end_ns = row->records == 0 || end_ns > row->end_ns ? end_ns : row->end_ns;
    row->records++;
    row->incomplete += piece->reason != POOL_NONE;
    row->delayed += piece->delayed;
}

/* The pieces of a bucket come by step. */
static void region_rows_count(const struct report_ledger *ledger, const struct position *at,
                              struct position *last, struct report_row *row)
{
    bool new_job = last->bucket != at->bucket;

    if (new_job) {
        row->jobs++;
        report_row_identify(ledger, at->bucket, row);
    }
    row->steps += new_job || last->piece->step != at->piece->step;
    if (last->piece != at->piece) {
        region_rows_add_record(at->piece, row);
    }
    *last = *at;
}

static double region_rows_plus(double sum, double more)
{
    return isnan(sum) ? more : sum + more;
}

static void region_rows_add_energies(const struct report_ledger *ledger,
                                     const struct report_region *region, struct report_row *row)
{
    const struct report_region_energy *energy = ledger->regions.energies + region->energy_at;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (region->domain_mask >> d & 1) {
            row->domain_j[d] = region_rows_plus(row->domain_j[d], energy->energy_j);
            if (apapi_domain_adds_up(d)) {
                row->uncertainty_j = isnan(row->energy_j)
                                         ? energy->uncertainty_j
                                         : row->uncertainty_j + energy->uncertainty_j;
                row->energy_j = region_rows_plus(row->energy_j, energy->energy_j);
            }
            energy++;
        }
    }
}

static int region_rows_add(struct report_ledger *ledger, const struct position *at,
                           const struct report_region *region, struct progress *progress)
{
    uint32_t number;
    struct report_row *row = region_rows_find(ledger, at->bucket, region, progress, &number);

    if (!row) {
        return -1;
    }
    region_rows_count(ledger, at, &progress->rows[number].last, row);
    row->count += (double)region->count;
    row->time_s += region->time_s;
    progress->rows[number].unknown |= region->unknown_mask;
    region_rows_add_energies(ledger, region, row);
    return 0;
}

static int region_rows_add_piece(struct report_ledger *ledger, const struct position *at,
                                 struct progress *progress)
{
    const struct report_regions *regions = &ledger->regions;
    size_t piece = (size_t)(at->piece - ledger->store.pieces), end = regions->ends[piece];
    int result = 0;

    for (size_t i = piece > 0 ? regions->ends[piece - 1] : 0; i < end && result == 0; i++) {
        result = region_rows_add(ledger, at, &regions->list[i], progress);
    }
    return result;
}

static int region_rows_add_bucket(struct report_ledger *ledger, const struct report_bucket *bucket,
                                  struct progress *progress)
{
    struct sum_entries entries;
    int result = sum_gather(&ledger->store, &bucket->sum, &entries);

    if (result) {
        return -1;
    }
    for (size_t i = 0; i < entries.count && result == 0; i++) {
        result = region_rows_add_piece(ledger, &(struct position){bucket, entries.list[i].piece},
                                       progress);
    }
    free(entries.list);
    return result;
}

static void region_rows_conclude(struct report_row *row, uint8_t unknown)
{
    uint32_t missing = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        missing |= apapi_domain_adds_up(d) && unknown >> d & 1 ? 1U << d : 0;
    }
    domain_list_text(missing, ",", row->missing_domains);
    row->power_w = row->time_s > 0 ? row->energy_j / row->time_s : NAN;
    row->complete = row->incomplete == 0;
}

static int region_rows_chain(struct report_ledger *ledger)
{
    struct progress progress = {0};
    size_t count;
    uint32_t *order = report_order_buckets(ledger, &count);
    int result = order ? 0 : -1;

    for (size_t i = 0; i < count && result == 0; i++) {
        result = region_rows_add_bucket(ledger, &ledger->buckets[order[i]], &progress);
    }
    for (size_t i = 0; progress.rows && i < ledger->row_keys.count; i++) {
        region_rows_conclude(&ledger->regions.rows[i], progress.rows[i].unknown);
    }
    free(order);
    free(progress.rows);
    return result;
}

int report_regions_chain(struct report_ledger *ledger)
{
    return ledger->by == REPORT_BY_REGION ? region_rows_chain(ledger) : 0;
}
