/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/record.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "measure/counter.h"
#include "record/fields.h"
#include "record/members.h"

/* --- GPUs ------------------------------------------------------------------------------------- */

/* @return bit of the GPU in an event's name, 0: none. "nvml:::NAME:device_1:power",
 * "amd_smi:::energy_consumed:device=1", "intel_gpu:::card1:energy1" */
static uint64_t gpu_of_event(const char *name)
{
    static const char *const words[] = {"device_", "device=", "card", "gpu"};

    for (const char *part = strstr(name, ":::"); part; part = strchr(part, ':')) {
        part += strspn(part, ":");
        for (size_t i = 0; i < COUNT_OF(words); i++) {
            size_t length = strlen(words[i]);

            if (strncmp(part, words[i], length) == 0 && isdigit((unsigned char)part[length])) {
                return UINT64_C(1) << strtoul(part + length, NULL, 10) % 64;
            }
        }
    }
    return 0;
}

uint64_t record_gpus(const struct apapi_measurement *m)
{
    uint64_t gpus = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            const struct apapi_event *event = &m->components[i].events[k].event;

            gpus |= event->domain == APAPI_DOMAIN_GPU ? gpu_of_event(event->name) : 0;
        }
    }
    return gpus;
}

/* --- coverage --------------------------------------------------------------------------------- */

static bool coverage_counts(const struct apapi_measurement *m, int domain)
{
    return apapi_domain_adds_up(domain) && m->domains[domain].measured &&
           !isnan(m->domains[domain].energy_j);
}

#define COVERAGE_WHOLE 0.995 /* a coverage below this is shown beside the energy */

bool coverage_is_low(double covered)
{
    return covered > 0 && covered < COVERAGE_WHOLE;
}

double coverage_pct(double covered)
{
    return floor(covered * 1000 + 1e-6) / 10;
}

double coverage_of_total(const struct apapi_measurement *m)
{
    double least = NAN;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (coverage_counts(m, d)) {
            if (!(m->domains[d].covered > 0)) {
                return NAN;
            }
            least = fmin(least, m->domains[d].covered);
        }
    }
    return least;
}

double coverage_rest_of(const struct apapi_domain_result *domain)
{
    if (domain->rest_j > 0) {
        return domain->rest_j;
    }
    return domain->covered >= 1 ? 0 : NAN;
}

double coverage_rest_j(const struct apapi_measurement *m)
{
    double sum_j = 0;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        sum_j += coverage_counts(m, d) ? coverage_rest_of(&m->domains[d]) : 0;
    }
    return sum_j;
}

/* --- windows ---------------------------------------------------------------------------------- */

uint64_t window_shortest_ns(const struct apapi_measurement *m)
{
    uint64_t shortest_ns = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *component = &m->components[i];
        uint64_t window_ns = apapi_window_ns(component->interval_ns, 0);

        for (size_t k = 0; k < component->event_count; k++) {
            const struct apapi_event *event = &component->events[k].event;
            uint64_t own_ns = apapi_window_ns(component->interval_ns, event->update_ns);
            bool longer = own_ns > window_ns && event->accumulates;

            window_ns = longer && apapi_counter_never_rests(event) ? own_ns : window_ns;
        }
        shortest_ns = window_shorter_ns(shortest_ns, component->measured ? window_ns : 0);
    }
    return shortest_ns;
}

/* --- sets of domains -------------------------------------------------------------------------- */

uint32_t domain_list_adding_up(uint32_t set)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (!apapi_domain_adds_up(d)) {
            set &= ~domain_bit(d);
        }
    }
    return set;
}

void domain_list_text(uint32_t set, const char *separator, char text[DOMAIN_LIST_SIZE])
{
    size_t length = 0;

    *text = '\0';
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (set & domain_bit(d)) {
            length += (size_t)snprintf(text + length, DOMAIN_LIST_SIZE - length, "%s%s",
                                       length ? separator : "", apapi_domain_name(d));
        }
    }
}

/* --- crossings -------------------------------------------------------------------------------- */

static const struct field fields_of_crossing[] = {
    FIELD_TEXT_OF(apapi_crossing, "threshold", true, threshold),
    FIELD_OF(apapi_crossing, "time", MOMENT, true, unix_ns),
    FIELD_OF(apapi_crossing, "value", MEASURED, false, value),
    FIELD_TEXT_OF(apapi_crossing, "unit", false, unit),
    FIELD_OF(apapi_crossing, "count", COUNT, true, count),
    FIELD_TEXT_OF(apapi_crossing, "action", false, action),
    FIELD_TEXT_OF(apapi_crossing, "result", false, result),
    FIELD_END};

static const struct field fields_of_crossings[] = {FIELD_LIST_OF(apapi_record, "crossings", false,
                                                                 crossing, crossing_count,
                                                                 fields_of_crossing, NULL),
                                                   FIELD_END};

/* --- reading ---------------------------------------------------------------------------------- */

#define COVERED_TOLERANCE 1e-6 /* for errors of rounding */

static int read_domain(const struct tree_node *object, void *structure,
                       const struct field_path *path)
{
    struct apapi_domain_result *domain = structure;

    (void)object;
    domain->measured = true;
    return domain->covered > 1 + COVERED_TOLERANCE ? field_fail(path, "covered", "above 1") : 0;
}

static int read_event(const struct tree_node *object, void *structure,
                      const struct field_path *path)
{
    const struct apapi_event_result *event = structure;

    (void)object;
    if (event->event.kind == APAPI_KIND_ENERGY && event->total < 0) {
        return field_fail(path, "total", "an energy below 0");
    }
    return event->event.scale > 0 ? 0 : field_fail(path, "scale", "not above 0");
}

static const struct field fields_of_events[] = {FIELD_LIST_OF(apapi_component_result, "events",
                                                              false, events, event_count,
                                                              fields_of_event, read_event),
                                                FIELD_END};

static int read_component(const struct tree_node *object, void *structure,
                          const struct field_path *path)
{
    struct apapi_component_result *component = structure;

    component->measured = tree_get(object, "source") != NULL;
    if (!component->measured && !tree_get(object, "reason")) {
        return field_fail(path, "source", "is missing, and there is no reason");
    }
    return fields_decode(object, fields_of_events, component, path);
}

#define INCIDENTS_OF(count) FIELD_OF(apapi_incidents, #count, COUNT, false, count)

static const struct field fields_of_incidents[] = {
    INCIDENTS_OF(samples), INCIDENTS_OF(failed),  INCIDENTS_OF(wraps),
    INCIDENTS_OF(resets),  INCIDENTS_OF(refused), INCIDENTS_OF(gaps),
    INCIDENTS_OF(stalls),  INCIDENTS_OF(rough),   FIELD_END};

static int read_trust(const struct tree_node *object, void *structure,
                      const struct field_path *path)
{
    struct apapi_measurement *m = structure;

    if (fields_decode(object, fields_of_incidents, &m->incidents, path) < 0) {
        return -1;
    }
    if (m->covered > 1 + COVERED_TOLERANCE) {
        return field_fail(path, "covered", "above 1");
    }
    m->covered = m->covered > 1 ? 1 : m->covered;
    return 0;
}

static const struct field fields_of_measurement[] = {
    FIELD_DOMAINS_OF(apapi_measurement, "domains", true, domains, fields_of_domain, read_domain),
    FIELD_LIST_OF(apapi_measurement, "components", true, components, component_count,
                  fields_of_component, read_component),
    {.key = "trust",
     .form = FIELD_OBJECT,
     .mandatory = true,
     .fields = fields_of_trust,
     .read = read_trust},
    FIELD_END};

/* Check the crossings, which a record has only if a threshold was crossed. */
static int check_crossings(const struct tree_node *root, struct apapi_record *record,
                           const struct field_path *path)
{
    const struct tree_node *total = tree_get(root, "crossings_total");
    int64_t count = (int64_t)record->crossing_count;

    if (count > APAPI_CROSSINGS_MAX) {
        return field_fail(path, "crossings", "not an array of up to 32");
    }
    if (count > 0 && total && (!tree_is(total, TREE_INTEGER) || total->integer < count)) {
        return field_fail(path, "crossings_total", "less than there are");
    }
    record->crossings = (uint64_t)(count > 0 && total ? total->integer : count);
    return 0;
}

static int check_version(const struct tree_node *root, const struct field_path *path)
{
    const struct tree_node *version = tree_get(root, "apapi");

    if (root->type != TREE_OBJECT) {
        return field_fail(path, "", "not a JSON object");
    }
    if (!tree_is(version, TREE_INTEGER)) {
        return field_fail(path, "apapi", version ? "not an integer" : "is missing");
    }
    if (version->integer != APAPI_RECORD_VERSION) {
        return apapi_fail(path->err, ENOTSUP, "record: version %lld, only %d is known",
                          (long long)version->integer, APAPI_RECORD_VERSION);
    }
    return 0;
}

static int decode_root(const struct tree_node *root, struct apapi_record *record,
                       struct apapi_error *err)
{
    const struct field_path path = {NULL, "", NULL, err};
    struct apapi_measurement *m = &record->measurement;
    const struct tree_node *nodelist = tree_get(root, "nodelist");

    if (check_version(root, &path) < 0 ||
        fields_decode(root, fields_of_record, record, &path) < 0 ||
        fields_decode(root, fields_of_measurement, m, &path) < 0 ||
        timelines_decode(tree_get(root, "timeline"), m, &path) < 0 ||
        fields_decode(root, fields_of_regions, &record->regions, &path) < 0 ||
        fields_decode(root, fields_of_crossings, record, &path) < 0 ||
        check_crossings(root, record, &path) < 0 ||
        share_decode(tree_get(root, "share"), &record->share, &path) < 0) {
        return -1;
    }
    if (nodelist && nodelist->size >= sizeof(record->id.nodelist)) {
        record->id.nodelist[0] = '\0'; /* a truncated list names the wrong nodes */
    }
    return 0;
}

int apapi_record_decode(const char *text, size_t size, struct apapi_record *record,
                        struct apapi_error *err)
{
    struct apapi_record result = {0};
    struct tree_problem problem;
    struct tree tree = {0};
    int rc;

    if (tree_parse(&tree, text, size, &problem) == 0) {
        rc = decode_root(tree.nodes, &result, err);
    } else if (errno == ENOMEM) {
        rc = apapi_fail(err, ENOMEM, "record: out of memory");
    } else {
        rc = apapi_fail(err, EINVAL, "record: line %zu, column %zu: %s", problem.line,
                        problem.column, problem.what);
    }
    tree_free(&tree);
    if (rc < 0) {
        apapi_record_clear(&result);
    } else {
        *record = result;
    }
    return rc;
}

/* --- freeing ---------------------------------------------------------------------------------- */

void apapi_record_clear(struct apapi_record *record)
{
    int saved;

    if (!record) {
        return;
    }
    saved = errno;
    apapi_measurement_clear(&record->measurement);
    apapi_regions_clear(&record->regions);
    free(record->crossing);
    memset(record, 0, sizeof(*record));
    errno = saved;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void encode_total(struct json_writer *json, const struct apapi_measurement *m)
{
    const struct apapi_domain_result total = {
        .measured = true,
        .energy_j = apapi_measurement_total_j(m),
        .uncertainty_j = NAN, /* is written into the trust block */
        .covered = coverage_of_total(m),
        .rest_j = coverage_rest_j(m),
        .power_w = {.min = NAN, .mean = apapi_measurement_total_w(m), .max = NAN, .p95 = NAN}};

    if (isnan(total.energy_j) && isnan(total.power_w.mean)) {
        return;
    }
    json_begin_object(json, "total");
    fields_write(json, fields_of_domain, &total);
    domain_list_write(json, "missing_domains", domain_list_adding_up(m->unknown_domains));
    json_end(json);
}

/* A component that was measured has "source", one that was not has "reason". */
static void encode_component(struct json_writer *json,
                             const struct apapi_component_result *component, record_event_f more)
{
    struct apapi_component_result said = *component;

    json_begin_object(json, NULL);
    if (!component->measured) {
        said.source[0] = '\0';
    }
    fields_write(json, fields_of_component, &said);
    if (component->measured && !*said.source) {
        json_put_text(json, "source", "");
    } else if (!component->measured && !*said.reason) {
        json_put_text(json, "reason", "");
    }
    if (component->measured || component->event_count > 0) {
        json_begin_array(json, "events");
        for (size_t i = 0; i < component->event_count; i++) {
            json_begin_object(json, NULL);
            fields_write(json, fields_of_event, &component->events[i]);
            if (more) {
                more(json, &component->events[i]);
            }
            json_end(json);
        }
        json_end(json);
    }
    json_end(json);
}

void incidents_write(struct json_writer *json, const struct apapi_incidents *sum, uint64_t missed)
{
    json_put_count(json, "failed", sum->failed);
    json_put_count(json, "wraps", sum->wraps);
    json_put_count(json, "resets", sum->resets);
    json_put_count(json, "refused", sum->refused);
    json_put_count(json, "gaps", sum->gaps);
    json_put_count(json, "stalls", sum->stalls);
    json_put_count(json, "missed", missed);
    if (sum->rough > 0) {
        json_put_count(json, "rough", sum->rough);
    }
}

static void encode_trust(struct json_writer *json, const struct apapi_measurement *m)
{
    const struct apapi_incidents sum = apapi_measurement_incidents(m);
    uint64_t missed = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        missed += m->components[i].missed;
    }
    json_begin_object(json, "trust");
    fields_write(json, fields_of_trust, m);
    json_put_number(json, "uncertainty_j", apapi_record_uncertainty_j(m), JSON_ROUGH);
    json_put_count(json, "samples", sum.samples);
    incidents_write(json, &sum, missed);
    json_end(json);
}

void record_write(struct json_writer *json, const struct apapi_record *record, record_event_f more)
{
    const struct apapi_measurement *m = &record->measurement;

    json_put_integer(json, "apapi", APAPI_RECORD_VERSION);
    fields_write(json, fields_of_record, record);
    json_put_moment(json, "end", record_end_ns(m));
    json_begin_object(json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (m->domains[d].measured) {
            json_begin_object(json, apapi_domain_name(d));
            fields_write(json, fields_of_domain, &m->domains[d]);
            json_end(json);
        }
    }
    json_end(json);
    encode_total(json, m);
    json_begin_array(json, "components");
    for (size_t i = 0; i < m->component_count; i++) {
        encode_component(json, &m->components[i], more);
    }
    json_end(json);
    timelines_write(json, m);
    encode_trust(json, m);
    fields_write(json, fields_of_crossings, record);
    if (record->crossing_count > 0 && record->crossings > record->crossing_count) {
        json_put_count(json, "crossings_total", record->crossings);
    }
    share_write(json, &record->share, 0);
    fields_write(json, fields_of_regions, &record->regions);
}

int apapi_record_encode(const struct apapi_record *record, char **line, struct apapi_error *err)
{
    struct json_writer json = {0};
    char *text;

    json_begin_object(&json, NULL);
    record_write(&json, record, NULL);
    json_end(&json);
    text = json_take(&json);
    if (!text) {
        return apapi_fail(err, ENOMEM, "record: out of memory");
    }
    *line = text;
    return 0;
}
