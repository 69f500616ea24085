/* SPDX-License-Identifier: BSD-3-Clause */
/* libms_common_apapi: which event gets into which field, lists, intervals. */
#include "ms_common/interface.h"
#include "ms_common/map.h"
#include "ms_common/target.h"
#include "unit/unit.h"

#define UNKNOWN                                                                                    \
    {                                                                                              \
        NAN, NAN, NAN, NAN, NAN                                                                    \
    }

#define COUNT_IN(domain) APAPI_KIND_COUNT, APAPI_DOMAIN_##domain
#define ENERGY_IN(domain) APAPI_KIND_ENERGY, APAPI_DOMAIN_##domain
#define FREQUENCY_IN(domain) APAPI_KIND_FREQUENCY, APAPI_DOMAIN_##domain
#define POWER_IN(domain) APAPI_KIND_POWER, APAPI_DOMAIN_##domain
#define TEMPERATURE_IN(domain) APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_##domain
#define UTILIZATION_IN(domain) APAPI_KIND_UTILIZATION, APAPI_DOMAIN_##domain

/* An event, and what it says. */
struct said {
    const char *name;
    enum apapi_kind kind;
    enum apapi_domain domain;
    struct figure figure;
};

#define EVENTS_MAX 16

/* Store what events say. @return what was noted of the events */
static struct map map_said(enum resource resource, const struct said *said, size_t count,
                           void *measurement)
{
    struct apapi_event events[EVENTS_MAX] = {{.name = ""}};
    struct figure figures[EVENTS_MAX];
    const struct event_table table = {events, sizeof *events, count};
    struct map map;

    for (size_t i = 0; i < count; i++) {
        snprintf(events[i].name, sizeof events[i].name, "%s", said[i].name);
        events[i].kind = said[i].kind;
        events[i].domain = said[i].domain;
        figures[i] = said[i].figure;
    }
    assert_int_equal(map_build(&map, resource, &table), 0);
    map_store(&map, figures, measurement);
    map_clear(&map);
    return map;
}

#define MAP_SAID(resource, said, measurement)                                                      \
    map_said(resource, said, sizeof(said) / sizeof *(said), measurement)

TEST(more_packages_and_dies_are_added)
{
    static const struct said said[] = {
        {"rapl:::PACKAGE_ENERGY:PACKAGE0", ENERGY_IN(PACKAGE), {1, 1, 9, 0, 1}},
        {"rapl:::PACKAGE_ENERGY:PACKAGE1_DIE0", ENERGY_IN(PACKAGE), {2, 2, 9, 0, 2}},
        {"rapl:::PACKAGE_ENERGY:PACKAGE1_DIE1", ENERGY_IN(PACKAGE), {4, 4, 9, 0, 4}},
        {"rapl:::PACKAGE_ENERGY:PACKAGE2", ENERGY_IN(PACKAGE), {8, 8, 9, 0, 8}},
        {"rapl:::PACKAGE_ENERGY:PACKAGE3", ENERGY_IN(PACKAGE), UNKNOWN},
    };
    struct ms_cpu cpu = {.msr_time_runtime = 0};

    assert_int_equal(MAP_SAID(RESOURCE_CPU, said, &cpu).resource, RESOURCE_CPU);
    assert_true(cpu.msr_energy_acc[0][0] == 9000 && cpu.msr_energy_acc[1][0] == 6000);
    assert_true(cpu.msr_power_avg[0][0] == 9000 && cpu.msr_power_cur[1][0] == 6000);
}

TEST(perf_packages_by_order)
{
    static const struct said said[] = {
        {"rapl::RAPL_ENERGY_PKG:cpu=0", ENERGY_IN(PACKAGE), {1, 1, 9, 0, 1}},
        {"rapl::RAPL_ENERGY_DRAM:cpu=0", ENERGY_IN(DRAM), {2, 1, 9, 0, 1}},
        {"rapl::RAPL_ENERGY_PKG:cpu=16", ENERGY_IN(PACKAGE), {3, 1, 9, 0, 1}},
    };
    struct ms_cpu cpu = {.msr_time_runtime = 0};

    MAP_SAID(RESOURCE_CPU, said, &cpu);
    assert_true(cpu.msr_energy_acc[0][0] == 1000 && cpu.msr_energy_acc[1][0] == 3000);
    assert_true(cpu.msr_energy_acc[0][2] == 2000 && cpu.msr_energy_acc[1][2] == 0);
}

TEST(old_names_of_the_cpu)
{
    static const struct said said[] = {
        {"rapl:::THERM_STATUS:PACKAGE1", TEMPERATURE_IN(NONE), {0, 0, 71.9, 0, 60}},
        {"rapl:::THERM_STATUS:PACKAGE0:CPU3", COUNT_IN(NONE), {0, 0, 65, 0, 50}},
        {"rapl:::THERM_STATUS:PACKAGE0:CPU4", COUNT_IN(NONE), {0, 0, 99, 0, 99}},
        {"rapl:::AVG_FREQUENCY:PACKAGE1:CPU0", COUNT_IN(NONE), {0, 2100000, 0, 0, 0}},
        {"rapl:::EFF_FREQUENCY:PACKAGE1:CPU0", FREQUENCY_IN(NONE), {0, 2.2e9, 0, 0, 2e9}},
        {"rapl:::TIME_WORK", COUNT_IN(NONE), {0, 0, 1500, 0, 0}},
        {"rapl:::TIME_UTIL", UTILIZATION_IN(NONE), {0, 40, 0, 0, 55}},
        {"rapl:::SWAP_FREE", COUNT_IN(NONE), {0, 0, 4096, 0, 2048}},
    };
    struct ms_cpu cpu = {.msr_time_runtime = 0};

    MAP_SAID(RESOURCE_CPU, said, &cpu);
    assert_int_equal(cpu.msr_temperature_pkg_max[1], 71);
    assert_int_equal(cpu.msr_temperature_pkg_cur[1], 60);
    assert_int_equal(cpu.msr_temperature_core_max[0][3], 65);
    assert_int_equal(cpu.msr_temperature_core_max[1][0], 0);
    assert_true(cpu.msr_freq_core_avg[1][0] == 2100);
    assert_true(fabs(cpu.msr_freq_core_eff_avg[1][0] - 2200) < 1e-6);
    assert_true(fabs(cpu.msr_freq_core_eff_cur[1][0] - 2000) < 1e-6);
    assert_true(cpu.measure_util_active_avg == 1.5 && cpu.measure_util_avg == 40);
    assert_true(cpu.measure_util_avg_cur == 55);
    assert_int_equal(cpu.measure_swap_free_max, 4096);
    assert_int_equal(cpu.measure_memory_cur[4], 2048);
}

TEST(gpus_counters_before_power)
{
    static const struct said said[] = {
        {"nvml:::A:device_0:total_energy_consumption", ENERGY_IN(GPU), {10, 100, 0, 0, 90}},
        {"nvml:::A:device_0:power", POWER_IN(GPU), {11, 111, 0, 0, 95}},
        {"nvml:::A:device_1:total_energy_consumption", ENERGY_IN(GPU), {20, 200, 0, 0, 190}},
        {"nvml:::A:device_1:power", POWER_IN(GPU), {22, 222, 0, 0, 195}},
        {"nvml:::A:device_0:temperature", TEMPERATURE_IN(GPU), {0, 0, 60, 0, 50}},
        {"nvml:::A:device_1:temperature", TEMPERATURE_IN(GPU), {0, 0, 55, 0, 54}},
        {"nvml:::A:device_0:sm_clock", FREQUENCY_IN(GPU), {0, 1e9, 0, 0, 1e9}},
        {"nvml:::A:device_1:sm_clock", FREQUENCY_IN(GPU), {0, 2e9, 0, 0, 2e9}},
        {"nvml:::A:device_1:allocated_memory", COUNT_IN(GPU), {0, 0, 4096, 0, 2048}},
        {"nvml:::A:device_1:unallocated_memory", COUNT_IN(GPU), {0, 0, 8192, 0, 1024}},
    };
    struct ms_gpu gpu = {.nvml_time_runtime = 0};

    MAP_SAID(RESOURCE_GPU, said, &gpu);
    assert_true(gpu.nvml_energy_acc == 30000 && gpu.nvml_power_avg == 300000);
    assert_int_equal(gpu.nvml_power_cur, 290000);
    assert_int_equal(gpu.nvml_temperature_max, 60);
    assert_int_equal(gpu.nvml_temperature_cur, 54);
    assert_true(gpu.nvml_clock_sm_avg == 1500);
    assert_int_equal(gpu.nvml_memory_used_max, 4);
    assert_int_equal(gpu.nvml_memory_free_max, 8);
}

TEST(numbers_out_of_range)
{
    static const struct said said[] = {
        {"ipmi:::SYSTEM_POWER", POWER_IN(NODE), {5e9, 300, 0, 0, -1}},
        {"ipmi:::SYSTEM_TEMP", TEMPERATURE_IN(NONE), {0, 0, 33.5, 0, 30.5}},
    };
    struct ms_sys sys = {.ipmi_power_server_cur = 7};

    MAP_SAID(RESOURCE_SYSTEM, said, &sys);
    assert_int_equal(sys.ipmi_energy_server_acc, UINT32_MAX);
    assert_int_equal(sys.ipmi_power_server_cur, 0);
    assert_true(sys.ipmi_temperature_sysboard_max == 33.5);
}

#define MS_NS UINT64_C(1000000)

/* A reading of a counter of energy, a GPU's power and its clock. NaN: it fails */
static void take(struct target *target, uint64_t time_ms, double joule, double power_w,
                 double clock_hz)
{
    const struct apapi_event events[] = {
        {.name = "a", .kind = APAPI_KIND_ENERGY, .domain = APAPI_DOMAIN_DRAM, .accumulates = true},
        {.name = "nvml:::A:device_0:power", .kind = APAPI_KIND_POWER, .domain = APAPI_DOMAIN_GPU},
        {.name = "nvml:::A:device_0:sm_clock",
         .kind = APAPI_KIND_FREQUENCY,
         .domain = APAPI_DOMAIN_GPU}};
    const double values[] = {joule, power_w, clock_hz};
    struct apapi_reading readings[] = {{.error = 0}, {.error = isnan(power_w)}, {.error = 0}};

    target_take_sample(target, &(struct apapi_sample){"nvml", time_ms * MS_NS, COUNT_OF(events),
                                                      events, readings, values});
}

TEST(totals_grow_with_each_reading)
{
    struct ms_gpu gpu = {.nvml_time_runtime = 0};
    struct ms_cpu cpu = {.msr_time_runtime = 0};
    struct target targets[] = {{.resource = RESOURCE_GPU, .measurement = &gpu},
                               {.resource = RESOURCE_CPU, .measurement = &cpu}};

    for (int t = 0; t < 2; t++) {
        target_start(&targets[t]);
        take(&targets[t], 0, NAN, 100, 1e9);
        take(&targets[t], 500, 5, 300, 2e9);
    }
    assert_true(cpu.msr_energy_acc[0][2] == 5000 && cpu.msr_power_cur[0][2] == 10000);
    assert_true(cpu.msr_time_runtime == 0.5 && gpu.nvml_time_runtime == 0.5);
    assert_true(gpu.nvml_energy_acc == 100000 && gpu.nvml_power_cur == 300000);
    assert_true(fabs(gpu.nvml_clock_sm_acc - 750) < 1e-9); /* MHz x s */
    /* a gauge's time without a reading is not counted; what a counter has counted in it is */
    for (int t = 0; t < 2; t++) {
        take(&targets[t], 1000, NAN, NAN, 2e9);
        take(&targets[t], 1500, 20, 200, 2e9);
        take(&targets[t], 2000, 10, 200, 2e9);
    }
    assert_true(cpu.msr_energy_acc[0][2] == 35000 && cpu.msr_power_cur[0][2] == 20000);
    assert_true(gpu.nvml_energy_acc == 200000 && gpu.nvml_time_runtime == 2);
    for (int t = 0; t < 2; t++) {
        target_clear(&targets[t]);
    }
}

TEST(intervals)
{
    static const struct {
        uint64_t sec, nsec;
        uint32_t checks;
        uint64_t interval_ns;
    } cases[] = {
        {0, 100000000, 1, 100000000},
        {0, 100000000, 0, 100000000},
        {0, 100000000, 10, 100000000},
        {0, 100000000, 3, 100000000},
        {0, 20000000, 7, 20000000},
        {2, 500000000, 1000, 2500000000},
        {0, 0, 1, 1000000},
        {0, 999999, 1, 1000000},
        {3600, 0, 1, 3600000000000},
        {UINT64_MAX, 0, 1, 3600000000000},
        {0, UINT64_MAX, 1000, 3600000000000},
    };
    struct ms_list *list = NULL;
    struct ms_cpu *cpu;

    assert_int_equal(list_append(&list, RESOURCE_CPU), 0);
    cpu = list_find(list, RESOURCE_CPU);
    assert_int_equal(target_interval_ns(RESOURCE_CPU, cpu), APAPI_INTERVAL_DEFAULT_NS);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ms_set_timer(list, MS_CPU, cases[i].sec, cases[i].nsec, cases[i].checks);
        assert_int_equal(target_interval_ns(RESOURCE_CPU, cpu), cases[i].interval_ns);
    }
    ms_set_timer(list, MS_ALL, 0, 90000000, 9);
    assert_int_equal(cpu->msr_time_wait.tv_nsec, 10000000);
    assert_int_equal(cpu->msr_check_for_exit_interrupts, 9);
    ms_set_timer(list, 0, 0, 50000000, 1);
    ms_set_timer(list, -1, 0, 50000000, 1);
    ms_set_timer(list, MS_GPU, 0, 50000000, 1);
    assert_int_equal(cpu->msr_time_wait.tv_nsec, 10000000);
    list_free(list);
}
