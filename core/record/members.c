/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/members.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/clock.h"

/* --- energies by domain ----------------------------------------------------------------------- */

double energies_sum(const void *first, size_t size, enum energies_member member)
{
    double sum_j = 0;
    bool any = false;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const double *energy = (const void *)((const char *)first + (size_t)d * size);

        if (apapi_domain_adds_up(d) && !isnan(*energy)) {
            sum_j += energy[member];
            any = true;
        }
    }
    return any ? sum_j : NAN;
}

/* --- regions ---------------------------------------------------------------------------------- */

bool regions_exist(const struct apapi_regions *regions)
{
    const struct apapi_region_losses none = {0};

    return regions->count > 0 || regions->fom_count > 0 ||
           memcmp(&regions->losses, &none, sizeof(none)) != 0;
}

bool foms_add(struct fom_sums *sums, const struct apapi_fom *fom)
{
    size_t i = 0;

    while (i < sums->count && (strcmp(sums->list[i].name, fom->name) != 0 ||
                               strcmp(sums->list[i].unit, fom->unit) != 0)) {
        i++;
    }
    /* a record with a value that is not finite would be refused */
    if (i == APAPI_FOMS_MAX || (i < sums->count && !isfinite(sums->list[i].value + fom->value))) {
        return false;
    }
    if (i == sums->count) {
        sums->list[sums->count++] = *fom;
    } else {
        sums->list[i].value += fom->value;
        sums->list[i].programs = known_total(sums->list[i].programs, fom->programs);
    }
    return true;
}

struct apapi_region_result region_unmeasured(void)
{
    struct apapi_region_result region = {.programs = APAPI_UNKNOWN, .threads = APAPI_UNKNOWN};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        region.domains[d] = (struct apapi_region_energy){NAN, NAN, NAN};
    }
    return region;
}

double region_power_w(const struct apapi_region_result *region, enum apapi_domain domain)
{
    return region->time_ns > 0
               ? region->domains[domain].energy_j * NS_PER_S / (double)region->time_ns
               : NAN;
}

static const struct field fields_of_region_energy[] = {
    FIELD_OF(apapi_region_energy, "energy_j", AMOUNT, false, energy_j),
    FIELD_OF(apapi_region_energy, "uncertainty_j", ROUGH, false, uncertainty_j),
    FIELD_OF(apapi_region_energy, "power_w", MEASURED, false, power_w), FIELD_END};

static const struct field fields_of_region[] = {
    FIELD_TEXT_OF(apapi_region_result, "name", false, path),
    FIELD_OF(apapi_region_result, "kind", REGION, false, kind),
    FIELD_OF(apapi_region_result, "method", METHOD, true, method),
    FIELD_TEXT_OF(apapi_region_result, "reason", false, reason),
    FIELD_OF(apapi_region_result, "count", COUNT, false, count),
    FIELD_OF(apapi_region_result, "programs", NUMBER, false, programs),
    FIELD_OF(apapi_region_result, "threads", NUMBER, false, threads),
    FIELD_OF(apapi_region_result, "time_s", DURATION, true, time_ns),
    FIELD_DOMAINS_OF(apapi_region_result, "domains", false, domains, fields_of_region_energy, NULL),
    FIELD_END};

static const struct field fields_of_fom[] = {
    FIELD_TEXT_OF(apapi_fom, "name", true, name),
    FIELD_OF(apapi_fom, "value", MEASURED, true, value),
    FIELD_TEXT_OF(apapi_fom, "unit", false, unit),
    FIELD_OF(apapi_fom, "programs", NUMBER, false, programs), FIELD_END};

static const struct field fields_of_losses[] = {
    FIELD_OF(apapi_region_losses, "regions", COUNT, false, regions),
    FIELD_OF(apapi_region_losses, "names", COUNT, false, names),
    FIELD_OF(apapi_region_losses, "threads", COUNT, false, threads),
    FIELD_OF(apapi_region_losses, "programs", COUNT, false, programs),
    FIELD_OF(apapi_region_losses, "refused", COUNT, false, refused),
    FIELD_OF(apapi_region_losses, "misuses", COUNT, false, misuses),
    FIELD_END};

static void write_bins(struct json_writer *json, const void *structure)
{
    const struct apapi_region_result *region = structure;

    if (region->bins > 0) {
        json_begin_object(json, "bins");
        json_put_number(json, "bin_s", (double)region->bin_ns / NS_PER_S, JSON_EXACT);
        json_begin_array(json, "share_pct");
        for (uint32_t i = 0; i < region->bins; i++) {
            json_put_integer(json, NULL, region->share_pct[i]);
        }
        json_end(json);
        json_end(json);
    }
}

static int read_bins(const struct tree_node *object, void *structure, const struct field_path *path)
{
    struct apapi_region_result *region = structure;
    const struct tree_node *bins = tree_get(object, "bins"), *shares = tree_get(bins, "share_pct");
    const struct tree_node *share = NULL;
    double bin_ns = tree_number(tree_get(bins, "bin_s")) * NS_PER_S;

    if (!bins) {
        return 0;
    }
    if (!shares || shares->type != TREE_ARRAY || shares->size > APAPI_REGION_BINS ||
        !(bin_ns >= 1 && bin_ns < 1e18)) {
        return field_fail(path, "bins", "not a width and at most 60 shares");
    }
    for (uint32_t i = 0; (share = tree_each(shares, share)); i++) {
        double pct = tree_is_number(share) ? tree_number(share) : -1;

        if (!(pct >= 0 && pct <= 100)) {
            return field_fail(path, "bins", "a share that is no percentage");
        }
        region->share_pct[i] = (uint8_t)pct;
    }
    region->bins = shares->size;
    region->bin_ns = (uint64_t)(bin_ns + 0.5);
    return 0;
}

const struct field fields_of_regions[] = {
    {.key = "regions",
     .form = FIELD_LIST,
     .offset = offsetof(struct apapi_regions, list),
     .size = sizeof(struct apapi_region_result),
     .fields = fields_of_region,
     .count = offsetof(struct apapi_regions, count),
     .read = read_bins,
     .write = write_bins},
    FIELD_LIST_OF(apapi_regions, "foms", false, foms, fom_count, fields_of_fom, NULL),
    {.key = "regions_lost",
     .form = FIELD_OBJECT,
     .offset = offsetof(struct apapi_regions, losses),
     .fields = fields_of_losses},
    FIELD_END};

/* --- names ------------------------------------------------------------------------------------ */

double apapi_region_energy_j(const struct apapi_region_result *region)
{
    return energies_sum(region->domains, sizeof region->domains[0], ENERGIES_J);
}

void apapi_regions_clear(struct apapi_regions *regions)
{
    int saved = errno;

    if (regions) {
        free(regions->list);
        free(regions->foms);
        memset(regions, 0, sizeof(*regions));
    }
    errno = saved;
}

/* --- share ------------------------------------------------------------------------------------ */

struct apapi_share apapi_share_unknown(void)
{
    struct apapi_share share = {.method = ""};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        share.domains[d] = (struct apapi_share_energy){NAN, NAN, NAN, NAN};
    }
    return share;
}

bool apapi_share_known(const struct apapi_share *share)
{
    return share->method[0] != '\0';
}

bool share_has_idle(const struct apapi_share *share)
{
    return strcmp(share->idle, "included") == 0;
}

static double share_sum_of(const struct apapi_share *share, enum energies_member member)
{
    return apapi_share_known(share) ? energies_sum(share->domains, sizeof share->domains[0], member)
                                    : NAN;
}

double apapi_share_energy_j(const struct apapi_share *share)
{
    return share_sum_of(share, ENERGIES_J);
}

double apapi_share_uncertainty_j(const struct apapi_share *share)
{
    return share_sum_of(share, ENERGIES_UNCERTAINTY_J);
}

static const struct field fields_of_share_energy[] = {
    FIELD_OF(apapi_share_energy, "energy_j", AMOUNT, true, energy_j),
    FIELD_OF(apapi_share_energy, "uncertainty_j", ROUGH, false, uncertainty_j),
    FIELD_OF(apapi_share_energy, "idle_j", AMOUNT, false, idle_j),
    FIELD_OF(apapi_share_energy, "idle_w", ROUGH, false, idle_w), FIELD_END};

static const struct field fields_of_share[] = {
    FIELD_TEXT_OF(apapi_share, "method", false, method),
    FIELD_TEXT_OF(apapi_share, "idle", false, idle),
    FIELD_TEXT_OF(apapi_share, "reason", false, reason),
    FIELD_OF(apapi_share, "slices", FLAG, false, slices),
    FIELD_OF(apapi_share, "interval_s", DURATION, false, interval_ns),
    FIELD_OF(apapi_share, "tail_s", DURATION, false, tail_ns),
    FIELD_END};

static const struct field fields_of_share_domains[] = {
    FIELD_DOMAINS_OF(apapi_share, "domains", true, domains, fields_of_share_energy, NULL),
    FIELD_END};

void share_write(struct json_writer *json, const struct apapi_share *share, size_t missing_nodes)
{
    const struct apapi_share_energy total = {apapi_share_energy_j(share),
                                             apapi_share_uncertainty_j(share), NAN, NAN};

    if (!apapi_share_known(share) && !*share->reason) {
        return;
    }
    json_begin_object(json, "share");
    fields_write(json, fields_of_share, share);
    if (apapi_share_known(share)) {
        fields_write(json, fields_of_share_domains, share);
    }
    if (!isnan(total.energy_j)) {
        json_begin_object(json, "total");
        fields_write(json, fields_of_share_energy, &total);
        json_end(json);
    }
    if (missing_nodes > 0) {
        json_put_count(json, "missing_nodes", missing_nodes);
    }
    json_end(json);
}

int share_decode(const struct tree_node *object, struct apapi_share *share,
                 const struct field_path *path)
{
    const struct field_path here = {path, "share", NULL, path->err};

    *share = apapi_share_unknown();
    if (!object) {
        return 0;
    }
    if (fields_decode(object, fields_of_share, share, &here) < 0) {
        return -1;
    }
    if (!apapi_share_known(share)) {
        return share->reason[0] ? 0 : field_fail(&here, "method", "is missing, without a reason");
    }
    return fields_decode(object, fields_of_share_domains, share, &here);
}

/* --- timeline --------------------------------------------------------------------------------- */

/*
 * "timeline":{"bin_s":0.64,"package":{"unit_j":0.1,"n":[362,363,null],"covered_pct":{"1":50}}}
 * Energies are integer multiples of unit_j, rounded so that the sum up to each bin is right.
 */

#define STEPS_MAX 999    /* most units in the greatest bin, unless STEPS_TOTAL needs more */
#define STEPS_TOTAL 1000 /* least units in all bins together: half a unit is 0.05 % at most */
#define COVERED_PCT 99.9 /* a bin with at least this coverage counts as fully covered */

/* Domains within another one have no timeline, to keep the record short. */
static bool has_timeline(const struct apapi_measurement *m, int domain)
{
    return m->domains[domain].measured && m->domains[domain].timeline.count > 0 &&
           domain != APAPI_DOMAIN_CORE && domain != APAPI_DOMAIN_UNCORE;
}

double timeline_unit_j(const struct apapi_timeline *timeline)
{
    double total_j = apapi_timeline_energy_j(timeline), greatest_j = 0;
    int exponent;

    for (size_t i = 0; i < timeline->count; i++) {
        greatest_j = fmax(greatest_j, timeline->energy_j[i]);
    }
    if (greatest_j <= 0) {
        return 1;
    }
    exponent = (int)ceil(log10(greatest_j / STEPS_MAX));
    while (total_j < STEPS_TOTAL * pow(10, exponent)) {
        exponent--;
    }
    return pow(10, exponent);
}

static void write_energies(struct json_writer *json, const struct apapi_timeline *timeline,
                           double unit_j)
{
    double sum_j = 0;
    int64_t written = 0;

    json_begin_array(json, "n");
    for (size_t i = 0; i < timeline->count; i++) {
        int64_t until;

        sum_j += timeline->energy_j[i];
        until = (int64_t)llround(sum_j / unit_j);
        if (timeline->covered_pct[i] > 0) {
            json_put_integer(json, NULL, until - written);
            written = until;
        } else {
            json_put_number(json, NULL, NAN, JSON_EXACT); /* null */
        }
    }
    json_end(json);
}

void timeline_write(struct json_writer *json, const struct apapi_timeline *timeline)
{
    double unit_j = timeline_unit_j(timeline);

    json_put_number(json, "unit_j", unit_j, JSON_EXACT);
    write_energies(json, timeline, unit_j);
    json_begin_object(json, "covered_pct");
    for (size_t i = 0; i < timeline->count; i++) {
        double pct = timeline->covered_pct[i];
        char bin[24];

        if (pct > 0 && pct < COVERED_PCT) {
            snprintf(bin, sizeof bin, "%zu", i);
            json_put_integer(json, bin, (int64_t)ceil(pct));
        }
    }
    json_end_or_drop(json);
}

void timelines_write(struct json_writer *json, const struct apapi_measurement *m)
{
    uint64_t bin_ns = 0;

    for (int i = 0; i < APAPI_DOMAINS; i++) {
        if (has_timeline(m, i) && m->domains[i].timeline.bin_ns > bin_ns) {
            bin_ns = m->domains[i].timeline.bin_ns;
        }
    }
    if (bin_ns == 0) {
        return;
    }
    json_begin_object(json, "timeline");
    json_put_number(json, "bin_s", (double)bin_ns / NS_PER_S, JSON_EXACT);
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        struct apapi_timeline timeline = m->domains[i].timeline;

        if (has_timeline(m, i)) {
            apapi_timeline_coarsen(&timeline, bin_ns);
            json_begin_object(json, apapi_domain_name(i));
            timeline_write(json, &timeline);
            json_end(json);
        }
    }
    json_end(json);
}

/* Each of the following readers returns NULL, or what is wrong. */

static const char *read_coverage(const struct tree_node *coverage, struct apapi_timeline *timeline)
{
    if (coverage && coverage->type != TREE_OBJECT) {
        return "covered_pct: not an object";
    }
    for (const struct tree_node *key = NULL; (key = tree_each(coverage, key));) {
        double pct = tree_number(key + 1);
        char *end;
        unsigned long bin = strtoul(key->text, &end, 10);

        if (*key->text < '0' || *key->text > '9' || *end || bin >= timeline->count) {
            return "covered_pct: not a bin";
        }
        if (pct <= 0 || pct > 100) {
            return "covered_pct: not a share from 0 to 100";
        }
        timeline->covered_pct[bin] = (float)pct;
    }
    return NULL;
}

static const char *read_energies(const struct tree_node *array, double unit_j,
                                 struct apapi_timeline *timeline)
{
    const struct tree_node *value = NULL;

    if (!tree_is(array, TREE_ARRAY) || array->size == 0 || array->size > APAPI_TIMELINE_BINS) {
        return "n: not an array of 1 to 120 bins";
    }
    for (uint32_t i = 0; (value = tree_each(array, value)); i++) {
        if (value->type == TREE_NULL) {
            continue;
        }
        if (value->type != TREE_INTEGER || value->integer < 0) {
            return "n: not a whole number or null";
        }
        timeline->energy_j[i] = (float)((double)value->integer * unit_j);
        timeline->covered_pct[i] = 100;
    }
    timeline->count = array->size;
    return NULL;
}

/* The length of a timeline is the record's, except for the rounding of elapsed_s. */
static const char *fit_length(struct apapi_timeline *timeline, uint64_t elapsed_ns)
{
    uint64_t longest_ns = timeline->count * timeline->bin_ns;

    if (elapsed_ns > longest_ns + timeline->bin_ns ||
        elapsed_ns + 2 * timeline->bin_ns <= longest_ns) {
        return "n: bins of another length than the record";
    }
    timeline->length_ns = elapsed_ns < longest_ns ? elapsed_ns : longest_ns;
    if (timeline->length_ns <= longest_ns - timeline->bin_ns) {
        timeline->length_ns = longest_ns - timeline->bin_ns + 1;
    }
    return NULL;
}

static const char *timeline_decode(const struct tree_node *object, uint64_t bin_ns,
                                   uint64_t elapsed_ns, struct apapi_timeline *timeline)
{
    double unit_j = tree_number(tree_get(object, "unit_j"));
    const char *problem;

    if (unit_j <= 0) {
        return "unit_j: not above 0";
    }
    *timeline = (struct apapi_timeline){.bin_ns = bin_ns};
    problem = read_energies(tree_get(object, "n"), unit_j, timeline);
    problem = problem ? problem : fit_length(timeline, elapsed_ns);
    return problem ? problem : read_coverage(tree_get(object, "covered_pct"), timeline);
}

/* Three years. All bins together are centuries, whose nanoseconds still fit into 64 bits. */
#define BIN_MAX_S 1e8

int timelines_decode(const struct tree_node *object, struct apapi_measurement *m,
                     const struct field_path *path)
{
    const struct field_path inner = {path, "timeline", NULL, path->err};
    const double bin_s = tree_number(tree_get(object, "bin_s"));

    if (!object) {
        return 0;
    }
    if (!(bin_s * NS_PER_S >= 1) || bin_s > BIN_MAX_S) {
        return field_fail(&inner, "bin_s", "not a width in seconds");
    }
    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS; i++) {
        const struct tree_node *one = tree_get(object, apapi_domain_name(i));
        const char *problem = one ? timeline_decode(one, (uint64_t)(bin_s * NS_PER_S + 0.5),
                                                    m->elapsed_ns, &m->domains[i].timeline)
                                  : NULL;

        if (problem) {
            return field_fail(&inner, apapi_domain_name(i), problem);
        }
    }
    return 0;
}
