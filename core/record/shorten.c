/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/shorten.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "measure/result.h"
#include "record/fields.h"
#include "record/record.h"

#define RAW_EXACT 1e14 /* counts up to this survive in a total of FIELD_FIGURES digits */

/* If most events of a kind have the same value of such a key, "common" has it. */
static const char *const shareable[] = {
    "domain",  "unit",     "scale",     "type",    "counter", "estimated", "range_max",
    "guard_j", "update_s", "covered_s", "samples", "failed",  "wraps",     "resets",
    "refused", "gaps",     "stalls",    "rough",   "stuck",   "still"};

static const char *kind_of(const json_t *event)
{
    const char *kind = json_string_value(json_object_get(event, "kind"));

    return kind ? kind : apapi_kind_name(APAPI_KIND_ENERGY);
}

/* Calculate what follows from other numbers. */

static double shorten_uncertainty_of(const struct apapi_component_result *component,
                                     const struct apapi_measurement *m,
                                     const struct apapi_event_result *event)
{
    return apapi_event_uncertainty_j(event, m->late_ns + m->elapsed_ns, component->interval_ns);
}

/* Check whether the event feeds a domain, as far as the record shows. */
static bool shorten_is_meter(const struct apapi_event_result *event, int domain,
                             enum apapi_kind kind)
{
    return (int)event->event.domain == domain && event->event.kind == kind &&
           event->event.accumulates == (kind == APAPI_KIND_ENERGY);
}

/* What the meters of a domain in a component say of it together; NaN: nothing. */
typedef double (*shorten_f)(const struct apapi_component_result *component,
                            const struct apapi_measurement *m, int domain, enum apapi_kind kind);

static double sum_uncertainties(const struct apapi_component_result *component,
                                const struct apapi_measurement *m, int domain, enum apapi_kind kind)
{
    double sum_j = 0;
    bool found = false;

    (void)m;
    for (size_t i = 0; i < component->event_count; i++) {
        if (shorten_is_meter(&component->events[i], domain, kind)) {
            sum_j += component->events[i].uncertainty_j;
            found = true;
        }
    }
    return found ? sum_j : NAN;
}

/* The meter with the least. */
static double least_coverage(const struct apapi_component_result *component,
                             const struct apapi_measurement *m, int domain, enum apapi_kind kind)
{
    double least = NAN;

    for (size_t i = 0; i < component->event_count; i++) {
        if (shorten_is_meter(&component->events[i], domain, kind)) {
            least = fmin(least, coverage_of_event(&component->events[i], m));
        }
    }
    return least;
}

/* Of the first component that has meters of the domain, as far as the record shows them. */
static double shorten_domain(const struct apapi_measurement *m, int domain, shorten_f together)
{
    double value = NAN;

    for (size_t i = 0; i < m->component_count && isnan(value); i++) {
        value = together(&m->components[i], m, domain, APAPI_KIND_ENERGY);
        if (isnan(value)) {
            value = together(&m->components[i], m, domain, APAPI_KIND_POWER);
        }
    }
    return value;
}

static uint64_t raw_of(double total, double scale)
{
    double raw = total / scale;

    return raw >= 1 && raw < RAW_EXACT ? (uint64_t)(raw + 0.5) : 0;
}

static bool counts_whole_numbers(const struct apapi_event *event)
{
    return event->accumulates && event->type != APAPI_TYPE_FP64;
}

static bool shorten_is_number(const json_t *event, const char *key, double value, int figures)
{
    const json_t *number = json_object_get(event, key);

    return number && isfinite(value) && json_number_value(number) == field_rounded(value, figures);
}

/* The raw count of a counter follows from its total if that has enough digits. */
static int leave_out_raw(json_t *json, const struct apapi_event_result *event)
{
    double total = field_rounded(event->total, FIELD_FIGURES);

    if (!counts_whole_numbers(&event->event) || event->raw_total == 0 ||
        raw_of(total, event->event.scale) != event->raw_total) {
        return 0;
    }
    json_object_del(json, "raw_total");
    return field_put(json, "total", json_real(total));
}

static int leave_out_derived(json_t *json, const struct apapi_component_result *component,
                             const struct apapi_measurement *m,
                             const struct apapi_event_result *event)
{
    if (shorten_is_number(json, "mean", apapi_meter_mean(event), FIELD_MEASURED_FIGURES)) {
        json_object_del(json, "mean");
    }
    if (shorten_is_number(json, "uncertainty_j", shorten_uncertainty_of(component, m, event),
                          FIELD_ROUGH_FIGURES)) {
        json_object_del(json, "uncertainty_j");
    }
    if (event->event.kind == APAPI_KIND_ENERGY) {
        json_object_del(json, "kind");
    }
    if (event->event.type == APAPI_TYPE_UINT64) {
        json_object_del(json, "type");
    }
    return leave_out_raw(json, event);
}

/* Common values of events. */

/* @return the only value that most events of this kind can have; NULL: none (majority vote). */
static const json_t *candidate(json_t *events, const char *kind, const char *key)
{
    const json_t *best = NULL;
    size_t index, lead = 0;
    json_t *event;

    json_array_foreach(events, index, event)
    {
        const json_t *value = json_object_get(event, key);

        if (strcmp(kind_of(event), kind) != 0) {
            continue;
        }
        if (!value) {
            return NULL;
        }
        if (lead == 0) {
            best = value;
        }
        lead = lead == 0 || json_equal(best, value) ? lead + 1 : lead - 1;
    }
    return lead > 0 ? best : NULL;
}

static size_t count_equal(json_t *events, const char *kind, const char *key, const json_t *value)
{
    size_t index, count = 0;
    json_t *event;

    json_array_foreach(events, index, event)
    {
        count +=
            strcmp(kind_of(event), kind) == 0 && json_equal(json_object_get(event, key), value);
    }
    return count;
}

static void remove_equal(json_t *events, const char *kind, const char *key, const json_t *value)
{
    size_t index;
    json_t *event;

    json_array_foreach(events, index, event)
    {
        if (strcmp(kind_of(event), kind) == 0 && json_equal(json_object_get(event, key), value)) {
            json_object_del(event, key);
        }
    }
}

static int share_key(json_t *common, json_t *events, const char *kind, const char *key)
{
    const json_t *value = candidate(events, kind, key);
    json_t *copy;

    if (!value || count_equal(events, kind, key, value) < 2) {
        return 0;
    }
    copy = json_deep_copy(value);
    if (json_object_set_new(common, key, copy) < 0) {
        return -1;
    }
    remove_equal(events, kind, key, copy);
    return 0;
}

static size_t count_of_kind(json_t *events, const char *kind)
{
    size_t index, count = 0;
    json_t *event;

    json_array_foreach(events, index, event)
    {
        count += strcmp(kind_of(event), kind) == 0;
    }
    return count;
}

static int share_kind(json_t *all, json_t *events, const char *kind)
{
    json_t *common;

    if (count_of_kind(events, kind) < 2) {
        return 0;
    }
    common = json_object();

    for (size_t i = 0; i < COUNT_OF(shareable) && common; i++) {
        if (share_key(common, events, kind, shareable[i]) < 0) {
            json_decref(common);
            return -1;
        }
    }
    if (json_object_size(common) > 0) {
        return json_object_set_new(all, kind, common);
    }
    json_decref(common);
    return common ? 0 : -1;
}

/* "common" comes before the events. */
static int share(json_t *component)
{
    json_t *events = json_object_get(component, "events");
    json_t *common = json_object();
    int failed = common == NULL;

    for (int kind = 0; kind < APAPI_KINDS && !failed; kind++) {
        failed = share_kind(common, events, apapi_kind_name(kind));
    }
    if (!failed && json_object_size(common) > 0) {
        json_incref(events);
        json_object_del(component, "events");
        failed = json_object_set(component, "common", common) |
                 json_object_set_new(component, "events", events);
    }
    json_decref(common);
    return failed ? -1 : 0;
}

static int shorten_component(json_t *json, const struct apapi_component_result *component,
                             const struct apapi_measurement *m)
{
    json_t *events = json_object_get(json, "events");

    for (size_t i = 0; i < json_array_size(events); i++) {
        if (leave_out_derived(json_array_get(events, i), component, m, &component->events[i]) < 0) {
            return -1;
        }
    }
    if (component->event_count > 0 && !isnan(component->period.mean_s) &&
        component->period.count == component->events[0].incidents.samples) {
        json_object_del(json, "periods");
    }
    return json_array_size(events) > 1 ? share(json) : 0;
}

static void shorten_domains(json_t *domains, const struct apapi_measurement *m)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        json_t *domain = json_object_get(domains, apapi_domain_name(d));

        if (domain &&
            shorten_is_number(domain, "uncertainty_j", shorten_domain(m, d, sum_uncertainties),
                              FIELD_ROUGH_FIGURES)) {
            json_object_del(domain, "uncertainty_j");
        }
        if (domain && shorten_is_number(domain, "covered", shorten_domain(m, d, least_coverage),
                                        FIELD_ROUGH_FIGURES)) {
            json_object_del(domain, "covered");
        }
    }
}

/* The reader counts them from the events. */
static void leave_out_zeros(json_t *trust)
{
    static const char *const counts[] = {"failed", "wraps",  "resets", "refused",
                                         "gaps",   "stalls", "missed"};

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (json_integer_value(json_object_get(trust, counts[i])) == 0) {
            json_object_del(trust, counts[i]);
        }
    }
}

int shorten_record(json_t *root, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    json_t *components = json_object_get(root, "components");

    for (size_t i = 0; i < json_array_size(components); i++) {
        if (shorten_component(json_array_get(components, i), &m->components[i], m) < 0) {
            return -1;
        }
    }
    shorten_domains(json_object_get(root, "domains"), m);
    leave_out_zeros(json_object_get(root, "trust"));
    /* these follow from the domains */
    json_object_del(json_object_get(root, "trust"), "uncertainty_j");
    json_object_del(json_object_get(root, "total"), "mean_w");
    json_object_del(json_object_get(root, "total"), "covered");
    json_object_del(json_object_get(root, "total"), "rest_j");
    return 0;
}

const struct tree_node *shortened_common(const struct tree_node *component,
                                         const struct tree_node *event)
{
    const struct tree_node *kind = tree_get(event, "kind");
    const struct tree_node *common =
        tree_get(tree_get(component, "common"),
                 tree_is(kind, TREE_TEXT) ? kind->text : apapi_kind_name(APAPI_KIND_ENERGY));

    return tree_is(common, TREE_OBJECT) ? common : NULL;
}

static void fill_in_event(const struct apapi_component_result *component,
                          const struct apapi_measurement *m, struct apapi_event_result *event)
{
    if (event->raw_total == 0 && counts_whole_numbers(&event->event) && event->total > 0) {
        event->raw_total = raw_of(event->total, event->event.scale);
    }
    if (isnan(event->summary.mean)) {
        event->summary.mean = apapi_meter_mean(event);
    }
    if (isnan(event->uncertainty_j)) {
        event->uncertainty_j = shorten_uncertainty_of(component, m, event);
    }
}

static void fill_in_component(struct apapi_component_result *component,
                              const struct apapi_measurement *m)
{
    for (size_t i = 0; i < component->event_count; i++) {
        fill_in_event(component, m, &component->events[i]);
    }
    if (component->event_count > 0 && component->period.count == 0 &&
        !isnan(component->period.mean_s)) {
        component->period.count = component->events[0].incidents.samples;
    }
}

void shortened_fill_in(struct apapi_measurement *m)
{
    for (size_t i = 0; i < m->component_count; i++) {
        fill_in_component(&m->components[i], m);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (m->domains[d].measured && isnan(m->domains[d].uncertainty_j)) {
            m->domains[d].uncertainty_j = shorten_domain(m, d, sum_uncertainties);
        }
        if (m->domains[d].measured && isnan(m->domains[d].covered)) {
            m->domains[d].covered = shorten_domain(m, d, least_coverage);
        }
    }
}
