/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/array.h"
#include "record/fields.h"
#include "record/members.h"
#include "record/record.h"
#include "record/shorten.h"

#define LINE_SIZE 6144 /* of a typical node, with its newline */
#define JOINS_MAX 2    /* 120 bins, 60, 30 */

static int encode_put_domain(json_t *object, const void *measurement, size_t d)
{
    const struct apapi_domain_result *domain =
        &((const struct apapi_measurement *)measurement)->domains[d];

    return domain->measured ? fields_encode(object, fields_of_domain, domain) : FIELDS_NONE;
}

static int encode_put_total(json_t *root, const struct apapi_measurement *m)
{
    const struct apapi_domain_result total = {
        .measured = true,
        .energy_j = apapi_measurement_total_j(m),
        .uncertainty_j = NAN, /* in the trust block */
        .covered = coverage_of_total(m),
        .rest_j = coverage_rest_j(m),
        .power_w = {.min = NAN, .mean = apapi_measurement_total_w(m), .max = NAN, .p95 = NAN}};
    uint32_t missing = domain_list_adding_up(m->unknown_domains);
    json_t *object;

    if (isnan(total.energy_j) && isnan(total.power_w.mean)) {
        return FIELDS_WRITTEN;
    }
    object = fields_object(fields_of_domain, &total);
    if (field_put(root, "total", object) < 0) {
        return FIELDS_OUT_OF_MEMORY;
    }
    return missing ? field_put(object, "missing_domains", domain_list_json(missing))
                   : FIELDS_WRITTEN;
}

static int encode_put_event(json_t *object, const void *component, size_t i)
{
    return fields_encode(object, fields_of_event,
                         &((const struct apapi_component_result *)component)->events[i]);
}

static int encode_put_component(json_t *object, const void *measurement, size_t i)
{
    const struct apapi_component_result *component =
        &((const struct apapi_measurement *)measurement)->components[i];
    int rc = fields_encode(object, fields_of_component, component);

    if (rc < 0) {
        return rc;
    }
    /* exactly one of the two keys says whether it was measured */
    if (component->measured) {
        rc = field_put_text(object, "source", component->source);
    } else if (json_object_del(object, "source") == 0 || component->reason[0] == '\0') {
        rc = field_put_text(object, "reason", component->reason);
    }
    return rc == FIELDS_WRITTEN && (component->measured || component->event_count > 0)
               ? fields_put_list(object, "events", component->event_count, encode_put_event,
                                 component)
               : rc;
}

static uint64_t missed_ticks(const struct apapi_measurement *m)
{
    uint64_t missed = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        missed += m->components[i].missed;
    }
    return missed;
}

static int encode_put_trust(json_t *root, const struct apapi_measurement *m)
{
    const struct apapi_incidents sum = apapi_measurement_incidents(m);
    const struct {
        const char *key;
        uint64_t count;
    } counts[] = {{"samples", sum.samples}, {"failed", sum.failed},     {"wraps", sum.wraps},
                  {"resets", sum.resets},   {"refused", sum.refused},   {"gaps", sum.gaps},
                  {"stalls", sum.stalls},   {"missed", missed_ticks(m)}};
    json_t *trust = fields_object(fields_of_trust, m);
    int rc = field_put(root, "trust", trust);

    if (rc == FIELDS_WRITTEN && m->unknown_domains) {
        rc = field_put(trust, "unknown_domains", domain_list_json(m->unknown_domains));
    }
    if (rc == FIELDS_WRITTEN) {
        rc = field_put_rough(trust, "uncertainty_j", apapi_record_uncertainty_j(m));
    }
    for (size_t i = 0; i < COUNT_OF(counts) && rc == FIELDS_WRITTEN; i++) {
        rc = field_put_count(trust, counts[i].key, counts[i].count);
    }
    if (rc == FIELDS_WRITTEN && sum.rough > 0) {
        rc = field_put_count(trust, "rough", sum.rough);
    }
    return rc;
}

static int encode_put_crossing(json_t *object, const void *record, size_t i)
{
    return fields_encode(object, fields_of_crossing,
                         &((const struct apapi_record *)record)->crossing[i]);
}

/* Without thresholds, a record has no such keys. */
static int encode_put_crossings(json_t *root, const struct apapi_record *record)
{
    if (record->crossing_count == 0) {
        return FIELDS_WRITTEN;
    }
    if (fields_put_list(root, "crossings", record->crossing_count, encode_put_crossing, record) <
        0) {
        return FIELDS_OUT_OF_MEMORY;
    }
    return record->crossings > record->crossing_count
               ? field_put_count(root, "crossings_total", record->crossings)
               : FIELDS_WRITTEN;
}

static int put_record(json_t *root, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;

    if (field_put(root, "apapi", json_integer(APAPI_RECORD_VERSION)) < 0 ||
        fields_encode(root, fields_of_record, record) < 0 ||
        field_put_moment(root, "end", record_end_ns(m)) < 0 ||
        fields_put_domains(root, "domains", encode_put_domain, m) < 0 ||
        encode_put_total(root, m) < 0 ||
        fields_put_list(root, "components", m->component_count, encode_put_component, m) < 0 ||
        timelines_encode(root, m, 0) < 0 || encode_put_trust(root, m) < 0 ||
        encode_put_crossings(root, record) < 0 || share_encode(root, &record->share) < 0) {
        return FIELDS_OUT_OF_MEMORY;
    }
    return FIELDS_WRITTEN;
}

static char *dump(const json_t *root)
{
    return fields_dump(root, JSON_COMPACT | JSON_REAL_PRECISION(FIELD_FIGURES));
}

static char *dump_whole(json_t *root, const struct apapi_record *record)
{
    return put_record(root, record) == FIELDS_WRITTEN &&
                   regions_encode(root, &record->regions, true) == FIELDS_WRITTEN
               ? dump(root)
               : NULL;
}

static bool is_too_long(const char *line)
{
    return line && strlen(line) + 1 > LINE_SIZE;
}

/* Join bins of the timeline if that makes the line short enough. */
static char *join_bins(json_t *root, const struct apapi_measurement *m, char *line)
{
    for (unsigned joins = 0; joins <= JOINS_MAX && is_too_long(line); joins++) {
        char *shorter = timelines_encode(root, m, joins) < 0 ? NULL : dump(root);

        if (is_too_long(shorter)) {
            free(shorter);
        } else {
            free(line);
            line = shorter;
        }
    }
    return line;
}

/* The number of regions does not change what else is in the line. */
static char *append_regions(char *line, const struct apapi_regions *regions)
{
    char *text = regions_text(regions), *whole = NULL;

    if (text && asprintf(&whole, "%.*s,%s", (int)strlen(line) - 1, line, text + 1) < 0) {
        whole = NULL;
    }
    free(text);
    free(line);
    return whole;
}

/* Shorten a line that is too long: wider bins first, then no list of nodes. */
static char *dump_short(json_t *root, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    bool failed = put_record(root, record) < 0 || shorten_record(root, record) < 0;
    char *line = failed ? NULL : dump(root);

    line = join_bins(root, m, line);
    if (is_too_long(line) && json_object_del(root, "nodelist") == 0) {
        line = join_bins(root, m, line);
    }
    return line && regions_exist(&record->regions) ? append_regions(line, &record->regions) : line;
}

static int encode(const struct apapi_record *record,
                  char *(*dump_record)(json_t *, const struct apapi_record *), char **line,
                  struct apapi_error *err)
{
    json_t *root = json_object();
    char *text = root ? dump_record(root, record) : NULL;

    json_decref(root);
    if (!text) {
        return apapi_fail(err, ENOMEM, "record: out of memory");
    }
    *line = text;
    return 0;
}

int apapi_record_encode(const struct apapi_record *record, char **line, struct apapi_error *err)
{
    return encode(record, dump_short, line, err);
}

int apapi_record_encode_whole(const struct apapi_record *record, char **line,
                              struct apapi_error *err)
{
    return encode(record, dump_whole, line, err);
}
