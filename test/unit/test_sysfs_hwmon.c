/* SPDX-License-Identifier: BSD-3-Clause */
/* Chips of hwmon: which files count, what they are called, and which of them are added up. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit/sysfs_fixture.h"

/* A file of hwmonN; `file` may lead into its device. */
static void put(int number, const char *file, const char *text)
{
    char path[128], line[128];

    snprintf(path, sizeof path, "sys/class/hwmon/hwmon%d/%s", number, file);
    snprintf(line, sizeof line, "%s\n", text);
    powercap_tree_put(&tree, path, line);
}

/* hwmonN on a device, "0000:03:00.0", as drivers of today make it. */
static void make_chip(int number, const char *name, const char *device)
{
    char path[128], target[128];

    put(number, "name", name);
    snprintf(path, sizeof path, "sys/devices/%s/uevent", device);
    powercap_tree_put(&tree, path, "");
    snprintf(path, sizeof path, "sys/class/hwmon/hwmon%d/device", number);
    snprintf(target, sizeof target, "../../../devices/%s", device);
    powercap_tree_link(&tree, path, target);
}

static void make_card(const char *device, int number)
{
    char path[128];

    snprintf(path, sizeof path, "sys/devices/%s/drm/renderD%d/uevent", device, 128 + number);
    powercap_tree_put(&tree, path, "");
    snprintf(path, sizeof path, "sys/devices/%s/drm/card%d/uevent", device, number);
    powercap_tree_put(&tree, path, "");
}

struct expected {
    const char *name;
    enum apapi_domain domain;
    const char *text;
};

static void assert_events(const struct apapi_reader *reader, const struct expected *expected,
                          size_t count)
{
    assert_int_equal(reader->count, count);
    for (size_t i = 0; i < count; i++) {
        char text[256];

        assert_string_equal(reader->events[i].name, expected[i].name);
        assert_string_equal(apapi_domain_name(reader->events[i].domain),
                            apapi_domain_name(expected[i].domain));
        apapi_source_sysfs.describe(reader, i, text, sizeof text);
        assert_string_equal(text, expected[i].text);
    }
}
#define ASSERT_EVENTS(reader, expected)                                                            \
    assert_events(reader, expected, sizeof(expected) / sizeof *(expected))

static void test_units_and_times(void **state)
{
    struct apapi_reading readings[2];
    struct apapi_reader *reader;

    (void)state;
    make_chip(0, "power_meter", "ACPI000D:00");
    put(0, "power1_average", "350000000");
    put(0, "power1_average_interval", "1000");
    put(0, "power1_average_max", "9000");
    put(0, "temp1_input", "45000");
    make_chip(1, "sensor", "1-0040");
    put(1, "energy2_input", "18446744073709551615");
    put(1, "update_interval", "250");
    reader = open_sysfs("hwmon");
    ASSERT_EVENTS(reader, ((struct expected[]){
                              {"hwmon:::power_meter:power1", APAPI_DOMAIN_NODE,
                               "average power of power_meter"},
                              {"hwmon:::sensor:energy2", APAPI_DOMAIN_NONE, "energy of sensor"},
                          }));
    assert_string_equal(reader->detail, "sysfs hwmon");
    assert_int_equal(reader->events[0].kind, APAPI_KIND_POWER);
    assert_string_equal(reader->events[0].unit, "W");
    assert_false(reader->events[0].accumulates);
    assert_int_equal(reader->events[0].update_ns, 1000000000);
    assert_int_equal(reader->events[1].kind, APAPI_KIND_ENERGY);
    assert_string_equal(reader->events[1].unit, "J");
    assert_true(reader->events[1].accumulates);
    assert_int_equal(reader->events[1].range_max, 0);
    assert_int_equal(reader->events[1].update_ns, 250000000);
    apapi_source_sysfs.read(reader, readings);
    assert_int_equal(readings[0].raw, 350000000);
    assert_true(reader->events[0].scale * (double)readings[0].raw > 349.999);
    assert_true(readings[1].raw == UINT64_MAX);
    apapi_source_sysfs.close(reader);
}

/* The average is better than one sample, where it is of the same thing. */
static void test_average_or_sample(void **state)
{
    struct apapi_reading readings[3];
    struct apapi_reader *reader;

    (void)state;
    make_chip(0, "fam15h_power", "0000:00:18.4");
    put(0, "power1_average", "1");
    put(0, "power1_input", "2");
    make_chip(1, "sensor", "1-0040");
    put(1, "power1_average", "3");
    put(1, "power1_input", "4");
    put(1, "power2_input", "5");
    reader = open_sysfs("hwmon");
    ASSERT_EVENTS(
        reader, ((struct expected[]){
                    {"hwmon:::fam15h_power:power1", APAPI_DOMAIN_PACKAGE, "power of fam15h_power"},
                    {"hwmon:::sensor:power1", APAPI_DOMAIN_NONE, "average power of sensor"},
                    {"hwmon:::sensor:power2", APAPI_DOMAIN_NONE, "power of sensor"},
                }));
    apapi_source_sysfs.read(reader, readings);
    assert_int_equal(readings[0].raw, 2);
    assert_int_equal(readings[1].raw, 3);
    assert_int_equal(readings[2].raw, 5);
    apapi_source_sysfs.close(reader);
}

/* Chips of one name are numbered by their devices, whatever the kernel's numbers of this boot are.
 */
static void test_names_survive_a_reboot(void **state)
{
    static const int orders[][3] = {{0, 1, 2}, {12, 3, 7}};
    static const struct expected expected[] = {
        {"hwmon:::ina238:energy1", APAPI_DOMAIN_NONE, "energy of ina238: first"},
        {"hwmon:::ina238.1:energy1", APAPI_DOMAIN_NONE, "energy of ina238: second"},
        {"hwmon:::ina238.2:energy1", APAPI_DOMAIN_NONE, "energy of ina238: third"},
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct apapi_reader *reader;

        make_chip(orders[i][0], "ina238", "1-0009");
        put(orders[i][0], "energy1_input", "1");
        put(orders[i][0], "energy1_label", "first");
        make_chip(orders[i][1], "ina238", "1-0040");
        put(orders[i][1], "energy1_input", "2");
        put(orders[i][1], "energy1_label", "second");
        make_chip(orders[i][2], "ina238", "10-0040");
        put(orders[i][2], "energy1_input", "3");
        put(orders[i][2], "energy1_label", "third");
        reader = open_sysfs("hwmon");
        ASSERT_EVENTS(reader, expected);
        apapi_source_sysfs.close(reader);
        powercap_tree_destroy(&tree);
        powercap_tree_create(&tree);
    }
}

static void test_amd_energy(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    make_chip(4, "amd_energy", "amd_energy.0");
    put(4, "energy1_input", "1");
    put(4, "energy1_label", "Ecore000");
    put(4, "energy10_input", "1");
    put(4, "energy10_label", "Esocket1");
    put(4, "energy9_input", "1");
    put(4, "energy9_label", "Esocket0");
    reader = open_sysfs("hwmon");
    ASSERT_EVENTS(
        reader,
        ((struct expected[]){
            {"hwmon:::amd_energy:energy1", APAPI_DOMAIN_CORE, "energy of amd_energy: Ecore000"},
            {"hwmon:::amd_energy:energy9", APAPI_DOMAIN_PACKAGE, "energy of amd_energy: Esocket0"},
            {"hwmon:::amd_energy:energy10", APAPI_DOMAIN_PACKAGE, "energy of amd_energy: Esocket1"},
        }));
    assert_int_equal(reader->events[1].update_ns, 1000000);
    apapi_source_sysfs.close(reader);
}

static void test_ibmpowernv(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    make_chip(0, "ibmpowernv", "opal-sensor.0");
    put(0, "power1_input", "1");
    put(0, "power1_label", "Chip 0 ");
    put(0, "power2_input", "1");
    put(0, "power2_label", "Chip 0 Vdd");
    put(0, "power3_input", "1");
    put(0, "power3_label", "Chip 8");
    put(0, "power4_input", "1");
    put(0, "power4_label", "System");
    reader = open_sysfs("hwmon");
    ASSERT_EVENTS(
        reader,
        ((struct expected[]){
            {"hwmon:::ibmpowernv:power1", APAPI_DOMAIN_PACKAGE, "power of ibmpowernv: Chip 0"},
            {"hwmon:::ibmpowernv:power2", APAPI_DOMAIN_NONE, "power of ibmpowernv: Chip 0 Vdd"},
            {"hwmon:::ibmpowernv:power3", APAPI_DOMAIN_PACKAGE, "power of ibmpowernv: Chip 8"},
            {"hwmon:::ibmpowernv:power4", APAPI_DOMAIN_NODE, "power of ibmpowernv: System"},
        }));
    apapi_source_sysfs.close(reader);
}

/* As drivers before 2013 have it, acpi_power_meter much longer. */
static void test_files_in_the_devices_folder(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    put(0, "device/name", "power_meter");
    put(0, "device/power1_average", "1");
    reader = open_sysfs("hwmon");
    ASSERT_EVENTS(reader, ((struct expected[]){{"hwmon:::power_meter:power1", APAPI_DOMAIN_NODE,
                                                "average power of power_meter"}}));
    apapi_source_sysfs.close(reader);
}

static void test_odd_chips(void **state)
{
    struct apapi_error err;
    struct apapi_reader *reader;

    (void)state;
    assert_null(apapi_source_sysfs.open("hwmon", &err));
    assert_int_equal(errno, ENODEV);
    assert_string_equal(err.text, "the kernel has no /sys/class/hwmon");
    make_chip(0, "coretemp", "coretemp.0");
    put(0, "temp1_input", "45000");
    put(1, "energy1_input", "1"); /* no name: not yet, or no longer, there */
    put(2, "name", "");
    put(2, "energy1_input", "1");
    assert_null(apapi_source_sysfs.open("hwmon", &err));
    assert_int_equal(errno, ENODEV);
    assert_string_equal(err.text, "no chip that measures energy or power in /sys/class/hwmon");
    make_chip(3, "a,b:c\"d", "x");
    put(3, "energy1_input", "1");
    reader = open_sysfs("hwmon");
    assert_string_equal(reader->events[0].name, "hwmon:::a_b_c_d:energy1");
    apapi_source_sysfs.close(reader);
}

/* The card holds the package: only one of them may be added. */
static void test_xe(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    make_chip(5, "xe", "0000:4d:00.0");
    make_card("0000:4d:00.0", 1);
    put(5, "energy1_input", "1");
    put(5, "energy1_label", "card");
    put(5, "energy2_input", "1");
    put(5, "energy2_label", "pkg");
    make_chip(2, "xe", "0000:9a:00.0");
    make_card("0000:9a:00.0", 0);
    put(2, "energy2_input", "1");
    put(2, "energy2_label", "pkg");
    reader = open_sysfs("intel_gpu");
    ASSERT_EVENTS(reader, ((struct expected[]){
                              {"intel_gpu:::card0:energy2", APAPI_DOMAIN_GPU, "energy of xe: pkg"},
                              {"intel_gpu:::card1:energy1", APAPI_DOMAIN_GPU, "energy of xe: card"},
                              {"intel_gpu:::card1:energy2", APAPI_DOMAIN_NONE, "energy of xe: pkg"},
                          }));
    assert_true(reader->events[0].guard_j == 262144);
    apapi_source_sysfs.close(reader);
    reader = open_sysfs("hwmon");
    ASSERT_EVENTS(reader, ((struct expected[]){
                              {"hwmon:::xe:energy1", APAPI_DOMAIN_GPU, "energy of xe: card"},
                              {"hwmon:::xe:energy2", APAPI_DOMAIN_NONE, "energy of xe: pkg"},
                              {"hwmon:::xe.1:energy2", APAPI_DOMAIN_GPU, "energy of xe: pkg"},
                          }));
    apapi_source_sysfs.close(reader);
}

/* One chip for the card, and one for each tile of it; some cards have the tiles' only. */
static void test_i915(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    make_chip(3, "i915", "0000:03:00.0");
    make_card("0000:03:00.0", 0);
    put(3, "energy1_input", "1");
    make_chip(2, "i915_gt0", "0000:03:00.0");
    put(2, "energy1_input", "1");
    make_chip(1, "i915_gt1", "0000:07:00.0");
    put(1, "energy1_input", "1");
    make_chip(0, "amd_energy", "amd_energy.0");
    put(0, "energy1_input", "1");
    reader = open_sysfs("intel_gpu");
    ASSERT_EVENTS(
        reader,
        ((struct expected[]){
            {"intel_gpu:::0000:07:00.0.gt1:energy1", APAPI_DOMAIN_GPU, "energy of i915_gt1"},
            {"intel_gpu:::card0:energy1", APAPI_DOMAIN_GPU, "energy of i915"},
            {"intel_gpu:::card0.gt0:energy1", APAPI_DOMAIN_NONE, "energy of i915_gt0"},
        }));
    apapi_source_sysfs.close(reader);
}

static void test_no_gpu(void **state)
{
    struct apapi_error err;

    (void)state;
    make_chip(0, "amdgpu", "0000:03:00.0");
    put(0, "power1_average", "1");
    assert_null(apapi_source_sysfs.open("intel_gpu", &err));
    assert_int_equal(errno, ENODEV);
    assert_non_null(strstr(err.text, "no Intel GPU"));
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(test_units_and_times),
        WITH_TREE(test_average_or_sample),
        WITH_TREE(test_names_survive_a_reboot),
        WITH_TREE(test_amd_energy),
        WITH_TREE(test_ibmpowernv),
        WITH_TREE(test_files_in_the_devices_folder),
        WITH_TREE(test_odd_chips),
        WITH_TREE(test_xe),
        WITH_TREE(test_i915),
        WITH_TREE(test_no_gpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
