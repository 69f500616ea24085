/* SPDX-License-Identifier: BSD-3-Clause */
/* libms_common_apapi: temperatures, frequencies, time and memory of the kernel. */
#include "fake/powercap_tree.h"
#include "ms_common/machine.h"
#include "ms_common/map.h"
#include "unit/unit.h"

#define ALL (PART_TEMPERATURE | PART_FREQUENCY | PART_TIME | PART_MEMORY)
#define MS UINT64_C(1000000)

static struct powercap_tree tree;

static void machine_make_tree(void)
{
    powercap_tree_create(&tree);
}

static void machine_remove_tree(void)
{
    powercap_tree_destroy(&tree);
}

static void put(const char *folder, int number, const char *file, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s%d/%s", folder, number, file);
    powercap_tree_put(&tree, path, text);
}

#define CHIP "sys/class/hwmon/hwmon"
#define CPU "sys/devices/system/cpu/cpu"

static void put_cpu(int number, const char *package, const char *core, const char *khz)
{
    put(CPU, number, "topology/physical_package_id", package);
    put(CPU, number, "topology/core_id", core);
    put(CPU, number, "cpufreq/scaling_cur_freq", khz);
}

#define PREPARED(name) TEST_WITH(name, machine_make_tree, machine_remove_tree)

PREPARED(intel)
{
    struct ms_cpu cpu = {.msr_time_runtime = 0};
    struct machine *machine;

    put(CHIP, 0, "name", "nvme\n");
    put(CHIP, 0, "temp1_input", "99000\n");
    put(CHIP, 10, "name", "coretemp\n");
    put(CHIP, 10, "temp1_label", "Package id 0\n");
    put(CHIP, 10, "temp1_input", "45000\n");
    put(CHIP, 10, "temp2_label", "Core 0\n");
    put(CHIP, 10, "temp2_input", "41000\n");
    put(CHIP, 10, "temp10_label", "Core 8\n");
    put(CHIP, 10, "temp10_input", "42900\n");
    put(CHIP, 2, "name", "coretemp\n");
    put(CHIP, 2, "temp1_label", "Package id 3\n");
    put(CHIP, 2, "temp1_input", "55000\n");
    put(CHIP, 2, "temp2_label", "Core 0\n");
    put(CHIP, 2, "temp2_input", "54000\n");
    machine = machine_open();
    machine_start(machine);
    machine_read(machine, ALL, 1 * MS, &cpu);
    assert_int_equal(cpu.msr_temperature_pkg_cur[0], 45);
    assert_int_equal(cpu.msr_temperature_pkg_cur[1], 55); /* the fourth package is odd */
    put(CHIP, 10, "temp1_input", "50000\n");
    machine_read(machine, ALL, 5 * MS, &cpu); /* too soon */
    assert_int_equal(cpu.msr_temperature_pkg_cur[0], 45);
    machine_read(machine, ALL, 20 * MS, &cpu);
    put(CHIP, 10, "temp1_input", "47000\n");
    machine_read(machine, ALL, 40 * MS, &cpu);
    assert_int_equal(cpu.msr_temperature_pkg_cur[0], 47);
    assert_int_equal(cpu.msr_temperature_pkg_max[0], 50);
    assert_int_equal(cpu.msr_temperature_core_max[0][0], 41);
    assert_int_equal(cpu.msr_temperature_core_max[0][1], 42);
    assert_int_equal(cpu.msr_temperature_core_max[1][0], 0); /* of package 3, which is not shown */
    machine_close(machine);
}

PREPARED(amd)
{
    struct ms_cpu cpu = {.msr_time_runtime = 0};
    struct machine *machine;

    put(CHIP, 1, "name", "k10temp\n");
    put(CHIP, 1, "temp1_input", "60125\n");
    put(CHIP, 2, "name", "k10temp\n");
    put(CHIP, 2, "temp1_input", "61125\n");
    machine = machine_open();
    machine_start(machine);
    machine_read(machine, PART_TEMPERATURE, 1 * MS, &cpu);
    assert_int_equal(cpu.msr_temperature_pkg_max[0], 60);
    assert_int_equal(cpu.msr_temperature_pkg_max[1], 61);
    machine_close(machine);
}

PREPARED(frequencies)
{
    struct ms_cpu cpu = {.msr_time_runtime = 0};
    struct machine *machine;

    put_cpu(0, "0", "0", "1000000");
    put_cpu(1, "0", "4", "2000000");
    put_cpu(2, "0", "0", "3000000"); /* the second thread of a core */
    put_cpu(3, "1", "0", "4000000");
    put_cpu(4, "7", "0", "5000000");
    put(CPU, 5, "online", "0"); /* switched off */
    put_cpu(6, "0", "5", "1100000");
    put_cpu(7, "0", "6", "1200000");
    put_cpu(8, "0", "7", "1300000"); /* the fifth core */
    machine = machine_open();
    machine_start(machine);
    machine_read(machine, ALL, 1 * MS, &cpu);
    put(CPU, 0, "cpufreq/scaling_cur_freq", "3000000");
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
    for (int run = 0; run < 2; run++) { /* the second one counts from its own start */
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
        assert_int_equal(cpu.measure_util_acc[7], 22); /* steal: counted, but no work */
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
    machine = machine_open();
    machine_start(machine);
    machine_read(machine, PART_NONE, 1 * MS, &cpu);
    assert_int_equal(cpu.measure_memory_used_max, 7);
    assert_true(cpu.measure_util_avg == 8);
    machine_close(machine);
}
