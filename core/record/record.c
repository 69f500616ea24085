/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/record.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/fields.h"
#include "record/members.h"

/* --- GPUs ------------------------------------------------------------------------------------- */

/* "nvml:::NAME:device_1:power", "amd_smi:::energy_consumed:device=1", "intel_gpu:::card1:energy1"
 */
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

void domain_list_write(struct json_writer *json, const char *key, uint32_t set)
{
    json_begin_array(json, key);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (set & domain_bit(d)) {
            json_put_text(json, NULL, apapi_domain_name(d));
        }
    }
    json_end_or_drop(json);
}

int domain_list_read(const struct tree_node *array, uint32_t *set)
{
    const struct tree_node *name = NULL;

    if (!tree_is(array, TREE_ARRAY)) {
        return -1;
    }
    *set = 0;
    while ((name = tree_each(array, name)) && name->type == TREE_TEXT) {
        enum apapi_domain domain = apapi_domain_find(name->text);

        *set |= domain == APAPI_DOMAIN_NONE ? 0 : domain_bit(domain);
    }
    return name ? -1 : 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void encode_domains(struct json_writer *json, const struct apapi_measurement *m)
{
    json_begin_object(json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (m->domains[d].measured) {
            json_begin_object(json, apapi_domain_name(d));
            fields_write(json, fields_of_domain, &m->domains[d]);
            json_end(json);
        }
    }
    json_end(json);
}

static void encode_total(struct json_writer *json, const struct apapi_measurement *m)
{
    const struct apapi_domain_result total = {
        .measured = true,
        .energy_j = apapi_measurement_total_j(m),
        .uncertainty_j = NAN, /* in the trust block */
        .covered = coverage_of_total(m),
        .rest_j = coverage_rest_j(m),
        .power_w = {.min = NAN, .mean = apapi_measurement_total_w(m), .max = NAN, .p95 = NAN}};
    uint32_t missing = domain_list_adding_up(m->unknown_domains);

    if (isnan(total.energy_j) && isnan(total.power_w.mean)) {
        return;
    }
    json_begin_object(json, "total");
    fields_write(json, fields_of_domain, &total);
    domain_list_write(json, "missing_domains", missing);
    json_end(json);
}

/* "source" says that it was measured. If it was not, there is "reason". */
static void encode_component(struct json_writer *json,
                             const struct apapi_component_result *component,
                             const struct record_extra *extra)
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
            if (extra && extra->event) {
                extra->event(json, &component->events[i]);
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
    domain_list_write(json, "unknown_domains", m->unknown_domains);
    json_put_number(json, "uncertainty_j", apapi_record_uncertainty_j(m), JSON_ROUGH);
    json_put_count(json, "samples", sum.samples);
    incidents_write(json, &sum, missed);
    json_end(json);
}

void record_write(struct json_writer *json, const struct apapi_record *record,
                  const struct record_extra *extra)
{
    const struct apapi_measurement *m = &record->measurement;

    json_put_integer(json, "apapi", APAPI_RECORD_VERSION);
    fields_write(json, fields_of_record, record);
    json_put_moment(json, "end", record_end_ns(m));
    encode_domains(json, m);
    encode_total(json, m);
    json_begin_array(json, "components");
    for (size_t i = 0; i < m->component_count; i++) {
        encode_component(json, &m->components[i], extra);
    }
    json_end(json);
    timelines_write(json, m);
    encode_trust(json, m);
    json_begin_array(json, "crossings"); /* without thresholds, there are no such keys */
    fields_write_list(json, fields_of_crossing, record->crossing, record->crossing_count,
                      sizeof record->crossing[0]);
    if (record->crossing_count > 0 && record->crossings > record->crossing_count) {
        json_put_count(json, "crossings_total", record->crossings);
    }
    share_write(json, &record->share);
    regions_write(json, &record->regions);
}
