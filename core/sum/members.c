/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/members.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "record/fields.h"
#include "record/members.h"
#include "record/record.h"

/* --- thresholds that were crossed ------------------------------------------------------------- */

bool crossing_is_last(const struct apapi_record *record, size_t index)
{
    for (size_t i = index + 1; i < record->crossing_count; i++) {
        if (strcmp(record->crossing[i].threshold, record->crossing[index].threshold) == 0) {
            return false;
        }
    }
    return true;
}

size_t crossing_first(const struct apapi_record *record, size_t index)
{
    size_t first = 0;

    while (strcmp(record->crossing[first].threshold, record->crossing[index].threshold) != 0) {
        first++;
    }
    return first;
}

/* @return time of a crossing since the start of the measurement. */
static struct units_text crossing_time(const struct apapi_record *record, size_t index)
{
    int64_t since_ns = record->crossing[index].unix_ns - record->measurement.start_unix_ns;

    return units_duration(since_ns > 0 ? (double)since_ns / 1e9 : 0);
}

void crossing_text(const struct apapi_record *record, size_t index, char *text, size_t size)
{
    const struct apapi_crossing *last = &record->crossing[index];
    const struct units_text times =
        units_part(last->count > 1, "%" PRIu64 " times, first at %s, last ", last->count,
                   crossing_time(record, crossing_first(record, index)).text);

    snprintf(text, size, "%sat %s with %s%s%s", times.text, crossing_time(record, index).text,
             *last->unit ? units_quantity(last->value, last->unit).text
                         : units_part(true, "%.6g", last->value).text,
             *last->action || *last->result ? "; " : "",
             *last->result ? last->result : last->action);
}

/* --- names of jobs and steps ------------------------------------------------------------------ */

void job_id_text(const struct apapi_identity *id, char *text, size_t size)
{
    *text = '\0';
    if (id->array_job != APAPI_UNKNOWN && id->array_task != APAPI_UNKNOWN) {
        snprintf(text, size, "%u_%u", id->array_job, id->array_task);
    } else if (id->het_job != APAPI_UNKNOWN && id->het_offset != APAPI_UNKNOWN) {
        snprintf(text, size, "%u+%u", id->het_job, id->het_offset);
    } else if (id->job != APAPI_UNKNOWN) {
        snprintf(text, size, "%u", id->job);
    }
}

void step_id_text(const struct apapi_identity *id, char *text, size_t size)
{
    char job[JOB_ID_SIZE];

    job_id_text(id, job, sizeof job);
    snprintf(text, size, *job ? "%s.%s" : "one outside Slurm", job, id->step);
}

bool step_is(const char *step, const char *name)
{
    const char *dot = *step == '+' ? strchr(step, '.') : NULL;

    return strcmp(dot ? dot + 1 : step, name) == 0;
}

/* --- one region ----------------------------------------------------------------------------- */

void sum_plus(double energy_j, double uncertainty_j, double *sum_j, double *sum_uncertainty_j)
{
    if (!isnan(energy_j)) {
        *sum_uncertainty_j = isnan(*sum_j) ? uncertainty_j : *sum_uncertainty_j + uncertainty_j;
        *sum_j = known_plus(*sum_j, energy_j);
    }
}

/* Unknown, if the method of one of them is; otherwise the less direct method of the two.
 * @param missing  bits of the domains that are not known */
static void regions_add_row(struct region_sum *sum, const struct apapi_region_result *more,
                            uint32_t missing)
{
    struct apapi_region_result *region = &sum->region;

    if (more->method == APAPI_REGION_UNKNOWN ||
        (region->method != APAPI_REGION_UNKNOWN && more->method > region->method)) {
        region->method = more->method;
    }
    if (!*region->reason) {
        memcpy(region->reason, more->reason, sizeof region->reason);
    }
    region->count += more->count;
    region->programs = known_total(region->programs, more->programs);
    region->threads = known_total(region->threads, more->threads);
    region->time_ns += more->time_ns;
    sum->missing |= missing;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        sum_plus(more->domains[d].energy_j, more->domains[d].uncertainty_j,
                 &region->domains[d].energy_j, &region->domains[d].uncertainty_j);
    }
}

/* @return those domains of the set `of` that have no known energy for the region */
static uint32_t regions_unknown(const struct apapi_region_result *region, uint32_t of)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        of &= isnan(region->domains[d].energy_j) ? ~0U : ~(1U << d);
    }
    return of;
}

/* --- adding --------------------------------------------------------------------------------- */

/* @return an empty sum */
static struct region_sum region_sum_of(enum apapi_region_kind kind)
{
    struct region_sum sum = {.region = region_unmeasured()};

    sum.region.kind = kind;
    sum.region.method = APAPI_REGION_MEASURED; /* the most direct one */
    return sum;
}

/* NULL: no memory. */
static struct region_sum *regions_find(struct region_sums *sums, enum apapi_region_kind kind,
                                       const char *path)
{
    char key[APAPI_REGION_PATH_SIZE + 1] = ""; /* one digit and the path */
    size_t before = sums->keys.count;
    uint32_t number;

    if (before >= REGION_SUMS_MAX && kind == APAPI_REGION_NAMED) {
        kind = APAPI_REGION_REST;
    }
    snprintf(key, sizeof key, "%c%s", (char)('0' + kind), kind == APAPI_REGION_NAMED ? path : "");
    number = pool_put_row(&sums->keys, key, &sums->rows, &sums->room, sizeof *sums->rows);
    if (number == POOL_NONE) {
        return NULL;
    }
    if (number == before) {
        sums->rows[number] = region_sum_of(kind);
        memcpy(sums->rows[number].region.path, key + 1, APAPI_REGION_PATH_SIZE);
    }
    return &sums->rows[number];
}

int region_sums_add(struct region_sums *sums, const struct apapi_record *record)
{
    const struct apapi_regions *regions = &record->regions;
    struct apapi_region_losses *losses = &sums->losses;
    uint32_t metered = record->measurement.unknown_domains; /* domains that the node has */

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        metered |= record->measurement.domains[d].measured ? domain_bit(d) : 0;
    }
    for (size_t i = 0; i < regions->count; i++) {
        const struct apapi_region_result *region = &regions->list[i];
        struct region_sum *sum = regions_find(sums, region->kind, region->path);

        if (!sum) {
            errno = ENOMEM;
            return -1;
        }
        regions_add_row(sum, region, regions_unknown(region, metered));
    }
    for (size_t i = 0; i < regions->fom_count; i++) {
        losses->names += !foms_add(&sums->foms, &regions->foms[i]);
    }
    losses->regions += regions->losses.regions;
    losses->names += regions->losses.names;
    losses->threads += regions->losses.threads;
    losses->programs += regions->losses.programs;
    losses->refused += regions->losses.refused;
    losses->misuses += regions->losses.misuses;
    return 0;
}

/* --- the result ----------------------------------------------------------------------------- */

static int regions_order(const void *left, const void *right)
{
    const struct apapi_region_result *a = left, *b = right;
    double a_j = apapi_region_energy_j(a), b_j = apapi_region_energy_j(b);
    int order = COMPARE(a->kind, b->kind);

    a_j = isnan(a_j) ? -1 : a_j;
    b_j = isnan(b_j) ? -1 : b_j;
    order = order ? order : COMPARE(b_j, a_j);
    order = order ? order : COMPARE(b->time_ns, a->time_ns);
    return order ? order : strcmp(a->path, b->path);
}

static void regions_seal(struct region_sum *sum)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        struct apapi_region_energy *energy = &sum->region.domains[d];

        if (sum->missing & 1U << d) {
            *energy = (struct apapi_region_energy){NAN, NAN, NAN};
        }
        energy->power_w = region_power_w(&sum->region, d);
    }
}

/* Add the regions after the first `max` to the rest, which is there or takes their position. */
static void regions_cut(struct apapi_regions *result, size_t max)
{
    struct region_sum rest = region_sum_of(APAPI_REGION_REST);
    uint32_t known = 0; /* domains that are known for any of the regions in the rest */
    size_t named = 0, kept = max;

    while (named < result->count && result->list[named].kind == APAPI_REGION_NAMED) {
        named++;
    }
    if (named <= max) {
        return;
    }
    for (size_t i = 0; i < result->count; i++) {
        known |= ~regions_unknown(&result->list[i], ~0U);
    }
    for (size_t i = max; i < result->count; i++) {
        const struct apapi_region_result *region = &result->list[i];

        if (i < named || region->kind == APAPI_REGION_REST) {
            regions_add_row(&rest, region, regions_unknown(region, known));
        } else {
            result->list[kept++] = *region;
        }
    }
    result->losses.regions += named - max;
    regions_seal(&rest);
    result->list[kept++] = rest.region;
    result->count = kept;
}

int region_sums_result(const struct region_sums *sums, size_t max, struct apapi_regions *result)
{
    struct apapi_regions all = {.list = calloc(sums->keys.count + 1, sizeof *all.list),
                                .foms =
                                    array_copy(sums->foms.list, sums->foms.count, sizeof *all.foms),
                                .fom_count = sums->foms.count,
                                .losses = sums->losses};

    if (!all.list || (!all.foms && all.fom_count > 0)) {
        apapi_regions_clear(&all);
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < sums->keys.count; i++) {
        struct region_sum sum = sums->rows[i];

        regions_seal(&sum);
        all.list[all.count++] = sum.region;
    }
    qsort(all.list, all.count, sizeof *all.list, regions_order);
    regions_cut(&all, max);
    *result = all;
    return 0;
}

void region_sums_free(struct region_sums *sums)
{
    pool_free(&sums->keys);
    free(sums->rows);
    *sums = (struct region_sums){0};
}

/* --- shares ----------------------------------------------------------------------------------- */

static void share_sum_word(char word[APAPI_SHARE_WORD_SIZE], const char *other)
{
    if (strcmp(word, other) != 0) {
        snprintf(word, APAPI_SHARE_WORD_SIZE, "mixed");
    }
}

static void share_sum_join(struct apapi_share *sum, const struct apapi_share *share)
{
    share_sum_word(sum->method, share->method);
    if (share_has_idle(share)) {
        memcpy(sum->idle, share->idle, sizeof sum->idle);
    } else if (!share_has_idle(sum)) {
        share_sum_word(sum->idle, share->idle);
    }
    sum->slices |= share->slices;
    sum->interval_ns =
        share->interval_ns > sum->interval_ns ? share->interval_ns : sum->interval_ns;
    sum->tail_ns = share->tail_ns > sum->tail_ns ? share->tail_ns : sum->tail_ns;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_share_energy *own = &sum->domains[d];
        const struct apapi_share_energy *more = &share->domains[d];

        sum_plus(more->energy_j, more->uncertainty_j, &own->energy_j, &own->uncertainty_j);
        own->idle_j = known_plus(own->idle_j, more->idle_j);
        own->idle_w = known_plus(own->idle_w, more->idle_w);
    }
}

void share_sum_add(struct share_sum *sum, const struct apapi_share *share)
{
    if (apapi_share_known(share)) {
        if (sum->nodes++ == 0) {
            sum->share = *share;
        } else {
            share_sum_join(&sum->share, share);
        }
    } else if (share->reason[0]) {
        sum->lacking++;
        if (sum->nodes == 0) {
            sum->share = *share;
        }
    }
}
