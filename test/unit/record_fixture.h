/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_RECORD_FIXTURE_H
#define UNIT_RECORD_FIXTURE_H
/* A typical record, and a check that its line can be decoded to the same record. */
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

#define USUAL_DOMAIN                                                                               \
    "{\"energy_j\":1788.62469,\"uncertainty_j\":1.30864,\"min_w\":182.5,\"mean_w\":595.22469,"     \
    "\"max_w\":725,\"p95_w\":719.5}"

/* @return a record of a usual node: two packages with memory. */
static inline struct apapi_record usual_record(void)
{
    const struct apapi_event_result events[] = {
        energy_event("rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE),
        energy_event("rapl:::PACKAGE_ENERGY:PACKAGE1", APAPI_DOMAIN_PACKAGE),
        energy_event("rapl:::DRAM_ENERGY:PACKAGE0", APAPI_DOMAIN_DRAM),
        energy_event("rapl:::DRAM_ENERGY:PACKAGE1", APAPI_DOMAIN_DRAM)};
    struct apapi_record record = decode(
        "{\"apapi\":1,\"cluster\":\"mars\",\"job\":1747302,\"array_job\":1747300,\"array_task\":2,"
        "\"step\":\"0\",\"name\":\"stream\",\"job_name\":\"triad-sweep\",\"node\":\"n0417\","
        "\"node_index\":0,\"nodes\":2,\"nodelist\":\"n[0417-0418]\",\"tasks\":4,\"cores\":128,"
        "\"node_cores\":128,\"gpus\":4,\"uid\":1000,\"user\":\"alice\",\"account\":\"physics\","
        "\"partition\":\"batch\",\"qos\":\"normal\",\"start\":\"2026-11-21T11:20:01.123456789Z\","
        "\"boot\":\"9f1c6c0e4b7d4a52b0d3c6a8e7f54321\",\"monotonic_s\":4012345.123456,"
        "\"elapsed_s\":3.004123456,\"late_s\":0.001200001,\"exit_code\":0,\"complete\":true,"
        "\"domains\":{\"package\":" USUAL_DOMAIN ",\"dram\":" USUAL_DOMAIN "},"
        "\"components\":[{\"name\":\"rapl\",\"source\":\"sysfs powercap\",\"interval_s\":0.1,"
        "\"periods\":31,\"period_mean_s\":0.100004,\"period_sd_s\":1.25e-5,"
        "\"period_longest_s\":0.100211,\"events\":[]}],"
        "\"trust\":{\"covered\":0.9991,\"cpu_s\":0.0021}}");

    free(record.measurement.components[0].events);
    set_events(&record.measurement.components[0], events, COUNT_OF(events));
    return record;
}

/* Check that a record's line, decoded and encoded again, is the same. */
static inline void assert_round_trip(const struct apapi_record *record)
{
    FREED char *line = encode(record), *again = NULL;
    struct apapi_record back = decode(line);

    again = encode(&back);
    assert_string_equal(line, again);
    apapi_record_clear(&back);
}

#endif
