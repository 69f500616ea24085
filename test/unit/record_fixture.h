/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_RECORD_FIXTURE_H
#define UNIT_RECORD_FIXTURE_H
/* A typical record, and whether it can be decoded from its line. */
#include "apapi/record.h"
#include "measure/domain.h"
#include "unit/unit.h"

#define START_NS INT64_C(1795260001123456789) /* 2026-11-21T11:20:01.123456789Z */

static inline struct apapi_event_result energy_event(const char *name, enum apapi_domain domain)
{
    struct apapi_event_result result = {.event = {"", "J", APAPI_KIND_ENERGY, domain,
                                                  APAPI_TYPE_UINT64, true, 262143328850, 1e-6,
                                                  262143.32885, 1000000},
                                        .raw_total = 894312345,
                                        .total = 894.312345,
                                        .summary = {91.25, 297.612345, 362.5, 361.125},
                                        .covered_ns = 3003123456,
                                        .uncertainty_j = 0.654321,
                                        .incidents = {.samples = 31,
                                                      .failed = 1,
                                                      .wraps = 2,
                                                      .resets = 3,
                                                      .refused = 4,
                                                      .gaps = 5,
                                                      .stalls = 6}};

    snprintf(result.event.name, sizeof(result.event.name), "%s", name);
    return result;
}

static inline void set_events(struct apapi_component_result *component,
                              const struct apapi_event_result *events, size_t count)
{
    component->events = calloc(count, sizeof(*events));
    assert_non_null(component->events);
    memcpy(component->events, events, count * sizeof(*events));
    component->event_count = count;
}

/* A usual node: two packages with memory. */
static inline struct apapi_record usual_record(void)
{
    const struct apapi_event_result events[] = {
        energy_event("rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE),
        energy_event("rapl:::PACKAGE_ENERGY:PACKAGE1", APAPI_DOMAIN_PACKAGE),
        energy_event("rapl:::DRAM_ENERGY:PACKAGE0", APAPI_DOMAIN_DRAM),
        energy_event("rapl:::DRAM_ENERGY:PACKAGE1", APAPI_DOMAIN_DRAM)};
    struct apapi_record record = {.id = {.cluster = "mars",
                                         .job = 1747302,
                                         .array_job = 1747300,
                                         .array_task = 2,
                                         .het_job = APAPI_UNKNOWN,
                                         .het_offset = APAPI_UNKNOWN,
                                         .step = "0",
                                         .name = "stream",
                                         .job_name = "triad-sweep",
                                         .node = "n0417",
                                         .node_index = 0,
                                         .nodes = 2,
                                         .nodelist = "n[0417-0418]",
                                         .tasks = 4,
                                         .cores = 128,
                                         .node_cores = 128,
                                         .gpus = 4,
                                         .restarts = APAPI_UNKNOWN,
                                         .uid = 1000,
                                         .user = "alice",
                                         .account = "physics",
                                         .partition = "batch",
                                         .qos = "normal"},
                                  .complete = true,
                                  .ending = {0, APAPI_UNKNOWN, APAPI_UNKNOWN},
                                  .measurement = {.start_unix_ns = START_NS,
                                                  .boot = "9f1c6c0e4b7d4a52b0d3c6a8e7f54321",
                                                  .monotonic_ns = 4012345123456000,
                                                  .elapsed_ns = 3004123456,
                                                  .late_ns = 1200001,
                                                  .covered = 0.9991,
                                                  .cpu_ns = 2100000,
                                                  .component_count = 1}};
    struct apapi_measurement *m = &record.measurement;

    unmeasure_domains(m->domains);
    m->domains[APAPI_DOMAIN_PACKAGE] =
        (struct apapi_domain_result){.measured = true,
                                     .energy_j = 1788.62469,
                                     .uncertainty_j = 1.30864,
                                     .power_w = {182.5, 595.22469, 725, 719.5}};
    m->domains[APAPI_DOMAIN_DRAM] =
        (struct apapi_domain_result){.measured = true,
                                     .energy_j = 1788.62469,
                                     .uncertainty_j = 1.30864,
                                     .power_w = {182.5, 595.22469, 725, 719.5}};
    m->components = calloc(1, sizeof(*m->components));
    assert_non_null(m->components);
    m->components[0] =
        (struct apapi_component_result){.name = "rapl",
                                        .measured = true,
                                        .source = "sysfs powercap",
                                        .interval_ns = 100000000,
                                        .period = {31, 0.100004, 1.25e-05, 0.100211}};
    set_events(&m->components[0], events, COUNT_OF(events));
    return record;
}

static inline void describe_event(FILE *out, const struct apapi_event_result *result)
{
    const struct apapi_event *event = &result->event;
    const struct apapi_incidents *n = &result->incidents;

    fprintf(out, "\n    %s %s %d %d %d %d %d", event->name, event->unit, event->kind, event->domain,
            event->type, event->accumulates, event->estimated);
    fprintf(out, " range %ju scale %.15g guard %.15g update %ju raw %ju",
            (uintmax_t)event->range_max, event->scale, event->guard_j, (uintmax_t)event->update_ns,
            (uintmax_t)result->raw_total);
    fprintf(out, " total %.9g +- %.6g %.4g %.9g %.4g %.6g covered %ju stuck %d", result->total,
            result->uncertainty_j, result->summary.min, result->summary.mean, result->summary.max,
            result->summary.p95, (uintmax_t)result->covered_ns, result->stuck);
    fprintf(out, " %ju %ju %ju %ju %ju %ju %ju %ju", (uintmax_t)n->samples, (uintmax_t)n->failed,
            (uintmax_t)n->wraps, (uintmax_t)n->resets, (uintmax_t)n->refused, (uintmax_t)n->gaps,
            (uintmax_t)n->stalls, (uintmax_t)n->rough);
}

static inline void describe_measurement(FILE *out, const struct apapi_measurement *m)
{
    fprintf(out, "\n%jd %ju %ju %.9g %ju", (intmax_t)m->start_unix_ns, (uintmax_t)m->elapsed_ns,
            (uintmax_t)m->late_ns, m->covered, (uintmax_t)m->cpu_ns);
    fprintf(out, " '%s' %ju", m->boot, (uintmax_t)m->monotonic_ns);
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        const struct apapi_domain_result *domain = &m->domains[i];

        fprintf(out, "\n  domain %d %.9g %.6g %.4g %.9g %.4g %.6g", domain->measured,
                domain->energy_j, domain->uncertainty_j, domain->power_w.min, domain->power_w.mean,
                domain->power_w.max, domain->power_w.p95);
    }
    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *component = &m->components[i];

        fprintf(out, "\n  %s %d '%s' '%s' %ju %ju", component->name, component->measured,
                component->source, component->reason, (uintmax_t)component->interval_ns,
                (uintmax_t)component->missed);
        fprintf(out, " period %ju %.6g %.6g %.6g", (uintmax_t)component->period.count,
                component->period.mean_s, component->period.sd_s, component->period.longest_s);
        for (size_t k = 0; k < component->event_count; k++) {
            describe_event(out, &component->events[k]);
        }
    }
}

/* Every member as text, with the precision of JSON. */
static inline char *describe(const struct apapi_record *record)
{
    const struct apapi_identity *id = &record->id;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    fprintf(out, "'%s' %u '%s' '%s' '%s' %u %u %u %u '%s' '%s' '%s' %d '%s'", id->cluster, id->job,
            id->step, id->name, id->node, id->node_index, id->nodes, id->tasks, id->uid, id->user,
            id->account, id->partition, record->complete, record->reason);
    fprintf(out, " %u_%u %u+%u '%s' '%s' %d %u/%u %u %u", id->array_job, id->array_task,
            id->het_job, id->het_offset, id->job_name, id->qos, id->verified, id->cores,
            id->node_cores, id->gpus, id->restarts);
    fprintf(out, " '%s'", id->nodelist);
    fprintf(out, " %u %u %u %d %d", record->ending.code, record->ending.signal,
            record->ending.failed, record->recovered, record->delayed);
    describe_measurement(out, &record->measurement);
    for (size_t i = 0; i < record->crossing_count; i++) {
        const struct apapi_crossing *crossing = &record->crossing[i];

        fprintf(out, "\n  '%s' %jd %.9g '%s' %ju '%s' '%s' of %ju", crossing->threshold,
                (intmax_t)crossing->unix_ns, crossing->value, crossing->unit,
                (uintmax_t)crossing->count, crossing->action, crossing->result,
                (uintmax_t)record->crossings);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

static inline char *encode(const struct apapi_record *record)
{
    char *line = NULL;

    assert_int_equal(apapi_record_encode(record, &line, &why), 0);
    assert_non_null(line);
    assert_null(strchr(line, '\n'));
    return line;
}

static inline struct apapi_record decode(const char *line)
{
    struct apapi_record record;

    fail_if(apapi_record_decode(line, strlen(line), &record, &why) < 0, "%s", why.text);
    return record;
}

static inline void assert_round_trip(const struct apapi_record *record)
{
    char *line = encode(record);
    struct apapi_record back = decode(line);
    char *expected = describe(record);
    char *got = describe(&back);

    assert_string_equal(expected, got);
    free(expected);
    free(got);
    free(line);
    apapi_record_clear(&back);
}

#endif
