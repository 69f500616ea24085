/* SPDX-License-Identifier: BSD-3-Clause */
/* Chips of hwmon: which files count, what they are called, and which of them are added up. */
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

struct file {
    const char *name, *text;
};

struct chip {
    int number;         /* of hwmonN, as the kernel counts in this boot */
    const char *name;   /* NULL: it is in the device's folder, as drivers before 2013 have it */
    const char *device; /* NULL: none */
    int card;           /* number of the card plus 1; 0: not a card */
    struct file files[8];
};

struct expected {
    const char *name;
    enum apapi_domain domain;
    const char *text;
    uint64_t raw;
};

struct machine {
    const char *what;
    struct chip chips[4];
    const char *component;
    struct expected events[4];
};

#define INA238(number, device, raw, label)                                                         \
    {                                                                                              \
        number, "ina238", device, 0,                                                               \
        {                                                                                          \
            {"energy1_input", raw},                                                                \
            {                                                                                      \
                "energy1_label", label                                                             \
            }                                                                                      \
        }                                                                                          \
    }
#define INA238S(first, second, third)                                                              \
    {                                                                                              \
        INA238(first, "1-0009", "1", "first"), INA238(second, "1-0040", "2", "second"),            \
            INA238(third, "10-0040", "3", "third")                                                 \
    }
#define INA238_EVENTS                                                                              \
    {                                                                                              \
        {"hwmon:::ina238:energy1", APAPI_DOMAIN_NONE, "energy of ina238: first", 1},               \
            {"hwmon:::ina238.1:energy1", APAPI_DOMAIN_NONE, "energy of ina238: second", 2},        \
            {"hwmon:::ina238.2:energy1", APAPI_DOMAIN_NONE, "energy of ina238: third", 3},         \
    }
#define XES                                                                                        \
    {                                                                                              \
        {5,                                                                                        \
         "xe",                                                                                     \
         "0000:4d:00.0",                                                                           \
         1 + 1,                                                                                    \
         {{"energy1_input", "1"},                                                                  \
          {"energy1_label", "card"},                                                               \
          {"energy2_input", "2"},                                                                  \
          {"energy2_label", "pkg"}}},                                                              \
            {2, "xe", "0000:9a:00.0", 0 + 1, {{"energy2_input", "3"}, {"energy2_label", "pkg"}}},  \
    }

static const struct machine machines[] = {
    {"the average, where it is of the same thing as the sample",
     {{0, "fam15h_power", "0000:00:18.4", 0, {{"power1_average", "1"}, {"power1_input", "2"}}},
      {1,
       "sensor",
       "1-0040",
       0,
       {{"power1_average", "3"}, {"power1_input", "4"}, {"power2_input", "5"}}}},
     "hwmon",
     {{"hwmon:::fam15h_power:power1", APAPI_DOMAIN_PACKAGE, "power of fam15h_power", 2},
      {"hwmon:::sensor:power1", APAPI_DOMAIN_NONE, "average power of sensor", 3},
      {"hwmon:::sensor:power2", APAPI_DOMAIN_NONE, "power of sensor", 5}}},
    {"chips of one name are numbered by their devices", INA238S(0, 1, 2), "hwmon", INA238_EVENTS},
    {"whatever the kernel's numbers of this boot are", INA238S(12, 3, 7), "hwmon", INA238_EVENTS},
    {"amd_energy",
     {{4,
       "amd_energy",
       "amd_energy.0",
       0,
       {{"energy1_input", "1"},
        {"energy1_label", "Ecore000"},
        {"energy10_input", "3"},
        {"energy10_label", "Esocket1"},
        {"energy9_input", "2"},
        {"energy9_label", "Esocket0"}}}},
     "hwmon",
     {{"hwmon:::amd_energy:energy1", APAPI_DOMAIN_CORE, "energy of amd_energy: Ecore000", 1},
      {"hwmon:::amd_energy:energy9", APAPI_DOMAIN_PACKAGE, "energy of amd_energy: Esocket0", 2},
      {"hwmon:::amd_energy:energy10", APAPI_DOMAIN_PACKAGE, "energy of amd_energy: Esocket1", 3}}},
    {"ibmpowernv",
     {{0,
       "ibmpowernv",
       "opal-sensor.0",
       0,
       {{"power1_input", "1"},
        {"power1_label", "Chip 0 "},
        {"power2_input", "2"},
        {"power2_label", "Chip 0 Vdd"},
        {"power3_input", "3"},
        {"power3_label", "Chip 8"},
        {"power4_input", "4"},
        {"power4_label", "System"}}}},
     "hwmon",
     {{"hwmon:::ibmpowernv:power1", APAPI_DOMAIN_PACKAGE, "power of ibmpowernv: Chip 0", 1},
      {"hwmon:::ibmpowernv:power2", APAPI_DOMAIN_NONE, "power of ibmpowernv: Chip 0 Vdd", 2},
      {"hwmon:::ibmpowernv:power3", APAPI_DOMAIN_PACKAGE, "power of ibmpowernv: Chip 8", 3},
      {"hwmon:::ibmpowernv:power4", APAPI_DOMAIN_NODE, "power of ibmpowernv: System", 4}}},
    {"files in the device's folder, as acpi_power_meter had them long",
     {{0, NULL, NULL, 0, {{"device/name", "power_meter"}, {"device/power1_average", "1"}}}},
     "hwmon",
     {{"hwmon:::power_meter:power1", APAPI_DOMAIN_NODE, "average power of power_meter", 1}}},
    {"xe: the card holds the package, only one of them may be added",
     XES,
     "intel_gpu",
     {{"intel_gpu:::card0:energy2", APAPI_DOMAIN_GPU, "energy of xe: pkg", 3},
      {"intel_gpu:::card1:energy1", APAPI_DOMAIN_GPU, "energy of xe: card", 1},
      {"intel_gpu:::card1:energy2", APAPI_DOMAIN_NONE, "energy of xe: pkg", 2}}},
    {"xe by its chips",
     XES,
     "hwmon",
     {{"hwmon:::xe:energy1", APAPI_DOMAIN_GPU, "energy of xe: card", 1},
      {"hwmon:::xe:energy2", APAPI_DOMAIN_NONE, "energy of xe: pkg", 2},
      {"hwmon:::xe.1:energy2", APAPI_DOMAIN_GPU, "energy of xe: pkg", 3}}},
    {"i915: a chip for the card, and one for each tile; some cards have the tiles' only",
     {{3, "i915", "0000:03:00.0", 0 + 1, {{"energy1_input", "1"}}},
      {2, "i915_gt0", "0000:03:00.0", 0, {{"energy1_input", "2"}}},
      {1, "i915_gt1", "0000:07:00.0", 0, {{"energy1_input", "3"}}},
      {0, "amd_energy", "amd_energy.0", 0, {{"energy1_input", "4"}}}},
     "intel_gpu",
     {{"intel_gpu:::0000:07:00.0.gt1:energy1", APAPI_DOMAIN_GPU, "energy of i915_gt1", 3},
      {"intel_gpu:::card0:energy1", APAPI_DOMAIN_GPU, "energy of i915", 1},
      {"intel_gpu:::card0.gt0:energy1", APAPI_DOMAIN_NONE, "energy of i915_gt0", 2}}},
};

static void put_chip(const struct chip *chip)
{
    if (chip->name) {
        make_chip(chip->number, chip->name, chip->device);
    }
    if (chip->card > 0) {
        make_card(chip->device, chip->card - 1);
    }
    for (size_t f = 0; f < COUNT_OF(chip->files) && chip->files[f].name; f++) {
        put(chip->number, chip->files[f].name, chip->files[f].text);
    }
}

static void assert_event(size_t number, const struct expected *expected)
{
    const struct apapi_event *event = &reader->events[number];

    assert_string_equal(event->name, expected->name);
    assert_string_equal(apapi_domain_name(event->domain), apapi_domain_name(expected->domain));
    assert_described(number, expected->text);
}

WITH_TREE(machines)
{
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        const struct machine *machine = &machines[i];
        size_t count = 0;

        print_message("# %s\n", machine->what);
        for (size_t c = 0; c < COUNT_OF(machine->chips) && machine->chips[c].files[0].name; c++) {
            put_chip(&machine->chips[c]);
        }
        open_sysfs(machine->component);
        while (count < COUNT_OF(machine->events) && machine->events[count].name) {
            count++;
        }
        assert_int_equal(reader->count, count);
        read_sysfs();
        for (size_t e = 0; e < count; e++) {
            assert_event(e, &machine->events[e]);
            assert_true(readings[e].raw == machine->events[e].raw);
        }
        renew_tree();
    }
}

WITH_TREE(units_and_times)
{
    make_chip(0, "power_meter", "ACPI000D:00");
    put(0, "power1_average", "350000000");
    put(0, "power1_average_interval", "1000");
    put(0, "power1_average_max", "9000");
    put(0, "temp1_input", "45000");
    make_chip(1, "sensor", "1-0040");
    put(1, "energy2_input", "18446744073709551615");
    put(1, "update_interval", "250");
    open_sysfs("hwmon");
    assert_int_equal(reader->count, 2);
    assert_string_equal(reader->events[0].name, "hwmon:::power_meter:power1");
    assert_string_equal(reader->events[1].name, "hwmon:::sensor:energy2");
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
    read_sysfs();
    assert_int_equal(readings[0].raw, 350000000);
    assert_true(reader->events[0].scale * (double)readings[0].raw > 349.999);
    assert_true(readings[1].raw == UINT64_MAX);
}

/* The wrap of the driver's counter of a card, and how often amd_energy's are updated. */
WITH_TREE(ranges)
{
    make_chip(4, "amd_energy", "amd_energy.0");
    put(4, "energy1_input", "1");
    put(4, "energy1_label", "Esocket0");
    make_chip(5, "xe", "0000:4d:00.0");
    put(5, "energy1_input", "1");
    open_sysfs("hwmon");
    assert_int_equal(reader->count, 2);
    assert_int_equal(reader->events[0].update_ns, 1000000);
    assert_true(reader->events[1].guard_j == 262144);
}

/* The rated power is the device's; a limit may be that of a user. */
WITH_TREE(highest_power)
{
    make_chip(1, "power_meter", "a");
    put(1, "power1_average", "1");
    put(1, "power1_cap_max", "900000000");
    put(1, "power2_input", "1");
    put(1, "power2_cap_max", "900000000");
    put(1, "power2_rated_max", "800000000");
    put(1, "power3_input", "1");
    open_sysfs("hwmon");
    assert_int_equal(reader->count, 3);
    assert_true(reader->events[0].most_w == 900);
    assert_true(reader->events[1].most_w == 800);
    assert_true(reader->events[2].most_w == 0);
}

WITH_TREE(unusual_chips)
{
    struct apapi_error err;

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
    open_sysfs("hwmon");
    assert_string_equal(reader->events[0].name, "hwmon:::a_b_c_d:energy1");
}
