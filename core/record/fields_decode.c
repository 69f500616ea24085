/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/clock.h"
#include "record/fields.h"

#define PATH_SIZE 128              /* longest: "components[N].events[N]" */
#define LONGEST_S 18446744073.7096 /* UINT64_MAX ns in fifteen digits, rounded up */

/* @return the length of the path, as snprintf(). */
static size_t put_path(const struct field_path *where, char *path, size_t size)
{
    size_t length = where->outer ? put_path(where->outer, path, size) : 0;
    const char *dot = length > 0 && *where->name ? "." : "";

    length += (size_t)snprintf(path + length, size - length, "%s%s", dot, where->name);
    if (where->index) {
        length += (size_t)snprintf(path + length, size - length, "[%zu]", *where->index);
    }
    return length;
}

int field_fail(const struct field_path *where, const char *key, const char *what)
{
    char path[PATH_SIZE];
    const char *dot = put_path(where, path, sizeof(path)) > 0 && *key ? "." : "";

    return apapi_fail(where->err, EINVAL, "record: %s%s%s: %s", path, dot, key, what);
}

/* Each reader returns NULL, or what is wrong with the value. */

static const char *read_text(const struct tree_node *value, const struct field *field, char *text)
{
    size_t size;

    if (!tree_is(value, TREE_TEXT)) {
        return "not a text";
    }
    size = value->size < field->size ? value->size : field->size - 1;
    while (size < value->size &&
           (value->text[size] & 0xC0) == 0x80) { /* not at the beginning of a character */
        size--;
    }
    memcpy(text, value->text, size);
    text[size] = '\0';
    return NULL;
}

static const char *fields_decode_read_number(const struct tree_node *value, uint32_t *number)
{
    if (!tree_is(value, TREE_INTEGER)) {
        return "not an integer";
    }
    if (value->integer < 0 || value->integer >= APAPI_UNKNOWN) {
        return "out of range";
    }
    *number = (uint32_t)value->integer;
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

static const char *read_count(const struct tree_node *value, uint64_t *count)
{
    if (tree_is(value, TREE_TEXT)) {
        return read_digits(value->text, count);
    }
    if (!tree_is(value, TREE_INTEGER)) {
        return "not an integer";
    }
    if (value->integer < 0) {
        return "below 0";
    }
    *count = (uint64_t)value->integer;
    return NULL;
}

static const char *read_amount(const struct tree_node *value, double *amount)
{
    if (!tree_is_number(value)) {
        return "not a number";
    }
    if (tree_number(value) < 0) {
        return "below 0";
    }
    *amount = tree_number(value);
    return NULL;
}

static const char *read_measured(const struct tree_node *value, double *measured)
{
    if (!tree_is_number(value)) {
        return "not a number";
    }
    *measured = tree_number(value);
    return NULL;
}

static const char *fields_decode_read_duration(const struct tree_node *value, uint64_t *duration_ns)
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

static const char *read_flag(const struct tree_node *value, bool *flag)
{
    if (value->type != TREE_TRUE && value->type != TREE_FALSE) {
        return "not true or false";
    }
    *flag = value->type == TREE_TRUE;
    return NULL;
}

static const char *read_moment(const struct tree_node *value, int64_t *unix_ns)
{
    if (!tree_is(value, TREE_TEXT)) {
        return "not a text";
    }
    return timestamp_parse(value->text, unix_ns) < 0 ? "not a time" : NULL;
}

static const char *read_kind(const struct tree_node *value, enum apapi_kind *kind)
{
    if (!tree_is(value, TREE_TEXT)) {
        return "not a text";
    }
    for (int i = 0; i < APAPI_KINDS; i++) {
        if (strcmp(value->text, apapi_kind_name(i)) == 0) {
            *kind = i;
            return NULL;
        }
    }
    return "not a kind";
}

static const char *read_domain(const struct tree_node *value, enum apapi_domain *domain)
{
    if (!tree_is(value, TREE_TEXT)) {
        return "not a text";
    }
    *domain = apapi_domain_find(value->text);
    return NULL;
}

static const char *read_type(const struct tree_node *value, enum apapi_type *type)
{
    if (!tree_is(value, TREE_TEXT)) {
        return "not a text";
    }
    for (int i = 0; field_type_name(i); i++) {
        if (strcmp(value->text, field_type_name(i)) == 0) {
            *type = i;
            return NULL;
        }
    }
    return "not a type";
}

static const char *read_region(const struct tree_node *value, enum apapi_region_kind *kind)
{
    for (int i = 0; tree_is(value, TREE_TEXT) && i < APAPI_REGION_KINDS; i++) {
        if (strcmp(value->text, apapi_region_kind_name(i)) == 0) {
            *kind = i;
            return NULL;
        }
    }
    return "not a kind of region";
}

static const char *read_method(const struct tree_node *value, enum apapi_region_method *method)
{
    for (int i = 0; tree_is(value, TREE_TEXT) && i < APAPI_REGION_METHODS; i++) {
        if (strcmp(value->text, apapi_region_method_name(i)) == 0) {
            *method = i;
            return NULL;
        }
    }
    return "not a method";
}

static const char *read_field(const struct tree_node *value, const struct field *field,
                              void *member)
{
    switch (field->form) {
    case FIELD_TEXT:
        return read_text(value, field, member);
    case FIELD_NUMBER:
        return fields_decode_read_number(value, member);
    case FIELD_COUNT:
        return read_count(value, member);
    case FIELD_DURATION:
        return fields_decode_read_duration(value, member);
    case FIELD_MEASURED:
    case FIELD_ROUGH:
    case FIELD_LEAST:
    case FIELD_GREATEST:
        return read_measured(value, member);
    case FIELD_AMOUNT:
    case FIELD_PART:
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
    case FIELD_REGION:
        return read_region(value, member);
    case FIELD_METHOD:
        return read_method(value, member);
    }
    return NULL;
}

/* All other forms are unknown if their bytes are 0, which they are. */
static void set_unknown(const struct field *field, void *member)
{
    switch (field->form) {
    case FIELD_NUMBER:
        *(uint32_t *)member = APAPI_UNKNOWN;
        break;
    case FIELD_MEASURED:
    case FIELD_AMOUNT:
    case FIELD_PART:
    case FIELD_ROUGH:
    case FIELD_LEAST:
    case FIELD_GREATEST:
        *(double *)member = NAN;
        break;
    case FIELD_TYPE:
        *(enum apapi_type *)member = APAPI_TYPE_UINT64;
        break;
    default:
        break;
    }
}

/* Find the index of the key, starting at `at`: objects usually have the order of the list. */
static size_t fields_decode_find_key(const struct field *fields, size_t at,
                                     const struct tree_node *key)
{
    for (size_t i = at; fields[i].key; i++) {
        if (tree_is_key(key, fields[i].key)) {
            return i;
        }
    }
    for (size_t i = 0; i < at; i++) {
        if (tree_is_key(key, fields[i].key)) {
            return i;
        }
    }
    return FIELDS_MAX;
}

void fields_find(const struct tree_node *object, const struct field *fields,
                 struct field_values *values)
{
    const struct tree_node *key = tree_first(object);
    size_t at = 0;

    for (uint32_t i = 0; i < object->size; i++, key = tree_next(key + 1)) {
        size_t index = fields_decode_find_key(fields, at, key);

        if (index < FIELDS_MAX) {
            values->of[index] = key + 1;
            at = index + 1;
        }
    }
}

int fields_read(const struct field_values *values, const struct field *fields, void *base,
                const struct field_path *where)
{
    for (size_t i = 0; fields[i].key; i++) {
        const struct field *field = &fields[i];
        const struct tree_node *value = values->of[i];
        void *member = (char *)base + field->offset;
        const char *problem = field->mandatory ? "is missing" : NULL;

        if (value) {
            problem = read_field(value, field, member);
        } else {
            set_unknown(field, member);
        }
        if (problem) {
            return field_fail(where, field->key, problem);
        }
    }
    return 0;
}

int fields_decode(const struct tree_node *object, const struct field *fields, void *base,
                  const struct field_path *where)
{
    struct field_values values = {{NULL}};

    if (!tree_is(object, TREE_OBJECT)) {
        return field_fail(where, "", "not an object");
    }
    fields_find(object, fields, &values);
    return fields_read(&values, fields, base, where);
}

int fields_decode_list(const struct tree_node *object, const struct fields_list *list,
                       void *elements, const struct field_path *where)
{
    const struct field_path inner = {where, list->key, list->count, where->err};
    const struct tree_node *array = tree_get(object, list->key), *element;
    char *room;

    if (array && array->type != TREE_ARRAY) {
        return field_fail(where, list->key, "not an array");
    }
    if (!array || array->size == 0) {
        return 0;
    }
    room = calloc(array->size, list->size);
    if (!room) {
        return apapi_fail(where->err, ENOMEM, "record: out of memory");
    }
    memcpy(elements, &room, sizeof room);
    element = tree_first(array);
    for (; *list->count < array->size; ++*list->count, element = tree_next(element)) {
        if (list->read(element, room + *list->count * list->size, list->context, &inner) < 0) {
            return -1;
        }
    }
    return 0;
}
