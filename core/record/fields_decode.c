/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "record/fields.h"
#include "record/text.h"
#include "record/timestamp.h"

#define NS_PER_S 1e9
#define LONGEST_S 18446744073.7096 /* UINT64_MAX ns in fifteen digits, rounded up */

int field_fail(const struct field_place *place, const char *key, const char *what)
{
    const char *dot = *place->path && *key ? "." : "";

    return apapi_fail(place->err, EINVAL, "record: %s%s%s: %s", place->path, dot, key, what);
}

/* Each reader returns NULL, or what is wrong with the value. */

static const char *read_text(const json_t *value, const struct field *field, char *text)
{
    if (!json_is_string(value)) {
        return "not a text";
    }
    text_utf8(text, field->size, json_string_value(value));
    return NULL;
}

static const char *read_number(const json_t *value, uint32_t *number)
{
    if (!json_is_integer(value)) {
        return "not an integer";
    }
    if (json_integer_value(value) < 0 || json_integer_value(value) >= APAPI_UNKNOWN) {
        return "out of range";
    }
    *number = (uint32_t)json_integer_value(value);
    return NULL;
}

static const char *read_digits(const char *digits, uint64_t *count)
{
    char *end;
    unsigned long long number;

    if (*digits < '0' || *digits > '9') {
        return "not a count";
    }
    errno = 0;
    number = strtoull(digits, &end, 10);
    if (*end || errno) {
        return "not a count";
    }
    *count = number;
    return NULL;
}

static const char *read_count(const json_t *value, uint64_t *count)
{
    if (json_is_string(value)) {
        return read_digits(json_string_value(value), count);
    }
    if (!json_is_integer(value)) {
        return "not an integer";
    }
    if (json_integer_value(value) < 0) {
        return "below 0";
    }
    *count = (uint64_t)json_integer_value(value);
    return NULL;
}

static const char *read_amount(const json_t *value, double *amount)
{
    if (!json_is_number(value)) {
        return "not a number";
    }
    if (json_number_value(value) < 0) {
        return "below 0";
    }
    *amount = json_number_value(value);
    return NULL;
}

static const char *read_measured(const json_t *value, double *measured)
{
    if (!json_is_number(value)) {
        return "not a number";
    }
    *measured = json_number_value(value);
    return NULL;
}

static const char *read_duration(const json_t *value, uint64_t *duration_ns)
{
    double seconds;
    const char *problem = read_amount(value, &seconds);

    if (problem) {
        return problem;
    }
    if (seconds > LONGEST_S) {
        return "too long";
    }
    if (seconds * NS_PER_S + 0.5 >= 0x1p64) {
        *duration_ns = UINT64_MAX;
    } else {
        *duration_ns = (uint64_t)(seconds * NS_PER_S + 0.5);
    }
    return NULL;
}

static const char *read_flag(const json_t *value, bool *flag)
{
    if (!json_is_boolean(value)) {
        return "not true or false";
    }
    *flag = json_is_true(value);
    return NULL;
}

static const char *read_moment(const json_t *value, int64_t *unix_ns)
{
    if (!json_is_string(value)) {
        return "not a text";
    }
    return timestamp_parse(json_string_value(value), unix_ns) < 0 ? "not a time" : NULL;
}

static const char *read_kind(const json_t *value, enum apapi_kind *kind)
{
    if (!json_is_string(value)) {
        return "not a text";
    }
    for (int i = 0; i < APAPI_KINDS; i++) {
        if (strcmp(json_string_value(value), apapi_kind_name(i)) == 0) {
            *kind = i;
            return NULL;
        }
    }
    return "not a kind";
}

static const char *read_domain(const json_t *value, enum apapi_domain *domain)
{
    if (!json_is_string(value)) {
        return "not a text";
    }
    *domain = apapi_domain_find(json_string_value(value));
    return NULL;
}

static const char *read_type(const json_t *value, enum apapi_type *type)
{
    if (!json_is_string(value)) {
        return "not a text";
    }
    for (int i = 0; field_type_name(i); i++) {
        if (strcmp(json_string_value(value), field_type_name(i)) == 0) {
            *type = i;
            return NULL;
        }
    }
    return "not a type";
}

static const char *read_field(const json_t *value, const struct field *field, void *member)
{
    switch (field->form) {
    case FIELD_TEXT:
        return read_text(value, field, member);
    case FIELD_NUMBER:
        return read_number(value, member);
    case FIELD_COUNT:
        return read_count(value, member);
    case FIELD_DURATION:
        return read_duration(value, member);
    case FIELD_MEASURED:
    case FIELD_ROUGH:
        return read_measured(value, member);
    case FIELD_AMOUNT:
    case FIELD_EXACT:
        return read_amount(value, member);
    case FIELD_FLAG:
        return read_flag(value, member);
    case FIELD_MOMENT:
        return read_moment(value, member);
    case FIELD_KIND:
        return read_kind(value, member);
    case FIELD_DOMAIN:
        return read_domain(value, member);
    case FIELD_TYPE:
        return read_type(value, member);
    }
    return NULL;
}

/* Every other form is unknown when its bytes are 0, as they are. */
static void set_unknown(const struct field *field, void *member)
{
    switch (field->form) {
    case FIELD_NUMBER:
        *(uint32_t *)member = APAPI_UNKNOWN;
        break;
    case FIELD_MEASURED:
    case FIELD_AMOUNT:
    case FIELD_ROUGH:
        *(double *)member = NAN;
        break;
    case FIELD_TYPE:
        *(enum apapi_type *)member = APAPI_TYPE_UINT64;
        break;
    default:
        break;
    }
}

int fields_decode(const json_t *object, const struct field *fields, void *base,
                  const struct field_place *place)
{
    if (!json_is_object(object)) {
        return field_fail(place, "", "not an object");
    }
    for (const struct field *field = fields; field->key; field++) {
        const json_t *value = json_object_get(object, field->key);
        void *member = (char *)base + field->offset;
        const char *problem = field->mandatory ? "is missing" : NULL;

        if (value) {
            problem = read_field(value, field, member);
        } else {
            set_unknown(field, member);
        }
        if (problem) {
            return field_fail(place, field->key, problem);
        }
    }
    return 0;
}
