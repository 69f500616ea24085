/* SPDX-License-Identifier: BSD-3-Clause */
/* Cray's pm_counters: names, domains, and when their values are refused. */
#include <sys/types.h>
#include <time.h>

#include "measure/meter.h"
#include "unit/sysfs_fixture.h"

/* The controller's work while the library reads: called before each read with its number. */
static void (*meanwhile)(unsigned number);
static unsigned reads;

ssize_t __real_pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset)
{
    if (meanwhile) {
        meanwhile(reads++);
    }
    return __real_pread(fd, buffer, size, offset);
}

static void put(const char *file, const char *text)
{
    char line[128];

    snprintf(line, sizeof line, "%s=%s", file, text);
    powercap_tree_files(&tree, "sys/cray/pm_counters", line);
}

static void remove_file(const char *file)
{
    char path[128];

    snprintf(path, sizeof path, "%s/sys/cray/pm_counters/%s", tree.root, file);
    assert_int_equal(remove(path), 0);
}

/* A node without accelerators, as an XC40 shows it. */
static void make_node(void)
{
    make_tree();
    powercap_tree_files(&tree, "sys/cray/pm_counters",
                        "energy=1000000 J;power=300 W;power_cap=0 W;freshness=100;"
                        "generation=7;startup=1400000000000000;version=2");
    put("raw_scan_hz", "1"); /* it may be read 10 s later and is not stale */
}

#define WITH_NODE(name) TEST_WITH(name, make_node, remove_tree)

WITH_NODE(names_and_domains)
{
    powercap_tree_files(
        &tree, "sys/cray/pm_counters",
        "energy=123456 J 1700000000123456 us;cpu_energy=2 J;cpu0_energy=3 J;"
        "memory_energy=4 J;accel0_energy=5 J;accel10_energy=6 J;power=250 W;cpu_power=7 W;"
        "memory_power=8 W;accel0_power=9 W 5 us;cpu_temp=40 C");
    remove_file("raw_scan_hz"); /* 10, where it is not reported */
    open_sysfs("cray_pm");
    assert_string_equal(reader->detail, "sysfs pm_counters");
    put("freshness", "101"); /* not stale, however long ago it was opened */
    assert_listed("cray_pm:::PM_ENERGY:NODE node energy 123456: energy of the node\n"
                  "cray_pm:::PM_ENERGY:CPU package energy 2: energy of all CPUs\n"
                  "cray_pm:::PM_ENERGY:CPU0 - energy 3: energy of CPU 0\n"
                  "cray_pm:::PM_ENERGY:MEMORY dram energy 4: energy of the memory\n"
                  "cray_pm:::PM_ENERGY:ACC0 gpu energy 5: energy of accelerator 0\n"
                  "cray_pm:::PM_ENERGY:ACC10 gpu energy 6: energy of accelerator 10\n"
                  "cray_pm:::PM_POWER:NODE node power 250: power of the node\n"
                  "cray_pm:::PM_POWER:CPU package power 7: power of all CPUs\n"
                  "cray_pm:::PM_POWER:MEMORY dram power 8: power of the memory\n"
                  "cray_pm:::PM_POWER:ACC0 gpu power 9: power of accelerator 0\n"
                  "cray_pm:::PM_POWER_CAP:NODE - count 0: power limit of the node, 0: none\n");
    for (size_t i = 0; i < reader->count; i++) {
        assert_int_equal(reader->events[i].accumulates,
                         reader->events[i].kind == APAPI_KIND_ENERGY);
        assert_true(reader->events[i].scale == 1);
        assert_int_equal(reader->events[i].update_ns, 100000000);
    }
}

/* Nodes without accelerators have their files all the same. */
WITH_NODE(absent_accelerators)
{
    put("accel_energy", "0 J");
    put("accel_power", "0 W");
    open_sysfs("cray_pm");
    assert_int_equal(reader->count, 3);
    put("accel_energy", "10 J");
    put("accel0_energy", "10 J");
    open_sysfs("cray_pm");
    assert_int_equal(reader->count, 5);
    assert_string_equal(reader->events[1].name, "cray_pm:::PM_ENERGY:ACC");
    assert_int_equal(reader->events[1].domain, APAPI_DOMAIN_GPU);
    assert_string_equal(reader->events[2].name, "cray_pm:::PM_ENERGY:ACC0");
    assert_int_equal(reader->events[2].domain, APAPI_DOMAIN_NONE);
}

WITH_NODE(unit_and_time_are_checked)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"5 J", true},         {"5 J 12 us", true}, {"5", false},           {"5 W", false},
        {"5 kJ", false},       {"5 JJ", false},     {"5J", false},          {"5  J", false},
        {"5 J ", false},       {"5 J 12", false},   {"5 J 12 ms", false},   {"5 J 12 us ", false},
        {"5 J -12 us", false}, {"5 J us", false},   {"5 J 12 us 3", false}, {"5.5 J", false},
    };

    open_sysfs("cray_pm");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put("energy", cases[i].text);
        read_sysfs();
        fail_if((readings[0].error == 0) != cases[i].good, "'%s': %s", cases[i].text,
                strerror(readings[0].error));
        assert_int_equal(readings[1].error, 0);
    }
    put("energy", "281474976710656 J"); /* no node has used so much since it was built */
    read_sysfs();
    assert_int_equal(readings[0].error, ERANGE);
}

static void sleep_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};

    nanosleep(&time, NULL);
}

/* 10 scans without a new value: the controller writes no more. */
WITH_NODE(stale_values_are_refused)
{
    put("raw_scan_hz", "1000");
    open_sysfs("cray_pm");
    assert_int_equal(reader->events[0].update_ns, 1000000);
    sleep_ms(20);
    read_sysfs();
    for (size_t i = 0; i < reader->count; i++) {
        assert_int_equal(readings[i].error, ESTALE);
    }
    put("freshness", "101");
    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    sleep_ms(20);
    put("freshness", "102 1700000000000000 us");
    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    put("freshness", "oops");
    read_sysfs();
    assert_int_equal(readings[0].error, EBADMSG);
}

/* Reads 0 to 2 are of the stamps, 3 is of the energy, 4 and 5 are of the power and its limit. */
static void scan_behind_the_energy(unsigned number)
{
    if (number == 4) {
        put("energy", "1000030 J");
        put("power", "310 W");
        put("freshness", "101");
    }
}

static void cap_behind_all(unsigned number)
{
    if (number == 6) {
        put("power_cap", "150 W");
        put("generation", "8");
    }
}

static void scan_always(unsigned number)
{
    char text[32];

    snprintf(text, sizeof text, "%u", 1000 + number);
    put("freshness", text);
}

static void read_while(void (*what)(unsigned number))
{
    reads = 0;
    meanwhile = what;
    read_sysfs();
    meanwhile = NULL;
}

WITH_NODE(values_are_of_one_scan)
{
    open_sysfs("cray_pm");
    read_while(scan_behind_the_energy);
    assert_int_equal(readings[0].error, 0);
    assert_int_equal(readings[0].raw, 1000030);
    assert_int_equal(readings[1].raw, 310);
    assert_int_equal(reads, 15);
    read_while(cap_behind_all);
    assert_int_equal(readings[2].raw, 150);
    read_while(scan_always);
    assert_true(reads < 30);
    for (size_t i = 0; i < reader->count; i++) {
        assert_int_equal(readings[i].error, EAGAIN);
    }
}

static enum apapi_meter_step add(struct apapi_meter *meter, uint64_t at_s)
{
    double energy_j;

    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    return apapi_meter_add(meter, &readings[0], moment_at(at_s * 1000000000), &energy_j);
}

/* The controller restarted, and its counter shows a plausible increment. */
WITH_NODE(a_restart_of_the_controller_is_a_reset)
{
    struct apapi_meter meter;

    open_sysfs("cray_pm");
    apapi_meter_init(&meter, &reader->events[0], 100000000, NULL);
    add(&meter, 1);
    put("energy", "1000100 J");
    add(&meter, 2);
    put("startup", "1400000000999999");
    put("energy", "1000300 J");
    add(&meter, 3);
    put("energy", "1000350 J");
    add(&meter, 4);
    put("energy", "1000400 J");
    add(&meter, 5);
    assert_int_equal(meter.counter.total, 200);
    assert_int_equal(meter.counter.incidents.resets, 1);
    assert_int_equal(meter.counter.incidents.refused, 0);
}
