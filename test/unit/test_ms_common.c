/* SPDX-License-Identifier: BSD-3-Clause */
/* libms_common_apapi: which event fills which field; lists, intervals, threads. */
#include <pthread.h>

#include "fake/powercap_tree.h"
#include "ms_common/interface.h"
#include "ms_common/map.h"
#include "unit/unit.h"

#define COUNT_IN(domain) APAPI_KIND_COUNT, APAPI_DOMAIN_##domain
#define ENERGY_IN(domain) APAPI_KIND_ENERGY, APAPI_DOMAIN_##domain
#define FREQUENCY_IN(domain) APAPI_KIND_FREQUENCY, APAPI_DOMAIN_##domain
#define POWER_IN(domain) APAPI_KIND_POWER, APAPI_DOMAIN_##domain
#define TEMPERATURE_IN(domain) APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_##domain

/* An event, and its figures. */
struct said {
    const char *name;
    enum apapi_kind kind;
    enum apapi_domain domain;
    struct figure figure;
};

#define EVENTS_MAX 16

/* Store the figures of events. @return the map that was built of them */
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
        {"rapl:::PACKAGE_ENERGY:PACKAGE3", ENERGY_IN(PACKAGE), {NAN, NAN, NAN, NAN, NAN}},
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

TEST(intervals)
{
    static const struct {
        uint64_t sec, nsec;
        uint32_t checks;
        uint64_t interval_ns;
    } cases[] = {
        {0, 100000000, 1, 100000000},         {0, 100000000, 10, 100000000},
        {0, 20000000, 7, 20000000},           {0, 999999, 1, 1000000},
        {3600, 0, 1, 3600000000000},          {UINT64_MAX, 0, 1, 3600000000000},
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
    deleteList(&list);
}

/* --- what the machine says of itself ---------------------------------------------------------- */

#define ALL (PART_TEMPERATURE | PART_FREQUENCY | PART_TIME | PART_MEMORY)
#define MS UINT64_C(1000000)

static struct powercap_tree tree;

static void make_tree(void)
{
    powercap_tree_create(&tree);
}

static void remove_tree(void)
{
    powercap_tree_destroy(&tree);
}

#define PREPARED(name) TEST_WITH(name, make_tree, remove_tree)

static struct machine *start(void)
{
    struct machine *machine = machine_open();

    machine_start(machine);
    return machine;
}

PREPARED(intel)
{
    struct ms_cpu cpu = {.msr_time_runtime = 0};
    struct machine *machine;

    powercap_tree_files(&tree, "sys/class/hwmon",
                        "hwmon0/name=nvme;hwmon0/temp1_input=99000;hwmon10/name=coretemp;"
                        "hwmon10/temp1_label=Package id 0;hwmon10/temp1_input=45000;"
                        "hwmon10/temp2_label=Core 0;hwmon10/temp2_input=41000;"
                        "hwmon10/temp10_label=Core 8;hwmon10/temp10_input=42900;"
                        "hwmon2/name=coretemp;hwmon2/temp1_label=Package id 3;"
                        "hwmon2/temp1_input=55000;hwmon2/temp2_label=Core 0;"
                        "hwmon2/temp2_input=54000");
    machine = start();
    machine_read(machine, ALL, 1 * MS, &cpu);
    assert_int_equal(cpu.msr_temperature_pkg_cur[0], 45);
    assert_int_equal(cpu.msr_temperature_pkg_cur[1], 55); /* package 3 is an odd one */
    powercap_tree_files(&tree, "sys/class/hwmon/hwmon10", "temp1_input=50000");
    machine_read(machine, ALL, 5 * MS, &cpu); /* too soon after the last reading */
    assert_int_equal(cpu.msr_temperature_pkg_cur[0], 45);
    machine_read(machine, ALL, 20 * MS, &cpu);
    powercap_tree_files(&tree, "sys/class/hwmon/hwmon10", "temp1_input=47000");
    machine_read(machine, ALL, 40 * MS, &cpu);
    assert_int_equal(cpu.msr_temperature_pkg_cur[0], 47);
    assert_int_equal(cpu.msr_temperature_pkg_max[0], 50);
    assert_int_equal(cpu.msr_temperature_core_max[0][0], 41);
    assert_int_equal(cpu.msr_temperature_core_max[0][1], 42);
    assert_int_equal(cpu.msr_temperature_core_max[1][0], 0); /* package 3 has it */
    machine_close(machine);
}

/* A second thread of a core, a CPU that is off, a fifth core, a package beyond the second. */
PREPARED(frequencies)
{
    static const char *const cpus[][3] = {
        {"0", "0", "1000000"}, {"0", "4", "2000000"}, {"0", "0", "3000000"},
        {"1", "0", "4000000"}, {"7", "0", "5000000"}, {NULL},
        {"0", "5", "1100000"}, {"0", "6", "1200000"}, {"0", "7", "1300000"}};
    struct ms_cpu cpu = {.msr_time_runtime = 0};
    struct machine *machine;

    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        char folder[64], files[160] = "online=0";

        snprintf(folder, sizeof folder, "sys/devices/system/cpu/cpu%zu", i);
        if (cpus[i][0]) {
            snprintf(files, sizeof files,
                     "topology/physical_package_id=%s;topology/core_id=%s;"
                     "cpufreq/scaling_cur_freq=%s",
                     cpus[i][0], cpus[i][1], cpus[i][2]);
        }
        powercap_tree_files(&tree, folder, files);
    }
    machine = start();
    machine_read(machine, ALL, 1 * MS, &cpu);
    powercap_tree_files(&tree, "sys/devices/system/cpu/cpu0/cpufreq", "scaling_cur_freq=3000000");
    machine_read(machine, ALL, 101 * MS, &cpu);
    assert_true(fabs(cpu.msr_freq_core_acc[0][0] - 200) < 1e-9); /* MHz x s */
    assert_true(fabs(cpu.msr_freq_core_eff_acc[1][0] - 400) < 1e-9);
    assert_true(cpu.msr_freq_core_avg[0][0] == 2000 && cpu.msr_freq_core_eff_avg[0][0] == 2000);
    assert_true(cpu.msr_freq_core_cur[0][0] == 3000 && cpu.msr_freq_core_eff_cur[0][0] == 3000);
    assert_true(cpu.msr_freq_core_avg[0][1] == 2000 && cpu.msr_freq_core_avg[0][2] == 1100);
    assert_true(cpu.msr_freq_core_avg[0][3] == 1200 && cpu.msr_freq_core_avg[1][0] == 4000);
    assert_true(cpu.msr_freq_core_avg[1][1] == 0);
    machine_close(machine);
}

static void put_stat(const char *line)
{
    char text[256];

    snprintf(text, sizeof text, "%s\ncpu0 1 1 1 1 1 1 1 0 0 0\ncpu1 1 1 1 1 1 1 1 0 0 0\nintr 5\n",
             line);
    powercap_tree_put(&tree, "proc/stat", text);
}

PREPARED(time)
{
    const double ticks = (double)sysconf(_SC_CLK_TCK);
    struct ms_cpu cpu = {.msr_time_runtime = 0};
    struct machine *machine;

    put_stat("cpu  100 10 20 1000 50 3 2 77 9 9");
    machine = machine_open();
    for (int run = 0; run < 2; run++) { /* the second run counts from its own start */
        put_stat("cpu  100 10 20 1000 50 3 2 77 9 9");
        machine_start(machine);
        machine_read(machine, ALL, 1 * MS, &cpu);
        put_stat("cpu  150 10 20 1050 50 3 2 77 9 9");
        machine_read(machine, ALL, 20 * MS, &cpu);
        assert_true(cpu.measure_util_avg_cur == 50);
        assert_int_equal(cpu.measure_util_acc[0], 50); /* user */
        assert_int_equal(cpu.measure_util_cur[3], 50); /* idle */
        assert_true(fabs(cpu.measure_util_active_cur - 50 / ticks / 2) < 1e-9);
        put_stat("cpu  170 20 30 1200 100 8 7 99 9 9");
        machine_read(machine, ALL, 40 * MS, &cpu);
        assert_true(cpu.measure_util_avg_cur == 20);
        assert_int_equal(cpu.measure_util_cur[0], 20);
        assert_int_equal(cpu.measure_util_acc[0], 70);
        assert_int_equal(cpu.measure_util_acc[4], 50); /* iowait */
        assert_int_equal(cpu.measure_util_acc[7], 22); /* steal time counts, but is no work */
        assert_int_equal(cpu.measure_util_active_total, 100);
        assert_int_equal(cpu.measure_util_idle_total, 250);
        assert_true(fabs(cpu.measure_util_active_avg - 100 / ticks / 2) < 1e-9);
        assert_true(fabs(cpu.measure_util_idle_avg - 250 / ticks / 2) < 1e-9);
        assert_true(fabs(cpu.measure_util_avg - 100 * 100.0 / 350) < 1e-9);
    }
    machine_close(machine);
}

PREPARED(parts_that_events_offer_are_left_alone)
{
    struct ms_cpu cpu = {.measure_memory_used_max = 7, .measure_util_avg = 8};
    struct machine *machine;

    put_stat("cpu  100 10 20 1000 50 3 2 77 9 9");
    machine = start();
    machine_read(machine, PART_NONE, 1 * MS, &cpu);
    assert_int_equal(cpu.measure_memory_used_max, 7);
    assert_true(cpu.measure_util_avg == 8);
    machine_close(machine);
}

/* --- a whole measurement ---------------------------------------------------------------------- */

static struct ms_system *system_of_test;

static void *start_and_stop(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        ms_start_measurement(system_of_test);
        ms_stop_measurement(system_of_test);
    }
    return NULL;
}

PREPARED(orders_of_two_threads)
{
    struct ms_list *list;
    pthread_t other;

    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", 262143328850);
    setenv("APAPI_SOURCES", "sysfs", 1);
    system_of_test = ms_init(NULL, 0, 0, 0, 0, 0, 0, 0);
    assert_non_null(system_of_test);
    list = ms_alloc_measurement(system_of_test);
    assert_non_null(list);
    ms_set_timer(list, MS_ALL, 0, 5000000, 1);
    ms_init_measurement(system_of_test, list, MS_ALL);
    assert_int_equal(pthread_create(&other, NULL, start_and_stop, NULL), 0);
    start_and_stop(NULL);
    pthread_join(other, NULL);
    ms_join_measurement(system_of_test);
    ms_fini_measurement(system_of_test);
    ms_free_measurement(list);
    ms_fini(system_of_test);
    unsetenv("APAPI_SOURCES");
}
