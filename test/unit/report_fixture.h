/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_REPORT_FIXTURE_H
#define TEST_REPORT_FIXTURE_H
/* Runs of a program as atime has measured them, with different numbers everywhere. */
#include "atime/report.h"
#include "measure/domain.h"
#include "unit/unit.h"

#define FIXTURE_RUNS 3
#define FIXTURE_S UINT64_C(1000000000)

static char *fixture_program[] = {(char[]){"./a.out"}, (char[]){"-x"}, (char[]){"a\"b"}, NULL};

static inline struct apapi_event_result fixture_energy(double factor)
{
    struct apapi_event_result result = {
        .event = {.name = "rapl:::PACKAGE_ENERGY:PACKAGE0",
                  .unit = "J",
                  .kind = APAPI_KIND_ENERGY,
                  .domain = APAPI_DOMAIN_PACKAGE,
                  .type = APAPI_TYPE_UINT64,
                  .accumulates = true,
                  .scale = 1e-6},
        .total = 200 * factor,
        .summary = {90, 100 * factor, 120, 118},
        .covered_ns = 2 * FIXTURE_S,
        .uncertainty_j = 0.25,
        .incidents = {.samples = 21, .wraps = 1},
        .values = {{.shown = APAPI_SHOW_ACC,
                    .type = "energy",
                    .unit = "Ws",
                    .factor = 1e6,
                    .last = 10.5,
                    .min = 9,
                    .max = 12,
                    .avg = 10,
                    .acc = 200 * factor},
                   {.shown = APAPI_SHOW_MIN | APAPI_SHOW_MAX | APAPI_SHOW_AVG,
                    .type = "power",
                    .unit = "W",
                    .factor = 0.001,
                    .last = 105,
                    .min = 90,
                    .max = 120,
                    .avg = 100,
                    .acc = 2000}}};

    return result;
}

/* No definition selects values of it. */
static inline struct apapi_event_result fixture_gauge(void)
{
    struct apapi_event_result result = {.event = {.name = "coretemp:::hwmon0,temp1",
                                                  .unit = "C",
                                                  .kind = APAPI_KIND_TEMPERATURE,
                                                  .type = APAPI_TYPE_INT64,
                                                  .scale = 1e-3},
                                        .total = NAN,
                                        .summary = {-40.5, 45.25, 61, NAN},
                                        .covered_ns = 2 * FIXTURE_S,
                                        .uncertainty_j = NAN,
                                        .incidents = {.samples = 21, .failed = 2}};

    return result;
}

static inline void fixture_fill(struct run *run, double factor, int status)
{
    struct apapi_measurement *m = &run->record.measurement;

    *run = (struct run){
        .record = {.id = APAPI_IDENTITY_UNKNOWN, .ending = APAPI_ENDING_UNKNOWN, .complete = true}};
    strcpy(run->record.id.name, "a.out");
    strcpy(run->record.id.node, "laptop");
    run->record.id.node_index = 0;
    run->record.id.nodes = 1;
    run->record.id.uid = 1000;
    run->end = (struct child_end){
        .status = status,
        .elapsed_ns = (uint64_t)(2e9 * factor),
        .usage = {.ru_utime = {1, 500000}, .ru_stime = {0, 250000}, .ru_maxrss = 12595}};
    unmeasure_domains(m->domains);
    m->domains[APAPI_DOMAIN_PACKAGE] =
        (struct apapi_domain_result){.measured = true,
                                     .energy_j = 200 * factor,
                                     .uncertainty_j = 0.25,
                                     .power_w = {90, 100 * factor, 120, 118}};
    m->elapsed_ns = 2 * FIXTURE_S;
    m->covered = 1;
    m->component_count = 3;
    m->components = calloc(3, sizeof *m->components);
    assert_non_null(m->components);
    m->components[0] =
        (struct apapi_component_result){.name = "rapl",
                                        .measured = true,
                                        .source = "sysfs powercap",
                                        .interval_ns = 100000000,
                                        .period = {20, 0.1, 0.001, 0.102},
                                        .event_count = 1,
                                        .events = calloc(1, sizeof(*m->components->events))};
    m->components[1] =
        (struct apapi_component_result){.name = "coretemp",
                                        .measured = true,
                                        .source = "PAPI",
                                        .interval_ns = 1500000000,
                                        .period = {0, NAN, NAN, NAN},
                                        .event_count = 1,
                                        .events = calloc(1, sizeof(*m->components->events))};
    m->components[2] = (struct apapi_component_result){.name = "nvml", .reason = "no driver"};
    assert_non_null(m->components[0].events);
    assert_non_null(m->components[1].events);
    m->components[0].events[0] = fixture_energy(factor);
    m->components[1].events[0] = fixture_gauge();
}

static struct report report;
static char *written; /* output of a format */

/* One run of 2 s with 200 J; three: 2, 4 and 6 s with 200, 400 and 600 J. */
static inline void fixture_make(unsigned runs)
{
    static const int ends[FIXTURE_RUNS] = {0, 3 << 8, 9}; /* success, exit status 3, signal 9 */

    report = (struct report){.program = fixture_program, .runs_wanted = runs, .count = runs};
    report.runs = calloc(runs, sizeof *report.runs);
    assert_non_null(report.runs);
    for (unsigned i = 0; i < runs; i++) {
        fixture_fill(&report.runs[i], i + 1, ends[i]);
    }
}

static inline void fixture_destroy(void)
{
    for (size_t i = 0; i < report.count; i++) {
        apapi_record_clear(&report.runs[i].record);
    }
    free(report.runs);
    free(written);
    written = NULL;
}

/* A test of a report of so many runs. */
#define RUNS(name, count)                                                                          \
    static void make_##name(void)                                                                  \
    {                                                                                              \
        fixture_make(count);                                                                       \
    }                                                                                              \
    TEST_WITH(name, make_##name, fixture_destroy)

/* The event of the first run's first or second component. */
static inline struct apapi_event_result *fixture_event(size_t component)
{
    return report.runs[0].record.measurement.components[component].events;
}

static inline void fixture_write(report_f form)
{
    size_t size;
    FILE *out;

    free(written);
    written = NULL;
    out = open_memstream(&written, &size);
    assert_non_null(out);
    assert_int_equal(form(out, &report, NULL), 0);
    assert_int_equal(fclose(out), 0);
}

static inline void assert_says(const char *part)
{
    if (!strstr(written, part)) {
        fail_msg("\"%s\" is not in\n%s", part, written);
    }
}

#endif
