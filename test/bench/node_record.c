/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apapi/record.h"
#include "bench/bench.h"
#include "measure/domain.h"

#define PACKAGES UINT64_C(2)
#define GPUS UINT64_C(4)
#define S UINT64_C(1000000000)

static struct apapi_event_result energy_event(const char *name, enum apapi_domain domain,
                                              double mean_w)
{
    struct apapi_event_result result = {
        .event = {.unit = "J",
                  .kind = APAPI_KIND_ENERGY,
                  .domain = domain,
                  .type = APAPI_TYPE_UINT64,
                  .accumulates = true,
                  .range_max = 262143328850,
                  .scale = 1e-6,
                  .update_ns = 1000000},
        .raw_total = (uint64_t)(mean_w * 600e6),
        .total = mean_w * 600,
        .summary = {0.8 * mean_w, mean_w, 1.2 * mean_w, 1.1 * mean_w},
        .covered_ns = 600 * S,
        .uncertainty_j = 0.2,
        .incidents = {.samples = 6000, .wraps = 1}};

    snprintf(result.event.name, sizeof result.event.name, "%s", name);
    return result;
}

static void set_domain(struct apapi_record *record, enum apapi_domain domain, double mean_w)
{
    struct apapi_domain_result *result = &record->measurement.domains[domain];

    *result = (struct apapi_domain_result){
        .measured = true,
        .energy_j = mean_w * 600,
        .uncertainty_j = 0.4,
        .power_w = {0.8 * mean_w, mean_w, 1.2 * mean_w, 1.1 * mean_w},
        .timeline = {.bin_ns = 5120000000, .length_ns = 600 * S, .count = 118}};
    for (size_t i = 0; i < result->timeline.count; i++) {
        double length_s = (double)apapi_timeline_bin_length(&result->timeline, i) / 1e9;

        result->timeline.energy_j[i] = (float)(mean_w * length_s * (1 + 0.2 * sin((double)i)));
        result->timeline.covered_pct[i] = 100;
    }
}

static void fill(struct apapi_record *record, const struct bench_record *which,
                 struct apapi_component_result components[2],
                 struct apapi_event_result events[2 * PACKAGES + GPUS])
{
    char name[APAPI_NAME_SIZE];

    *record = (struct apapi_record){
        .id = {.cluster = "mars",
               .job = which->job,
               .step = "0",
               .name = "stream",
               .node_index = which->node,
               .nodes = which->nodes,
               .tasks = 4,
               .uid = which->uid,
               .account = "physics",
               .partition = "batch"},
        .complete = true,
        .measurement = {.start_unix_ns =
                            (int64_t)(1700000000 * S + which->node * UINT64_C(1000003)),
                        .elapsed_ns = 600 * S,
                        .covered = 0.999,
                        .cpu_ns = 2100000,
                        .component_count = 2,
                        .components = components}};
    snprintf(record->id.node, sizeof record->id.node, "node%05u", which->node);
    snprintf(record->id.user, sizeof record->id.user, "user%u", which->uid);
    unmeasure_domains(record->measurement.domains);
    set_domain(record, APAPI_DOMAIN_PACKAGE, 300 + which->node % 17);
    set_domain(record, APAPI_DOMAIN_DRAM, 40 + which->node % 5);
    set_domain(record, APAPI_DOMAIN_GPU, 1200 + which->node % 31);
    for (unsigned i = 0; i < PACKAGES; i++) {
        snprintf(name, sizeof name, "rapl:::PACKAGE_ENERGY:PACKAGE%u", i);
        events[i] = energy_event(name, APAPI_DOMAIN_PACKAGE, 150);
        snprintf(name, sizeof name, "rapl:::DRAM_ENERGY:PACKAGE%u", i);
        events[PACKAGES + i] = energy_event(name, APAPI_DOMAIN_DRAM, 20);
    }
    for (unsigned i = 0; i < GPUS; i++) {
        snprintf(name, sizeof name, "nvml:::NVIDIA_H100:device_%u:energy", i);
        events[2 * PACKAGES + i] = energy_event(name, APAPI_DOMAIN_GPU, 300);
    }
    components[0] = (struct apapi_component_result){.name = "rapl",
                                                    .measured = true,
                                                    .source = "sysfs powercap",
                                                    .interval_ns = 100000000,
                                                    .period = {6000, 0.1, 1e-05, 0.1004},
                                                    .event_count = 2 * PACKAGES,
                                                    .events = events};
    components[1] = components[0];
    strcpy(components[1].name, "nvml");
    strcpy(components[1].source, "NVML");
    components[1].event_count = GPUS;
    components[1].events = events + 2 * PACKAGES;
}

char *bench_record_line(const struct bench_record *which)
{
    static struct apapi_component_result components[2];
    static struct apapi_event_result events[2 * PACKAGES + GPUS];
    static struct apapi_record record;
    char *line;

    fill(&record, which, components, events);
    if (apapi_record_encode(&record, &line, NULL)) {
        bench_die("a record cannot be written");
    }
    return line;
}
