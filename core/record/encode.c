/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "record/fields.h"
#include "record/text.h"
#include "record/timestamp.h"

#define DIGITS_WRITTEN 15 /* as many as every decimal number keeps in a double */
#define DIGITS_MEASURED 9
#define DIGITS_ROUGH 6
#define NS_PER_S 1e9

enum outcome { WRITTEN = 0, OUT_OF_MEMORY = -1 };

static int put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) < 0 ? OUT_OF_MEMORY : WRITTEN;
}

static int put_text(json_t *object, const char *key, const char *text)
{
    char valid[1024];

    text_utf8(valid, sizeof(valid), text);
    return put(object, key, json_string(valid));
}

static int put_count(json_t *object, const char *key, uint64_t count)
{
    char digits[24];

    if (count <= INT64_MAX) {
        return put(object, key, json_integer((json_int_t)count));
    }
    snprintf(digits, sizeof(digits), "%" PRIu64, count);
    return put(object, key, json_string(digits));
}

static int put_rounded(json_t *object, const char *key, double value, int figures)
{
    char digits[32];

    if (!isfinite(value)) {
        return WRITTEN;
    }
    snprintf(digits, sizeof(digits), "%.*g", figures, value);
    return put(object, key, json_real(strtod(digits, NULL)));
}

static int put_exact(json_t *object, const char *key, double value)
{
    return isfinite(value) ? put(object, key, json_real(value)) : WRITTEN;
}

static int put_moment(json_t *object, const char *key, int64_t unix_ns)
{
    char text[TIMESTAMP_SIZE];

    timestamp_format(text, sizeof(text), unix_ns);
    return put(object, key, json_string(text));
}

static bool is_unknown(const struct field *field, const void *member)
{
    switch (field->form) {
    case FIELD_TEXT:
        return *(const char *)member == '\0';
    case FIELD_NUMBER:
        return *(const uint32_t *)member == APAPI_UNKNOWN;
    case FIELD_COUNT:
    case FIELD_DURATION:
        return *(const uint64_t *)member == 0;
    case FIELD_EXACT:
        return *(const double *)member == 0;
    case FIELD_FLAG:
        return !*(const bool *)member;
    case FIELD_DOMAIN:
        return *(const enum apapi_domain *)member == APAPI_DOMAIN_NONE;
    default:
        return false;
    }
}

static int put_field(json_t *object, const struct field *field, const void *member)
{
    switch (field->form) {
    case FIELD_TEXT:
        return put_text(object, field->key, member);
    case FIELD_NUMBER:
        return put(object, field->key, json_integer(*(const uint32_t *)member));
    case FIELD_COUNT:
        return put_count(object, field->key, *(const uint64_t *)member);
    case FIELD_DURATION:
        return put(object, field->key, json_real((double)*(const uint64_t *)member / NS_PER_S));
    case FIELD_MEASURED:
    case FIELD_AMOUNT:
        return put_rounded(object, field->key, *(const double *)member, DIGITS_MEASURED);
    case FIELD_ROUGH:
        return put_rounded(object, field->key, *(const double *)member, DIGITS_ROUGH);
    case FIELD_EXACT:
        return put_exact(object, field->key, *(const double *)member);
    case FIELD_FLAG:
        return put(object, field->key, json_boolean(*(const bool *)member));
    case FIELD_MOMENT:
        return put_moment(object, field->key, *(const int64_t *)member);
    case FIELD_KIND:
        return put_text(object, field->key, apapi_kind_name(*(const enum apapi_kind *)member));
    case FIELD_DOMAIN:
        return put_text(object, field->key, apapi_domain_name(*(const enum apapi_domain *)member));
    case FIELD_TYPE:
        return put_text(object, field->key, field_type_name(*(const enum apapi_type *)member));
    }
    return WRITTEN;
}

int fields_encode(json_t *object, const struct field *fields, const void *base)
{
    for (const struct field *field = fields; field->key; field++) {
        const void *member = (const char *)base + field->offset;

        if (!field->mandatory && is_unknown(field, member)) {
            continue;
        }
        if (put_field(object, field, member) < 0) {
            return OUT_OF_MEMORY;
        }
    }
    return WRITTEN;
}

static json_t *encode_struct(const struct field *fields, const void *base)
{
    json_t *object = json_object();

    if (object && fields_encode(object, fields, base) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int put_domains(json_t *root, const struct apapi_measurement *m)
{
    json_t *domains = json_object();
    int rc = put(root, "domains", domains);

    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS && rc == WRITTEN; i++) {
        if (m->domains[i].measured) {
            rc =
                put(domains, apapi_domain_name(i), encode_struct(fields_of_domain, &m->domains[i]));
        }
    }
    return rc;
}

static int put_total(json_t *root, const struct apapi_measurement *m)
{
    const struct apapi_domain_result total = {
        .measured = true,
        .energy_j = apapi_measurement_total_j(m),
        .uncertainty_j = NAN, /* in the trust block */
        .power_w = {.min = NAN, .mean = apapi_measurement_total_w(m), .max = NAN, .p95 = NAN}};

    if (isnan(total.energy_j) && isnan(total.power_w.mean)) {
        return WRITTEN;
    }
    return put(root, "total", encode_struct(fields_of_domain, &total));
}

static int put_events(json_t *object, const struct apapi_component_result *component)
{
    json_t *events = json_array();
    int rc = put(object, "events", events);

    for (size_t i = 0; i < component->event_count && rc == WRITTEN; i++) {
        if (json_array_append_new(events, encode_struct(fields_of_event, &component->events[i])) <
            0) {
            rc = OUT_OF_MEMORY;
        }
    }
    return rc;
}

static json_t *encode_component(const struct apapi_component_result *component)
{
    json_t *object = encode_struct(fields_of_component, component);
    int rc = WRITTEN;

    if (!object) {
        return NULL;
    }
    /* which of the two keys is there says whether it was measured */
    if (component->measured) {
        rc = put_text(object, "source", component->source);
    } else if (json_object_del(object, "source") == 0 || component->reason[0] == '\0') {
        rc = put_text(object, "reason", component->reason);
    }
    if (rc == WRITTEN && (component->measured || component->event_count > 0)) {
        rc = put_events(object, component);
    }
    if (rc == WRITTEN) {
        return object;
    }
    json_decref(object);
    return NULL;
}

static int put_components(json_t *root, const struct apapi_measurement *m)
{
    json_t *components = json_array();
    int rc = put(root, "components", components);

    for (size_t i = 0; i < m->component_count && rc == WRITTEN; i++) {
        if (json_array_append_new(components, encode_component(&m->components[i])) < 0) {
            rc = OUT_OF_MEMORY;
        }
    }
    return rc;
}

static uint64_t missed_ticks(const struct apapi_measurement *m)
{
    uint64_t missed = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        missed += m->components[i].missed;
    }
    return missed;
}

static int put_trust(json_t *root, const struct apapi_measurement *m)
{
    const struct apapi_incidents sum = apapi_measurement_incidents(m);
    const struct {
        const char *key;
        uint64_t count;
    } counts[] = {{"samples", sum.samples}, {"failed", sum.failed},     {"wraps", sum.wraps},
                  {"resets", sum.resets},   {"refused", sum.refused},   {"gaps", sum.gaps},
                  {"stalls", sum.stalls},   {"missed", missed_ticks(m)}};
    json_t *trust = encode_struct(fields_of_trust, m);
    int rc = put(root, "trust", trust);

    if (rc == WRITTEN) {
        rc = put_rounded(trust, "uncertainty_j", apapi_record_uncertainty_j(m), DIGITS_ROUGH);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && rc == WRITTEN; i++) {
        rc = put_count(trust, counts[i].key, counts[i].count);
    }
    return rc;
}

static int put_record(json_t *root, const struct apapi_record *record)
{
    if (put(root, "apapi", json_integer(APAPI_RECORD_VERSION)) < 0 ||
        fields_encode(root, fields_of_record, record) < 0 ||
        put_domains(root, &record->measurement) < 0 || put_total(root, &record->measurement) < 0 ||
        put_components(root, &record->measurement) < 0 ||
        put_trust(root, &record->measurement) < 0) {
        return OUT_OF_MEMORY;
    }
    return WRITTEN;
}

int apapi_record_encode(const struct apapi_record *record, char **line, struct apapi_error *err)
{
    json_t *root = json_object();
    char *text = NULL;

    if (root && put_record(root, record) == WRITTEN) {
        text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS_WRITTEN));
    }
    json_decref(root);
    if (!text) {
        return apapi_fail(err, ENOMEM, "record: out of memory");
    }
    *line = text;
    return 0;
}
