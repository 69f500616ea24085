/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"

/* --- tables ----------------------------------------------------------------------------------- */

#define SIZE_IN(type, member) sizeof(((struct type *)NULL)->member)
#define IN_RECORD(member) offsetof(struct apapi_record, member)
#define IN_MEASUREMENT(member) offsetof(struct apapi_measurement, member)
#define IN_DOMAIN(member) offsetof(struct apapi_domain_result, member)
#define IN_COMPONENT(member) offsetof(struct apapi_component_result, member)
#define IN_EVENT(member) offsetof(struct apapi_event_result, member)
#define IN_REGION(member) offsetof(struct apapi_region_result, member)
#define IN_ENERGY(member) offsetof(struct apapi_region_energy, member)
#define IN_FOM(member) offsetof(struct apapi_fom, member)
#define IN_LOSSES(member) offsetof(struct apapi_region_losses, member)
#define IN_SHARE(member) offsetof(struct apapi_share, member)
#define IN_SHARED(member) offsetof(struct apapi_share_energy, member)
#define IN_CROSSING(member) offsetof(struct apapi_crossing, member)

const struct field fields_of_record[] = {
    {"cluster", FIELD_TEXT, false, IN_RECORD(id.cluster), SIZE_IN(apapi_record, id.cluster)},
    {"job", FIELD_NUMBER, false, IN_RECORD(id.job), 0},
    {"array_job", FIELD_NUMBER, false, IN_RECORD(id.array_job), 0},
    {"array_task", FIELD_NUMBER, false, IN_RECORD(id.array_task), 0},
    {"het_job", FIELD_NUMBER, false, IN_RECORD(id.het_job), 0},
    {"het_offset", FIELD_NUMBER, false, IN_RECORD(id.het_offset), 0},
    {"step", FIELD_TEXT, false, IN_RECORD(id.step), SIZE_IN(apapi_record, id.step)},
    {"name", FIELD_TEXT, false, IN_RECORD(id.name), SIZE_IN(apapi_record, id.name)},
    {"job_name", FIELD_TEXT, false, IN_RECORD(id.job_name), SIZE_IN(apapi_record, id.job_name)},
    {"node", FIELD_TEXT, true, IN_RECORD(id.node), SIZE_IN(apapi_record, id.node)},
    {"node_index", FIELD_NUMBER, false, IN_RECORD(id.node_index), 0},
    {"nodes", FIELD_NUMBER, false, IN_RECORD(id.nodes), 0},
    {"nodelist", FIELD_TEXT, false, IN_RECORD(id.nodelist), SIZE_IN(apapi_record, id.nodelist)},
    {"tasks", FIELD_NUMBER, false, IN_RECORD(id.tasks), 0},
    {"cores", FIELD_NUMBER, false, IN_RECORD(id.cores), 0},
    {"node_cores", FIELD_NUMBER, false, IN_RECORD(id.node_cores), 0},
    {"gpus", FIELD_NUMBER, false, IN_RECORD(id.gpus), 0},
    {"restarts", FIELD_NUMBER, false, IN_RECORD(id.restarts), 0},
    {"uid", FIELD_NUMBER, false, IN_RECORD(id.uid), 0},
    {"user", FIELD_TEXT, false, IN_RECORD(id.user), SIZE_IN(apapi_record, id.user)},
    {"account", FIELD_TEXT, false, IN_RECORD(id.account), SIZE_IN(apapi_record, id.account)},
    {"partition", FIELD_TEXT, false, IN_RECORD(id.partition), SIZE_IN(apapi_record, id.partition)},
    {"qos", FIELD_TEXT, false, IN_RECORD(id.qos), SIZE_IN(apapi_record, id.qos)},
    {"verified", FIELD_FLAG, false, IN_RECORD(id.verified), 0},
    {"start", FIELD_MOMENT, true, IN_RECORD(measurement.start_unix_ns), 0},
    {"boot", FIELD_TEXT, false, IN_RECORD(measurement.boot),
     SIZE_IN(apapi_record, measurement.boot)},
    {"monotonic_s", FIELD_DURATION, false, IN_RECORD(measurement.monotonic_ns), 0},
    {"elapsed_s", FIELD_DURATION, true, IN_RECORD(measurement.elapsed_ns), 0},
    {"late_s", FIELD_DURATION, true, IN_RECORD(measurement.late_ns), 0},
    {"exit_code", FIELD_NUMBER, false, IN_RECORD(ending.code), 0},
    {"exit_signal", FIELD_NUMBER, false, IN_RECORD(ending.signal), 0},
    {"failed_tasks", FIELD_NUMBER, false, IN_RECORD(ending.failed), 0},
    {"complete", FIELD_FLAG, true, IN_RECORD(complete), 0},
    {"reason", FIELD_TEXT, false, IN_RECORD(reason), SIZE_IN(apapi_record, reason)},
    {"recovered", FIELD_FLAG, false, IN_RECORD(recovered), 0},
    {"delayed", FIELD_FLAG, false, IN_RECORD(delayed), 0},
    {"unwritten", FIELD_TEXT, false, IN_RECORD(unwritten), SIZE_IN(apapi_record, unwritten)},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_trust[] = {
    {"covered", FIELD_AMOUNT, false, IN_MEASUREMENT(covered), 0},
    {"cpu_s", FIELD_DURATION, true, IN_MEASUREMENT(cpu_ns), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_domain[] = {
    {"energy_j", FIELD_AMOUNT, false, IN_DOMAIN(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_DOMAIN(uncertainty_j), 0},
    {"covered", FIELD_PART, false, IN_DOMAIN(covered), 0},
    {"rest_j", FIELD_PART, false, IN_DOMAIN(rest_j), 0},
    {"mean_w", FIELD_MEASURED, false, IN_DOMAIN(power_w.mean), 0},
    {"min_w", FIELD_LEAST, false, IN_DOMAIN(power_w.min), 0},
    {"max_w", FIELD_GREATEST, false, IN_DOMAIN(power_w.max), 0},
    {"p95_w", FIELD_ROUGH, false, IN_DOMAIN(power_w.p95), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_component[] = {
    {"name", FIELD_TEXT, true, IN_COMPONENT(name), SIZE_IN(apapi_component_result, name)},
    {"source", FIELD_TEXT, false, IN_COMPONENT(source), SIZE_IN(apapi_component_result, source)},
    {"reason", FIELD_TEXT, false, IN_COMPONENT(reason), SIZE_IN(apapi_component_result, reason)},
    {"interval_s", FIELD_DURATION, false, IN_COMPONENT(interval_ns), 0},
    {"missed", FIELD_COUNT, false, IN_COMPONENT(missed), 0},
    {"user_rules", FIELD_FLAG, false, IN_COMPONENT(user_rules), 0},
    {"outages", FIELD_COUNT, false, IN_COMPONENT(outages), 0},
    {"outage_s", FIELD_DURATION, false, IN_COMPONENT(outage_ns), 0},
    {"periods", FIELD_COUNT, false, IN_COMPONENT(period.count), 0},
    {"period_mean_s", FIELD_ROUGH, false, IN_COMPONENT(period.mean_s), 0},
    {"period_sd_s", FIELD_ROUGH, false, IN_COMPONENT(period.sd_s), 0},
    {"period_longest_s", FIELD_ROUGH, false, IN_COMPONENT(period.longest_s), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_event[] = {
    {"name", FIELD_TEXT, true, IN_EVENT(event.name), SIZE_IN(apapi_event_result, event.name)},
    {"kind", FIELD_KIND, false, IN_EVENT(event.kind), 0},
    {"domain", FIELD_DOMAIN, false, IN_EVENT(event.domain), 0},
    {"unit", FIELD_TEXT, true, IN_EVENT(event.unit), SIZE_IN(apapi_event_result, event.unit)},
    {"total", FIELD_MEASURED, false, IN_EVENT(total), 0},
    {"raw_total", FIELD_COUNT, false, IN_EVENT(raw_total), 0},
    {"scale", FIELD_EXACT, true, IN_EVENT(event.scale), 0},
    {"type", FIELD_TYPE, false, IN_EVENT(event.type), 0},
    {"counter", FIELD_FLAG, false, IN_EVENT(event.accumulates), 0},
    {"estimated", FIELD_FLAG, false, IN_EVENT(event.estimated), 0},
    {"range_max", FIELD_COUNT, false, IN_EVENT(event.range_max), 0},
    {"guard_j", FIELD_EXACT, false, IN_EVENT(event.guard_j), 0},
    {"update_s", FIELD_DURATION, false, IN_EVENT(event.update_ns), 0},
    {"min", FIELD_LEAST, false, IN_EVENT(summary.min), 0},
    {"mean", FIELD_MEASURED, false, IN_EVENT(summary.mean), 0},
    {"max", FIELD_GREATEST, false, IN_EVENT(summary.max), 0},
    {"p95", FIELD_ROUGH, false, IN_EVENT(summary.p95), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_EVENT(uncertainty_j), 0},
    {"covered_s", FIELD_DURATION, true, IN_EVENT(covered_ns), 0},
    {"samples", FIELD_COUNT, true, IN_EVENT(incidents.samples), 0},
    {"failed", FIELD_COUNT, false, IN_EVENT(incidents.failed), 0},
    {"wraps", FIELD_COUNT, false, IN_EVENT(incidents.wraps), 0},
    {"resets", FIELD_COUNT, false, IN_EVENT(incidents.resets), 0},
    {"refused", FIELD_COUNT, false, IN_EVENT(incidents.refused), 0},
    {"gaps", FIELD_COUNT, false, IN_EVENT(incidents.gaps), 0},
    {"stalls", FIELD_COUNT, false, IN_EVENT(incidents.stalls), 0},
    {"rough", FIELD_COUNT, false, IN_EVENT(incidents.rough), 0},
    {"stuck", FIELD_FLAG, false, IN_EVENT(stuck), 0},
    {"still", FIELD_FLAG, false, IN_EVENT(still), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_region[] = {
    {"name", FIELD_TEXT, false, IN_REGION(path), SIZE_IN(apapi_region_result, path)},
    {"kind", FIELD_REGION, false, IN_REGION(kind), 0},
    {"method", FIELD_METHOD, true, IN_REGION(method), 0},
    {"reason", FIELD_TEXT, false, IN_REGION(reason), SIZE_IN(apapi_region_result, reason)},
    {"count", FIELD_COUNT, false, IN_REGION(count), 0},
    {"programs", FIELD_NUMBER, false, IN_REGION(programs), 0},
    {"threads", FIELD_NUMBER, false, IN_REGION(threads), 0},
    {"time_s", FIELD_DURATION, true, IN_REGION(time_ns), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_region_energy[] = {
    {"energy_j", FIELD_AMOUNT, false, IN_ENERGY(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_ENERGY(uncertainty_j), 0},
    {"power_w", FIELD_MEASURED, false, IN_ENERGY(power_w), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_fom[] = {
    {"name", FIELD_TEXT, true, IN_FOM(name), SIZE_IN(apapi_fom, name)},
    {"value", FIELD_MEASURED, true, IN_FOM(value), 0},
    {"unit", FIELD_TEXT, false, IN_FOM(unit), SIZE_IN(apapi_fom, unit)},
    {"programs", FIELD_NUMBER, false, IN_FOM(programs), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_losses[] = {{"regions", FIELD_COUNT, false, IN_LOSSES(regions), 0},
                                         {"names", FIELD_COUNT, false, IN_LOSSES(names), 0},
                                         {"threads", FIELD_COUNT, false, IN_LOSSES(threads), 0},
                                         {"programs", FIELD_COUNT, false, IN_LOSSES(programs), 0},
                                         {"refused", FIELD_COUNT, false, IN_LOSSES(refused), 0},
                                         {"misuses", FIELD_COUNT, false, IN_LOSSES(misuses), 0},
                                         {NULL, 0, false, 0, 0}};

const struct field fields_of_crossing[] = {
    {"threshold", FIELD_TEXT, true, IN_CROSSING(threshold), SIZE_IN(apapi_crossing, threshold)},
    {"time", FIELD_MOMENT, true, IN_CROSSING(unix_ns), 0},
    {"value", FIELD_MEASURED, false, IN_CROSSING(value), 0},
    {"unit", FIELD_TEXT, false, IN_CROSSING(unit), SIZE_IN(apapi_crossing, unit)},
    {"count", FIELD_COUNT, true, IN_CROSSING(count), 0},
    {"action", FIELD_TEXT, false, IN_CROSSING(action), SIZE_IN(apapi_crossing, action)},
    {"result", FIELD_TEXT, false, IN_CROSSING(result), SIZE_IN(apapi_crossing, result)},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_share[] = {
    {"method", FIELD_TEXT, false, IN_SHARE(method), SIZE_IN(apapi_share, method)},
    {"idle", FIELD_TEXT, false, IN_SHARE(idle), SIZE_IN(apapi_share, idle)},
    {"reason", FIELD_TEXT, false, IN_SHARE(reason), SIZE_IN(apapi_share, reason)},
    {"slices", FIELD_FLAG, false, IN_SHARE(slices), 0},
    {"interval_s", FIELD_DURATION, false, IN_SHARE(interval_ns), 0},
    {"tail_s", FIELD_DURATION, false, IN_SHARE(tail_ns), 0},
    {NULL, 0, false, 0, 0}};

const struct field fields_of_share_energy[] = {
    {"energy_j", FIELD_AMOUNT, true, IN_SHARED(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_SHARED(uncertainty_j), 0},
    {"idle_j", FIELD_AMOUNT, false, IN_SHARED(idle_j), 0},
    {"idle_w", FIELD_ROUGH, false, IN_SHARED(idle_w), 0},
    {NULL, 0, false, 0, 0}};

#define FITS(fields) _Static_assert(COUNT_OF(fields) <= FIELDS_MAX, "FIELDS_MAX is too small")
FITS(fields_of_record);
FITS(fields_of_trust);
FITS(fields_of_domain);
FITS(fields_of_component);
FITS(fields_of_event);
FITS(fields_of_region);
FITS(fields_of_region_energy);
FITS(fields_of_fom);
FITS(fields_of_losses);
FITS(fields_of_crossing);
FITS(fields_of_share);
FITS(fields_of_share_energy);

const char *field_type_name(int type)
{
    static const char *const names[] = {[APAPI_TYPE_INT64] = "int64",
                                        [APAPI_TYPE_UINT64] = "uint64",
                                        [APAPI_TYPE_FP64] = "fp64",
                                        [APAPI_TYPE_BIT64] = "bit64"};

    return type >= 0 && type < (int)(COUNT_OF(names)) ? names[type] : NULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

#define PATH_SIZE 128                    /* longest: "components[N].events[N]" */
#define FIELD_LONGEST_S 18446744073.7096 /* UINT64_MAX ns in fifteen digits, rounded up */

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
    if (seconds > FIELD_LONGEST_S) {
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

/* --- writing ---------------------------------------------------------------------------------- */

/* @param direction  1: not less than the value, -1: not greater */
static double rounded_to_side(double value, int figures, int direction)
{
    double nearest = json_rounded(value, figures);
    double step = pow(10, floor(log10(fabs(value))) - figures + 1);

    if (!isfinite(value) || (nearest - value) * direction >= 0) {
        return nearest;
    }
    return nearest + direction * step;
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
    case FIELD_MEASURED:
    case FIELD_AMOUNT:
        json_put_number(json, key, *(const double *)member, JSON_MEASURED);
        break;
    case FIELD_ROUGH:
    case FIELD_PART:
        json_put_number(json, key, *(const double *)member, JSON_ROUGH);
        break;
    case FIELD_LEAST:
        json_put_number(json, key, rounded_to_side(*(const double *)member, JSON_ROUGH, -1),
                        JSON_ROUGH);
        break;
    case FIELD_GREATEST:
        json_put_number(json, key, rounded_to_side(*(const double *)member, JSON_ROUGH, 1),
                        JSON_ROUGH);
        break;
    case FIELD_EXACT:
        json_put_number(json, key, *(const double *)member, JSON_EXACT);
        break;
    case FIELD_FLAG:
        json_put_flag(json, key, *(const bool *)member);
        break;
    case FIELD_MOMENT:
        json_put_moment(json, key, *(const int64_t *)member);
        break;
    case FIELD_KIND:
        json_put_text(json, key, apapi_kind_name(*(const enum apapi_kind *)member));
        break;
    case FIELD_DOMAIN:
        json_put_text(json, key, apapi_domain_name(*(const enum apapi_domain *)member));
        break;
    case FIELD_TYPE:
        json_put_text(json, key, field_type_name(*(const enum apapi_type *)member));
        break;
    case FIELD_REGION:
        json_put_text(json, key, apapi_region_kind_name(*(const enum apapi_region_kind *)member));
        break;
    case FIELD_METHOD:
        json_put_text(json, key,
                      apapi_region_method_name(*(const enum apapi_region_method *)member));
        break;
    }
}

void fields_write(struct json_writer *json, const struct field *fields, const void *base)
{
    for (const struct field *field = fields; field->key; field++) {
        const void *member = (const char *)base + field->offset;

        if (field->mandatory || !field_is_unknown(field, member)) {
            write_field(json, field, member);
        }
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
