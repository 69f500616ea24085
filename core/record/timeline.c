/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "timeline":{"bin_s":0.64,"package":{"unit_j":0.1,"n":[362,363,null],"covered_pct":{"1":50}}}
 * Energies are integer multiples of unit_j. Each is rounded so that the sum up to it is right.
 */
#include "record/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/measurement.h"
#include "base/clock.h"

#define STEPS_MAX 999    /* in the greatest bin */
#define STEPS_TOTAL 1000 /* in all bins: half a step is 0.05 % */
#define COVERED_PCT 99.9 /* a bin with at least this coverage counts as fully covered */

/* Domains within another one have no timeline, to keep the record short. */
static bool has_timeline(const struct apapi_measurement *m, int domain)
{
    return m->domains[domain].measured && m->domains[domain].timeline.count > 0 &&
           domain != APAPI_DOMAIN_CORE && domain != APAPI_DOMAIN_UNCORE;
}

static double choose_unit_j(const struct apapi_timeline *timeline)
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

static int put_energies(json_t *object, const struct apapi_timeline *timeline, double unit_j)
{
    json_t *array = json_array();
    int rc = json_object_set_new(object, "n", array);
    double sum_j = 0;
    json_int_t written = 0;

    for (size_t i = 0; i < timeline->count && rc == 0; i++) {
        json_int_t until;
        json_t *value = json_null();

        sum_j += timeline->energy_j[i];
        until = (json_int_t)llround(sum_j / unit_j);
        if (timeline->covered_pct[i] > 0) {
            value = json_integer(until - written);
            written = until;
        }
        rc = json_array_append_new(array, value);
    }
    return rc;
}

static int put_coverage(json_t *object, const struct apapi_timeline *timeline)
{
    json_t *coverage = json_object();
    int rc = json_object_set_new(object, "covered_pct", coverage);

    for (size_t i = 0; i < timeline->count && rc == 0; i++) {
        char bin[24];
        double pct = timeline->covered_pct[i];

        if (pct > 0 && pct < COVERED_PCT) {
            snprintf(bin, sizeof bin, "%zu", i);
            rc = json_object_set_new(coverage, bin, json_integer((json_int_t)ceil(pct)));
        }
    }
    fields_drop_empty(object, "covered_pct");
    return rc;
}

int timeline_encode(json_t *object, const struct apapi_timeline *timeline)
{
    double unit_j = choose_unit_j(timeline);

    return json_object_set_new(object, "unit_j", json_real(unit_j)) ||
           put_energies(object, timeline, unit_j) || put_coverage(object, timeline);
}

static uint64_t record_timeline_widest_bin_ns(const struct apapi_measurement *m)
{
    uint64_t widest_ns = 0;

    for (int i = 0; i < APAPI_DOMAINS; i++) {
        if (has_timeline(m, i) && m->domains[i].timeline.bin_ns > widest_ns) {
            widest_ns = m->domains[i].timeline.bin_ns;
        }
    }
    return widest_ns;
}

static int record_timeline_put_domains(json_t *object, const struct apapi_measurement *m,
                                       uint64_t bin_ns)
{
    int rc = 0;

    for (int i = 0; i < APAPI_DOMAINS && rc == 0; i++) {
        struct apapi_timeline timeline = m->domains[i].timeline;
        json_t *domain = has_timeline(m, i) ? json_object() : NULL;

        if (has_timeline(m, i)) {
            apapi_timeline_coarsen(&timeline, bin_ns);
            rc = json_object_set_new(object, apapi_domain_name(i), domain) ||
                 timeline_encode(domain, &timeline);
        }
    }
    return rc;
}

int timelines_encode(json_t *root, const struct apapi_measurement *m, unsigned joins)
{
    uint64_t bin_ns = record_timeline_widest_bin_ns(m) << joins;
    json_t *object;

    if (bin_ns == 0) {
        return 0;
    }
    object = json_object();
    return json_object_set_new(root, "timeline", object) ||
                   json_object_set_new(object, "bin_s", json_real((double)bin_ns / NS_PER_S)) ||
                   record_timeline_put_domains(object, m, bin_ns)
               ? -1
               : 0;
}

/* Each reader returns NULL, or what is wrong. */

static const char *read_coverage(const struct tree_node *coverage, struct apapi_timeline *timeline)
{
    const struct tree_node *key;

    if (!coverage) {
        return NULL;
    }
    if (coverage->type != TREE_OBJECT) {
        return "covered_pct: not an object";
    }
    key = tree_first(coverage);
    for (uint32_t i = 0; i < coverage->size; i++, key = tree_next(key + 1)) {
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
    const struct tree_node *value;

    if (!tree_is(array, TREE_ARRAY) || array->size == 0 || array->size > APAPI_TIMELINE_BINS) {
        return "n: not an array of 1 to 120 bins";
    }
    value = tree_first(array);
    for (uint32_t i = 0; i < array->size; i++, value = tree_next(value)) {
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

/* The length is the record's, up to the rounding of elapsed_s. */
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

static const char *record_timeline_read_one(const struct tree_node *object, uint64_t bin_ns,
                                            uint64_t elapsed_ns, struct apapi_timeline *result)
{
    struct apapi_timeline timeline = {.bin_ns = bin_ns};
    double unit_j = tree_number(tree_get(object, "unit_j"));
    const char *problem;

    if (unit_j <= 0) {
        return "unit_j: not above 0";
    }
    problem = read_energies(tree_get(object, "n"), unit_j, &timeline);
    if (!problem) {
        problem = fit_length(&timeline, elapsed_ns);
    }
    if (!problem) {
        problem = read_coverage(tree_get(object, "covered_pct"), &timeline);
    }
    if (!problem) {
        *result = timeline;
    }
    return problem;
}

/* Centuries in nanoseconds; fits into 64 bits even when multiplied by the number of bins. */
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
        const char *problem =
            one ? record_timeline_read_one(one, (uint64_t)(bin_s * NS_PER_S + 0.5), m->elapsed_ns,
                                           &m->domains[i].timeline)
                : NULL;

        if (problem) {
            return field_fail(&inner, apapi_domain_name(i), problem);
        }
    }
    return 0;
}

int timelines_parse(const char *text, size_t size, struct apapi_measurement *m)
{
    const struct field_path nowhere = {NULL, "", NULL, NULL};
    struct tree_problem problem;
    struct tree tree = {0};
    int result = tree_parse(&tree, text, size, &problem);

    if (result == 0) {
        result = timelines_decode(tree.nodes, m, &nowhere);
    }
    tree_free(&tree);
    return result;
}
