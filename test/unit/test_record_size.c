/* SPDX-License-Identifier: BSD-3-Clause */
/* A record is short: what follows from the rest, or is the same for several, is left out. */
#include "unit/record_fixture.h"

#define USUAL_COVERED_NS UINT64_C(78642123456789)
#define USUAL_ELAPSED_NS UINT64_C(78642223456789)
#define USUAL_LATE_NS 1200001

/* Nothing went wrong, and all numbers have as many digits as numbers have. */
static void be_usual(struct apapi_event_result *result)
{
    result->incidents = (struct apapi_incidents){.samples = 786421};
    result->raw_total = 23405123456789;
    result->total = 23405123.456789;
    result->covered_ns = USUAL_COVERED_NS;
    result->summary = (struct apapi_summary){91.2512345, NAN, 362.512345, 361.125};
    result->summary.mean = result->total * 1e9 / (double)result->covered_ns;
    result->uncertainty_j =
        apapi_event_uncertainty_j(result, USUAL_ELAPSED_NS + USUAL_LATE_NS, 100000000);
}

/* As long as it can be: 120 bins, of which one is known in part. */
static void draw(struct apapi_domain_result *domain)
{
    struct apapi_timeline *timeline = &domain->timeline;

    timeline->bin_ns = 10000000 * (UINT64_C(1) << 16);
    timeline->length_ns = USUAL_ELAPSED_NS;
    timeline->count = APAPI_TIMELINE_BINS;
    for (size_t i = 0; i < APAPI_TIMELINE_BINS; i++) {
        timeline->energy_j[i] = (float)((101 + 7 * i) * 1000);
        timeline->covered_pct[i] = 100;
    }
    timeline->covered_pct[77] = 50;
}

/* The most usual of the big ones: two packages with memory, four GPUs. */
static struct apapi_record node_with_gpus(void)
{
    struct apapi_record record = usual_record();
    struct apapi_measurement *m = &record.measurement;
    struct apapi_component_result *grown = reallocarray(m->components, 2, sizeof(*grown));
    struct apapi_event_result events[4];

    assert_non_null(grown);
    for (int i = 0; i < 4; i++) {
        char name[APAPI_NAME_SIZE];

        snprintf(name, sizeof(name), "nvml:::NVIDIA_H200:device_%d:total_energy_consumption", i);
        events[i] = energy_event(name, APAPI_DOMAIN_GPU);
        events[i].event.range_max = 0;
        events[i].event.guard_j = 0;
        be_usual(&events[i]);
    }
    for (int i = 0; i < 4; i++) {
        be_usual(&grown[0].events[i]);
    }
    m->components = grown;
    grown[1] = (struct apapi_component_result){.name = "nvml",
                                               .measured = true,
                                               .source = "PAPI 7.2.0 nvml",
                                               .interval_ns = 100000000,
                                               .period = {31, 0.100004, 1.25e-05, 0.100211}};
    set_events(&grown[1], events, COUNT_OF(events));
    m->component_count = 2;
    m->domains[APAPI_DOMAIN_GPU] = (struct apapi_domain_result){
        true, 3577.24938, 2.61728, {365, 1190.44938, 1450, 1439.25}, {0}};
    grown[0].period.count = grown[1].period.count = 786421;
    m->elapsed_ns = USUAL_ELAPSED_NS;
    m->late_ns = USUAL_LATE_NS;
    for (int d = APAPI_DOMAIN_PACKAGE; d <= APAPI_DOMAIN_GPU; d++) {
        m->domains[d].energy_j *= 12345.678;
        m->domains[d].uncertainty_j = (d == APAPI_DOMAIN_GPU ? 4 : 2) * events[0].uncertainty_j;
        draw(&m->domains[d]);
    }
    return record;
}

static void a_usual_node_takes_four_kilobytes(void **state)
{
    struct apapi_record record = node_with_gpus();
    char *line = encode(&record);

    (void)state;
    if (strlen(line) > 4096) {
        fail_msg("%zu bytes: %s", strlen(line), line);
    }
    free(line);
    assert_round_trip(&record);
    apapi_record_clear(&record);
}

static void what_events_have_in_common_stands_once(void **state)
{
    struct apapi_record record = node_with_gpus();
    struct apapi_event_result *rapl = record.measurement.components[0].events;
    char *line;

    (void)state;
    rapl[1].covered_ns += 5;
    rapl[2].event.kind = rapl[3].event.kind = APAPI_KIND_COUNT;
    rapl[2].uncertainty_j = rapl[3].uncertainty_j = NAN;
    rapl[3].incidents.failed = 7;
    assert_round_trip(&record);
    line = encode(&record);
    assert_non_null(strstr(line, "\"common\":{\"energy\":{\"domain\":\"package\",\"unit\":\"J\","
                                 "\"scale\":1e-6,\"counter\":true,"));
    assert_non_null(strstr(line, "\"count\":{\"domain\":\"dram\",\"unit\":\"J\","));
    assert_non_null(strstr(line, "\"p95\":361.125,\"covered_s\":78642.123456794}"));
    assert_non_null(strstr(line, "\"p95\":361.125,\"failed\":7}"));
    assert_non_null(strstr(line, ":PACKAGE0\",\"total\":23405123.456789,\"min\":91.2512,\"max\""));
    free(line);
    apapi_record_clear(&record);
}

static void what_does_not_follow_is_not_left_out(void **state)
{
    struct apapi_record record = node_with_gpus();
    struct apapi_event_result *rapl = record.measurement.components[0].events;
    char *line;

    (void)state;
    rapl[0].raw_total++;
    rapl[1].summary.mean *= 1.00001;
    rapl[2].uncertainty_j *= 2;
    assert_round_trip(&record);
    line = encode(&record);
    assert_non_null(strstr(line, "\"raw_total\":23405123456790,"));
    assert_non_null(strstr(line, ",\"mean\":"));
    assert_non_null(strstr(line, "\"p95\":361.125,\"uncertainty_j\":"));
    free(line);
    apapi_record_clear(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_usual_node_takes_four_kilobytes),
        cmocka_unit_test(what_events_have_in_common_stands_once),
        cmocka_unit_test(what_does_not_follow_is_not_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
