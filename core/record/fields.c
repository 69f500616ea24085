/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"

/* --- tables ----------------------------------------------------------------------------------- */

const struct field fields_of_record[] = {
    FIELD_TEXT_OF(apapi_record, "cluster", false, id.cluster),
    FIELD_OF(apapi_record, "job", NUMBER, false, id.job),
    FIELD_OF(apapi_record, "array_job", NUMBER, false, id.array_job),
    FIELD_OF(apapi_record, "array_task", NUMBER, false, id.array_task),
    FIELD_OF(apapi_record, "het_job", NUMBER, false, id.het_job),
    FIELD_OF(apapi_record, "het_offset", NUMBER, false, id.het_offset),
    FIELD_TEXT_OF(apapi_record, "step", false, id.step),
    FIELD_TEXT_OF(apapi_record, "name", false, id.name),
    FIELD_TEXT_OF(apapi_record, "job_name", false, id.job_name),
    FIELD_TEXT_OF(apapi_record, "node", true, id.node),
    FIELD_OF(apapi_record, "node_index", NUMBER, false, id.node_index),
    FIELD_OF(apapi_record, "nodes", NUMBER, false, id.nodes),
    FIELD_OF(apapi_record, "job_nodes", NUMBER, false, id.job_nodes),
    FIELD_TEXT_OF(apapi_record, "nodelist", false, id.nodelist),
    FIELD_OF(apapi_record, "tasks", NUMBER, false, id.tasks),
    FIELD_OF(apapi_record, "cores", NUMBER, false, id.cores),
    FIELD_OF(apapi_record, "node_cores", NUMBER, false, id.node_cores),
    FIELD_OF(apapi_record, "gpus", NUMBER, false, id.gpus),
    FIELD_OF(apapi_record, "restarts", NUMBER, false, id.restarts),
    FIELD_OF(apapi_record, "uid", NUMBER, false, id.uid),
    FIELD_TEXT_OF(apapi_record, "user", false, id.user),
    FIELD_TEXT_OF(apapi_record, "account", false, id.account),
    FIELD_TEXT_OF(apapi_record, "partition", false, id.partition),
    FIELD_TEXT_OF(apapi_record, "qos", false, id.qos),
    FIELD_OF(apapi_record, "verified", FLAG, false, id.verified),
    FIELD_OF(apapi_record, "start", MOMENT, true, measurement.start_unix_ns),
    FIELD_TEXT_OF(apapi_record, "boot", false, measurement.boot),
    FIELD_OF(apapi_record, "monotonic_s", DURATION, false, measurement.monotonic_ns),
    FIELD_OF(apapi_record, "elapsed_s", DURATION, true, measurement.elapsed_ns),
    FIELD_OF(apapi_record, "late_s", DURATION, true, measurement.late_ns),
    FIELD_OF(apapi_record, "exit_code", NUMBER, false, ending.code),
    FIELD_OF(apapi_record, "exit_signal", NUMBER, false, ending.signal),
    FIELD_OF(apapi_record, "failed_tasks", NUMBER, false, ending.failed),
    FIELD_OF(apapi_record, "complete", FLAG, true, complete),
    FIELD_TEXT_OF(apapi_record, "reason", false, reason),
    FIELD_OF(apapi_record, "recovered", FLAG, false, recovered),
    FIELD_OF(apapi_record, "delayed", FLAG, false, delayed),
    FIELD_TEXT_OF(apapi_record, "unwritten", false, unwritten),
    FIELD_END};

const struct field fields_of_trust[] = {
    FIELD_OF(apapi_measurement, "covered", AMOUNT, false, covered),
    FIELD_OF(apapi_measurement, "cpu_s", DURATION, true, cpu_ns),
    FIELD_OF(apapi_measurement, "unknown_domains", SET, false, unknown_domains), FIELD_END};

const struct field fields_of_domain[] = {
    FIELD_OF(apapi_domain_result, "energy_j", AMOUNT, false, energy_j),
    FIELD_OF(apapi_domain_result, "uncertainty_j", ROUGH, false, uncertainty_j),
    FIELD_OF(apapi_domain_result, "covered", PART, false, covered),
    FIELD_OF(apapi_domain_result, "rest_j", PART, false, rest_j),
    FIELD_OF(apapi_domain_result, "mean_w", MEASURED, false, power_w.mean),
    FIELD_OF(apapi_domain_result, "min_w", LEAST, false, power_w.min),
    FIELD_OF(apapi_domain_result, "max_w", GREATEST, false, power_w.max),
    FIELD_OF(apapi_domain_result, "p95_w", ROUGH, false, power_w.p95),
    FIELD_END};

const struct field fields_of_component[] = {
    FIELD_TEXT_OF(apapi_component_result, "name", true, name),
    FIELD_TEXT_OF(apapi_component_result, "source", false, source),
    FIELD_TEXT_OF(apapi_component_result, "reason", false, reason),
    FIELD_OF(apapi_component_result, "interval_s", DURATION, false, interval_ns),
    FIELD_OF(apapi_component_result, "missed", COUNT, false, missed),
    FIELD_OF(apapi_component_result, "user_rules", FLAG, false, user_rules),
    FIELD_OF(apapi_component_result, "outages", COUNT, false, outages),
    FIELD_OF(apapi_component_result, "outage_s", DURATION, false, outage_ns),
    FIELD_OF(apapi_component_result, "periods", COUNT, false, period.count),
    FIELD_OF(apapi_component_result, "period_mean_s", ROUGH, false, period.mean_s),
    FIELD_OF(apapi_component_result, "period_sd_s", ROUGH, false, period.sd_s),
    FIELD_OF(apapi_component_result, "period_longest_s", ROUGH, false, period.longest_s),
    FIELD_END};

const struct field fields_of_event[] = {
    FIELD_TEXT_OF(apapi_event_result, "name", true, event.name),
    FIELD_OF(apapi_event_result, "kind", KIND, false, event.kind),
    FIELD_OF(apapi_event_result, "domain", DOMAIN, false, event.domain),
    FIELD_TEXT_OF(apapi_event_result, "unit", true, event.unit),
    FIELD_OF(apapi_event_result, "total", MEASURED, false, total),
    FIELD_OF(apapi_event_result, "raw_total", COUNT, false, raw_total),
    FIELD_OF(apapi_event_result, "scale", EXACT, true, event.scale),
    FIELD_OF(apapi_event_result, "type", TYPE, false, event.type),
    FIELD_OF(apapi_event_result, "counter", FLAG, false, event.accumulates),
    FIELD_OF(apapi_event_result, "estimated", FLAG, false, event.estimated),
    FIELD_OF(apapi_event_result, "range_max", COUNT, false, event.range_max),
    FIELD_OF(apapi_event_result, "guard_j", EXACT, false, event.guard_j),
    FIELD_OF(apapi_event_result, "update_s", DURATION, false, event.update_ns),
    FIELD_OF(apapi_event_result, "min", LEAST, false, summary.min),
    FIELD_OF(apapi_event_result, "mean", MEASURED, false, summary.mean),
    FIELD_OF(apapi_event_result, "max", GREATEST, false, summary.max),
    FIELD_OF(apapi_event_result, "p95", ROUGH, false, summary.p95),
    FIELD_OF(apapi_event_result, "uncertainty_j", ROUGH, false, uncertainty_j),
    FIELD_OF(apapi_event_result, "covered_s", DURATION, true, covered_ns),
    FIELD_OF(apapi_event_result, "samples", COUNT, true, incidents.samples),
    FIELD_OF(apapi_event_result, "failed", COUNT, false, incidents.failed),
    FIELD_OF(apapi_event_result, "wraps", COUNT, false, incidents.wraps),
    FIELD_OF(apapi_event_result, "resets", COUNT, false, incidents.resets),
    FIELD_OF(apapi_event_result, "refused", COUNT, false, incidents.refused),
    FIELD_OF(apapi_event_result, "gaps", COUNT, false, incidents.gaps),
    FIELD_OF(apapi_event_result, "stalls", COUNT, false, incidents.stalls),
    FIELD_OF(apapi_event_result, "rough", COUNT, false, incidents.rough),
    FIELD_OF(apapi_event_result, "stuck", FLAG, false, stuck),
    FIELD_OF(apapi_event_result, "still", FLAG, false, still),
    FIELD_END};

#define FITS(fields) _Static_assert(COUNT_OF(fields) <= FIELDS_MAX, "FIELDS_MAX is too small")
FITS(fields_of_record); /* the longest tables */
FITS(fields_of_event);

/* Significant digits of the forms that are a double; 0 for other forms. */
static const int figures_of[FIELD_LIST + 1] = {
    [FIELD_MEASURED] = JSON_MEASURED, [FIELD_AMOUNT] = JSON_MEASURED, [FIELD_ROUGH] = JSON_ROUGH,
    [FIELD_PART] = JSON_ROUGH,        [FIELD_LEAST] = JSON_ROUGH,     [FIELD_GREATEST] = JSON_ROUGH,
    [FIELD_EXACT] = JSON_EXACT,       [FIELD_REAL] = JSON_EXACT};

/* @return word number `i` of a form; NULL: the form has no more words */
static const char *word_of(enum field_form form, unsigned i)
{
    static const char *const types[] = {[APAPI_TYPE_INT64] = "int64",
                                        [APAPI_TYPE_UINT64] = "uint64",
                                        [APAPI_TYPE_FP64] = "fp64",
                                        [APAPI_TYPE_BIT64] = "bit64"};

    switch (form) {
    case FIELD_KIND:
        return i < APAPI_KINDS ? apapi_kind_name(i) : NULL;
    case FIELD_TYPE:
        return i < COUNT_OF(types) ? types[i] : NULL;
    case FIELD_REGION:
        return i < APAPI_REGION_KINDS ? apapi_region_kind_name(i) : NULL;
    default:
        return i < APAPI_REGION_METHODS ? apapi_region_method_name(i) : NULL;
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

#define PATH_SIZE 128                    /* longest: "components[N].events[N]" */
#define FIELD_LONGEST_S 18446744073.7096 /* UINT64_MAX ns in fifteen digits, rounded up */

/* Write a path. @return its length, as snprintf(). */
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

/* Each of the following readers returns NULL, or what is wrong with the value. */

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

static const char *read_count(const struct tree_node *value, uint64_t *count)
{
    if (tree_is(value, TREE_TEXT)) {
        const char *end = text_digits(value->text, UINT64_MAX, count);

        return end && !*end ? NULL : "not a count";
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

static const char *read_real(const struct tree_node *value, double least, double *real)
{
    if (!tree_is_number(value)) {
        return "not a number";
    }
    if (tree_number(value) < least) {
        return "below 0";
    }
    *real = tree_number(value);
    return NULL;
}

static const char *fields_decode_read_duration(const struct tree_node *value, uint64_t *duration_ns)
{
    double seconds;
    const char *problem = read_real(value, 0, &seconds);

    if (problem) {
        return problem;
    }
    if (seconds > FIELD_LONGEST_S) {
        return "too long";
    }
    seconds = seconds * NS_PER_S + 0.5;
    *duration_ns = seconds >= 0x1p64 ? UINT64_MAX : (uint64_t)seconds;
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

static const char *read_word(const struct tree_node *value, enum field_form form, void *member)
{
    const char *name;

    if (!tree_is(value, TREE_TEXT)) {
        return "not a text";
    }
    if (form == FIELD_MOMENT) {
        return timestamp_parse(value->text, member) < 0 ? "not a time" : NULL;
    }
    if (form == FIELD_DOMAIN) {
        *(enum apapi_domain *)member = apapi_domain_find(value->text);
        return NULL;
    }
    for (unsigned i = 0; (name = word_of(form, i)); i++) {
        if (strcmp(value->text, name) == 0) {
            *(unsigned *)member = i;
            return NULL;
        }
    }
    return "not a word that is known";
}

/* Read a set of domains. Unknown names are left out. */
static const char *read_set(const struct tree_node *array, uint32_t *set)
{
    const struct tree_node *name = NULL;

    *set = 0;
    while ((name = tree_each(array, name)) && name->type == TREE_TEXT) {
        enum apapi_domain domain = apapi_domain_find(name->text);

        *set |= domain == APAPI_DOMAIN_NONE ? 0 : UINT32_C(1) << domain;
    }
    return name || !tree_is(array, TREE_ARRAY) ? "not an array of texts" : NULL;
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
    case FIELD_AMOUNT:
    case FIELD_PART:
    case FIELD_EXACT:
        return read_real(value, 0, member);
    case FIELD_FLAG:
        return read_flag(value, member);
    case FIELD_SET:
        return read_set(value, member);
    default:
        return figures_of[field->form] ? read_real(value, -INFINITY, member)
                                       : read_word(value, field->form, member);
    }
}

/* Forms that are not listed here are unknown if their bytes are 0, as they are before this call. */
static void set_unknown(const struct field *field, void *member)
{
    switch (field->form) {
    case FIELD_OBJECT:
    case FIELD_DOMAINS:
        for (size_t i = 0; i < (field->form == FIELD_OBJECT ? 1 : APAPI_DOMAINS); i++) {
            for (const struct field *inner = field->fields; inner->key; inner++) {
                set_unknown(inner, (char *)member + i * field->size + inner->offset);
            }
        }
        break;
    case FIELD_NUMBER:
        *(uint32_t *)member = APAPI_UNKNOWN;
        break;
    case FIELD_TYPE:
        *(enum apapi_type *)member = APAPI_TYPE_UINT64;
        break;
    default:
        if (figures_of[field->form] && field->form != FIELD_EXACT) {
            *(double *)member = NAN;
        }
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

static int read_structure(const struct tree_node *object, const struct field *field,
                          void *structure, const struct field_path *path)
{
    return fields_decode(object, field->fields, structure, path) ||
                   (field->read && field->read(object, structure, path))
               ? -1
               : 0;
}

/* Domains that are not known here are left out: a later version may have more. */
static int read_domains(const struct tree_node *domains, const struct field *field, char *member,
                        const struct field_path *path)
{
    if (!tree_is(domains, TREE_OBJECT)) {
        return field_fail(path, "", "not an object");
    }
    set_unknown(field, member);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct field_path inner = {path, apapi_domain_name(d), NULL, path->err};
        const struct tree_node *domain = tree_get(domains, apapi_domain_name(d));

        if (domain && read_structure(domain, field, member + (size_t)d * field->size, &inner)) {
            return -1;
        }
    }
    return 0;
}

static int read_list(const struct tree_node *array, const struct field *field, char *base,
                     const struct field_path *where)
{
    size_t index = 0;
    const struct field_path inner = {where, field->key, &index, where->err};
    const struct tree_node *element = NULL;
    const size_t count = array->size;
    char *list;

    if (array->type != TREE_ARRAY) {
        return field_fail(where, field->key, "not an array");
    }
    list = calloc(count + 1, field->size);
    if (!list) {
        return apapi_fail(where->err, ENOMEM, "record: out of memory");
    }
    memcpy(base + field->offset, &list, sizeof list);
    memcpy(base + field->count, &count, sizeof count);
    for (; (element = tree_each(array, element)); index++) {
        if (read_structure(element, field, list + index * field->size, &inner)) {
            return -1;
        }
    }
    return 0;
}

static int read_member(const struct tree_node *value, const struct field *field, char *base,
                       const struct field_path *where)
{
    const struct field_path inner = {where, field->key, NULL, where->err};
    char *member = base + field->offset;
    const char *problem;

    switch (field->form) {
    case FIELD_OBJECT:
        return read_structure(value, field, member, &inner);
    case FIELD_DOMAINS:
        return read_domains(value, field, member, &inner);
    case FIELD_LIST:
        return read_list(value, field, base, where);
    default:
        problem = read_field(value, field, member);
        return problem ? field_fail(where, field->key, problem) : 0;
    }
}

int fields_decode(const struct tree_node *object, const struct field *fields, void *base,
                  const struct field_path *where)
{
    const struct tree_node *values[FIELDS_MAX] = {NULL}, *key = NULL;
    size_t at = 0;

    if (!tree_is(object, TREE_OBJECT)) {
        return field_fail(where, "", "not an object");
    }
    while ((key = tree_each(object, key))) {
        size_t index = fields_decode_find_key(fields, at, key);

        if (index < FIELDS_MAX) {
            values[index] = key + 1;
            at = index + 1;
        }
    }
    for (size_t i = 0; fields[i].key; i++) {
        if (values[i]) {
            if (read_member(values[i], &fields[i], base, where)) {
                return -1;
            }
        } else if (fields[i].mandatory) {
            return field_fail(where, fields[i].key, "is missing");
        } else {
            set_unknown(&fields[i], (char *)base + fields[i].offset);
        }
    }
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_real(struct json_writer *json, const struct field *field, double value)
{
    int figures = figures_of[field->form];
    int direction = (field->form == FIELD_GREATEST) - (field->form == FIELD_LEAST);

    if (direction && isfinite(value)) {
        double nearest = json_rounded(value, figures);
        double step = pow(10, floor(log10(fabs(value))) - figures + 1);

        value = (nearest - value) * direction >= 0 ? nearest : nearest + direction * step;
    }
    json_put_number(json, field->key, value, figures);
}

static bool field_is_unknown(const struct field *field, const void *member)
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

void domain_list_write(struct json_writer *json, const char *key, uint32_t set)
{
    json_begin_array(json, key);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (set & UINT32_C(1) << d) {
            json_put_text(json, NULL, apapi_domain_name(d));
        }
    }
    json_end_or_drop(json);
}

static void write_field(struct json_writer *json, const struct field *field, const void *member)
{
    const char *key = field->key;

    switch (field->form) {
    case FIELD_TEXT:
        json_put_text(json, key, member);
        break;
    case FIELD_NUMBER:
        json_put_integer(json, key, *(const uint32_t *)member);
        break;
    case FIELD_COUNT:
        json_put_count(json, key, *(const uint64_t *)member);
        break;
    case FIELD_DURATION:
        json_put_number(json, key, (double)*(const uint64_t *)member / NS_PER_S, JSON_EXACT);
        break;
    case FIELD_FLAG:
        json_put_flag(json, key, *(const bool *)member);
        break;
    case FIELD_SET:
        domain_list_write(json, key, *(const uint32_t *)member);
        break;
    case FIELD_MOMENT:
        json_put_moment(json, key, *(const int64_t *)member);
        break;
    case FIELD_DOMAIN:
        json_put_text(json, key, apapi_domain_name(*(const enum apapi_domain *)member));
        break;
    default:
        if (figures_of[field->form]) {
            write_real(json, field, *(const double *)member);
        } else {
            json_put_text(json, key, word_of(field->form, *(const unsigned *)member));
        }
    }
}

static void write_element(struct json_writer *json, const struct field *field, const char *key,
                          const void *structure)
{
    json_begin_object(json, key);
    fields_write(json, field->fields, structure);
    if (field->write) {
        field->write(json, structure);
    }
    json_end(json);
}

static void write_domains(struct json_writer *json, const struct field *field, const char *member)
{
    json_begin_object(json, field->key);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const void *domain = member + (size_t)d * field->size;

        if (!isnan(*(const double *)domain)) {
            write_element(json, field, apapi_domain_name(d), domain);
        }
    }
}

static void write_list(struct json_writer *json, const struct field *field, const char *base)
{
    const char *list;
    size_t count;

    memcpy(&list, base + field->offset, sizeof list);
    memcpy(&count, base + field->count, sizeof count);
    json_begin_array(json, field->key);
    for (size_t i = 0; i < count; i++) {
        write_element(json, field, NULL, list + i * field->size);
    }
}

void fields_write(struct json_writer *json, const struct field *fields, const void *base)
{
    for (const struct field *field = fields; field->key; field++) {
        const char *member = (const char *)base + field->offset;

        if (!field->fields) {
            if (field->mandatory || !field_is_unknown(field, member)) {
                write_field(json, field, member);
            }
            continue;
        }
        if (field->form == FIELD_LIST) {
            write_list(json, field, base);
        } else if (field->form == FIELD_DOMAINS) {
            write_domains(json, field, member);
        } else {
            json_begin_object(json, field->key);
            fields_write(json, field->fields, member);
        }
        (field->mandatory || field->always ? json_end : json_end_or_drop)(json);
    }
}

const char *apapi_region_kind_name(enum apapi_region_kind kind)
{
    static const char *const names[] = {[APAPI_REGION_NAMED] = "region",
                                        [APAPI_REGION_UNMARKED] = "unmarked",
                                        [APAPI_REGION_IDLE] = "idle",
                                        [APAPI_REGION_REST] = "rest"};

    return (size_t)kind < COUNT_OF(names) ? names[kind] : "?";
}

const char *apapi_region_method_name(enum apapi_region_method method)
{
    static const char *const names[] = {[APAPI_REGION_UNKNOWN] = "unknown",
                                        [APAPI_REGION_MEASURED] = "measured",
                                        [APAPI_REGION_ESTIMATED] = "estimated",
                                        [APAPI_REGION_SHARED] = "shared"};

    return (size_t)method < COUNT_OF(names) ? names[method] : "?";
}
