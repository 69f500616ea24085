/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "apapi/record.h"
#include "base/clock.h"
#include "base/text.h"
#include "record/fields.h"

int field_put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) < 0 ? FIELDS_OUT_OF_MEMORY : FIELDS_WRITTEN;
}

json_t *field_text(const char *text)
{
    char valid[1024];

    text_utf8(valid, sizeof(valid), text);
    return json_string(valid);
}

int field_put_text(json_t *object, const char *key, const char *text)
{
    return field_put(object, key, field_text(text));
}

int field_put_count(json_t *object, const char *key, uint64_t count)
{
    char digits[24];

    if (count <= INT64_MAX) {
        return field_put(object, key, json_integer((json_int_t)count));
    }
    snprintf(digits, sizeof(digits), "%" PRIu64, count);
    return field_put(object, key, json_string(digits));
}

double field_rounded(double value, int figures)
{
    char digits[32];

    snprintf(digits, sizeof(digits), "%.*g", figures, value);
    return strtod(digits, NULL);
}

/* @param direction  1: not less than the value, -1: not greater */
static double rounded_to_side(double value, int figures, int direction)
{
    double nearest = field_rounded(value, figures);
    double step = pow(10, floor(log10(fabs(value))) - figures + 1);

    if (!isfinite(value) || (nearest - value) * direction >= 0) {
        return nearest;
    }
    return field_rounded(nearest + direction * step, figures);
}

int field_put_rounded(json_t *object, const char *key, double value, int figures)
{
    return isfinite(value) ? field_put(object, key, json_real(field_rounded(value, figures)))
                           : FIELDS_WRITTEN;
}

int field_put_measured(json_t *object, const char *key, double value)
{
    return field_put_rounded(object, key, value, FIELD_MEASURED_FIGURES);
}

int field_put_rough(json_t *object, const char *key, double value)
{
    return field_put_rounded(object, key, value, FIELD_ROUGH_FIGURES);
}

static int put_exact(json_t *object, const char *key, double value)
{
    return isfinite(value) ? field_put(object, key, json_real(value)) : FIELDS_WRITTEN;
}

int field_put_moment(json_t *object, const char *key, int64_t unix_ns)
{
    char text[TIMESTAMP_SIZE];

    timestamp_format(text, sizeof(text), unix_ns);
    return field_put(object, key, json_string(text));
}

static bool fields_encode_is_unknown(const struct field *field, const void *member)
{
    switch (field->form) {
    case FIELD_TEXT:
        return *(const char *)member == '\0';
    case FIELD_NUMBER:
        return *(const uint32_t *)member == APAPI_UNKNOWN;
    case FIELD_COUNT:
    case FIELD_DURATION:
        return *(const uint64_t *)member == 0;
    case FIELD_PART:
        return !(*(const double *)member > 0);
    case FIELD_EXACT:
        return *(const double *)member == 0;
    case FIELD_FLAG:
        return !*(const bool *)member;
    case FIELD_DOMAIN:
        return *(const enum apapi_domain *)member == APAPI_DOMAIN_NONE;
    case FIELD_REGION:
        return *(const enum apapi_region_kind *)member == APAPI_REGION_NAMED;
    default:
        return false;
    }
}

static int put_field(json_t *object, const struct field *field, const void *member)
{
    switch (field->form) {
    case FIELD_TEXT:
        return field_put_text(object, field->key, member);
    case FIELD_NUMBER:
        return field_put(object, field->key, json_integer(*(const uint32_t *)member));
    case FIELD_COUNT:
        return field_put_count(object, field->key, *(const uint64_t *)member);
    case FIELD_DURATION:
        return field_put(object, field->key,
                         json_real((double)*(const uint64_t *)member / NS_PER_S));
    case FIELD_MEASURED:
    case FIELD_AMOUNT:
        return field_put_rounded(object, field->key, *(const double *)member,
                                 FIELD_MEASURED_FIGURES);
    case FIELD_ROUGH:
    case FIELD_PART:
        return field_put_rounded(object, field->key, *(const double *)member, FIELD_ROUGH_FIGURES);
    case FIELD_LEAST:
        return field_put_rounded(object, field->key,
                                 rounded_to_side(*(const double *)member, FIELD_ROUGH_FIGURES, -1),
                                 FIELD_ROUGH_FIGURES);
    case FIELD_GREATEST:
        return field_put_rounded(object, field->key,
                                 rounded_to_side(*(const double *)member, FIELD_ROUGH_FIGURES, 1),
                                 FIELD_ROUGH_FIGURES);
    case FIELD_EXACT:
        return put_exact(object, field->key, *(const double *)member);
    case FIELD_FLAG:
        return field_put(object, field->key, json_boolean(*(const bool *)member));
    case FIELD_MOMENT:
        return field_put_moment(object, field->key, *(const int64_t *)member);
    case FIELD_KIND:
        return field_put_text(object, field->key,
                              apapi_kind_name(*(const enum apapi_kind *)member));
    case FIELD_DOMAIN:
        return field_put_text(object, field->key,
                              apapi_domain_name(*(const enum apapi_domain *)member));
    case FIELD_TYPE:
        return field_put_text(object, field->key,
                              field_type_name(*(const enum apapi_type *)member));
    case FIELD_REGION:
        return field_put_text(object, field->key,
                              apapi_region_kind_name(*(const enum apapi_region_kind *)member));
    case FIELD_METHOD:
        return field_put_text(object, field->key,
                              apapi_region_method_name(*(const enum apapi_region_method *)member));
    }
    return FIELDS_WRITTEN;
}

int fields_encode(json_t *object, const struct field *fields, const void *base)
{
    for (const struct field *field = fields; field->key; field++) {
        const void *member = (const char *)base + field->offset;

        if (!field->mandatory && fields_encode_is_unknown(field, member)) {
            continue;
        }
        if (put_field(object, field, member) < 0) {
            return FIELDS_OUT_OF_MEMORY;
        }
    }
    return FIELDS_WRITTEN;
}

json_t *fields_object(const struct field *fields, const void *base)
{
    json_t *object = json_object();

    if (object && fields_encode(object, fields, base) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* NULL with *result 0: it is left out. */
static json_t *fields_encode_element(fields_put_f put, const void *list, size_t i, int *result)
{
    json_t *object = json_object();
    int outcome = object ? put(object, list, i) : FIELDS_OUT_OF_MEMORY;

    *result =
        outcome == FIELDS_WRITTEN || outcome == FIELDS_NONE ? FIELDS_WRITTEN : FIELDS_OUT_OF_MEMORY;
    if (outcome == FIELDS_WRITTEN) {
        return object;
    }
    json_decref(object);
    return NULL;
}

int fields_put_list(json_t *object, const char *key, size_t count, fields_put_f put,
                    const void *list)
{
    json_t *array = json_array();
    int result = field_put(object, key, array);

    for (size_t i = 0; i < count && result == FIELDS_WRITTEN; i++) {
        json_t *element = fields_encode_element(put, list, i, &result);

        result = element ? json_array_append_new(array, element) : result;
    }
    return result;
}

int fields_put_domains(json_t *object, const char *key, fields_put_f put, const void *list)
{
    json_t *domains = json_object();
    int result = field_put(object, key, domains);

    for (size_t d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && result == FIELDS_WRITTEN; d++) {
        json_t *element = fields_encode_element(put, list, d, &result);

        result =
            element ? field_put(domains, apapi_domain_name((enum apapi_domain)d), element) : result;
    }
    return result;
}

void fields_drop_empty(json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (json_array_size(value) == 0 && json_object_size(value) == 0) {
        json_object_del(object, key);
    }
}

char *fields_dump(const json_t *value, size_t flags)
{
    return text_escape_json(json_dumps(value, flags));
}

char *fields_text(json_t *object, int result)
{
    char *text =
        result ? NULL : fields_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(FIELD_FIGURES));

    json_decref(object);
    return text;
}
