/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's powercap zones in any order: several packages, dies, foreign ones. */
#include <sys/wait.h>

#include "unit/sysfs_fixture.h"

#define RANGE UINT64_C(262143328850)
#define NOBODY 65534

static void assert_event(size_t index, const char *name, enum apapi_domain domain)
{
    assert_true(index < reader->count);
    assert_string_equal(reader->events[index].name, name);
    assert_int_equal(reader->events[index].domain, domain);
}

static const struct machine {
    const char *what, *component;
    uint64_t range_max;
    struct {
        const char *folder, *name;
    } zones[5];
    struct {
        const char *name;
        enum apapi_domain domain;
    } events[5];
} machines[] = {
    {"package numbers come from the names, not from the zones' numbers",
     "rapl",
     RANGE,
     {{"intel-rapl:0", "psys"}, {"intel-rapl:1", "package-0"}, {"intel-rapl:1:0", "uncore"}},
     {{"rapl:::PSYS_ENERGY:PACKAGE0", APAPI_DOMAIN_PSYS},
      {"rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE},
      {"rapl:::PP1_ENERGY:PACKAGE0", APAPI_DOMAIN_UNCORE}}},
    {"dies and many packages",
     "rapl",
     RANGE,
     {{"intel-rapl:2", "package-1-die-0"},
      {"intel-rapl:10", "package-10"},
      {"intel-rapl:10:0", "dram"}},
     {{"rapl:::PACKAGE_ENERGY:PACKAGE1_DIE0", APAPI_DOMAIN_PACKAGE},
      {"rapl:::PACKAGE_ENERGY:PACKAGE10", APAPI_DOMAIN_PACKAGE},
      {"rapl:::DRAM_ENERGY:PACKAGE10", APAPI_DOMAIN_DRAM}}},
    {"AMD has package and core",
     "rapl",
     65532610987,
     {{"intel-rapl:1", "package-1"},
      {"intel-rapl:1:0", "core"},
      {"intel-rapl:0", "package-0"},
      {"intel-rapl:0:0", "core"}},
     {{"rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE},
      {"rapl:::PP0_ENERGY:PACKAGE0", APAPI_DOMAIN_CORE},
      {"rapl:::PACKAGE_ENERGY:PACKAGE1", APAPI_DOMAIN_PACKAGE},
      {"rapl:::PP0_ENERGY:PACKAGE1", APAPI_DOMAIN_CORE}}},
    {"intel-rapl-mmio shows package 0 a second time; dtpm is no meter",
     "rapl",
     RANGE,
     {{"intel-rapl:0", "package-0"},
      {"intel-rapl-mmio:0", "package-0"},
      {"intel-rapl:1", "something-new"},
      {"dtpm:0", "package-7"}},
     {{"rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE}}},
    {"powercap's names are PAPI's",
     "powercap",
     RANGE,
     {{"intel-rapl:0", "package-0"}, {"intel-rapl:0:1", "dram"}},
     {{"powercap:::ENERGY_UJ:ZONE0", APAPI_DOMAIN_PACKAGE},
      {"powercap:::ENERGY_UJ:ZONE0_SUBZONE1", APAPI_DOMAIN_DRAM}}},
};

WITH_TREE(machines)
{
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        const struct machine *machine = &machines[i];
        size_t count = 0;

        print_message("# %s\n", machine->what);
        for (size_t z = 0; machine->zones[z].folder; z++) {
            powercap_tree_zone(&tree, machine->zones[z].folder, machine->zones[z].name,
                               machine->range_max);
        }
        open_sysfs(machine->component);
        for (; machine->events[count].name; count++) {
            assert_event(count, machine->events[count].name, machine->events[count].domain);
            assert_int_equal(reader->events[count].range_max, machine->range_max);
            assert_true(fabs(reader->events[count].guard_j * 1e6 - (double)machine->range_max) < 1);
        }
        assert_int_equal(reader->count, count);
        renew_tree();
    }
}

/* The kernel numbers zones as it finds them, and lists them in any order. */
WITH_TREE(four_packages_of_two_dies)
{
    static const char *const folders[] = {"5", "2", "7", "0", "3", "6", "1", "4"};

    for (size_t i = 0; i < 8; i++) {
        char folder[32], name[32];
        int zone = folders[i][0] - '0';

        snprintf(folder, sizeof folder, "intel-rapl:%d:0", zone);
        powercap_tree_zone(&tree, folder, "dram", RANGE);
        snprintf(folder, sizeof folder, "intel-rapl:%d", zone);
        snprintf(name, sizeof name, "package-%d-die-%d", 3 - zone / 2, zone % 2);
        powercap_tree_zone(&tree, folder, name, RANGE);
    }
    open_sysfs("rapl");
    assert_int_equal(reader->count, 16);
    assert_event(0, "rapl:::PACKAGE_ENERGY:PACKAGE3_DIE0", APAPI_DOMAIN_PACKAGE);
    assert_event(1, "rapl:::DRAM_ENERGY:PACKAGE3_DIE0", APAPI_DOMAIN_DRAM);
    assert_event(2, "rapl:::PACKAGE_ENERGY:PACKAGE3_DIE1", APAPI_DOMAIN_PACKAGE);
    assert_event(15, "rapl:::DRAM_ENERGY:PACKAGE0_DIE1", APAPI_DOMAIN_DRAM);
}

WITH_TREE(descriptions)
{
    powercap_tree_zone(&tree, "intel-rapl:0", "psys", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1:0", "dram", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:2", "package-1-die-3", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:2:0", "core", RANGE);
    open_sysfs("rapl");
    assert_int_equal(reader->count, 5);
    assert_described(0, "energy of the platform (psys)");
    assert_described(1, "energy of CPU package 0");
    assert_described(2, "energy of the memory of CPU package 0");
    assert_described(3, "energy of die 3 of CPU package 1");
    assert_described(4, "energy of the cores of die 3 of CPU package 1");
}

WITH_TREE(no_zone_says_so)
{
    assert_fails_with(ENODEV, "no energy zone", apapi_source_sysfs.open("rapl", &why));
    assert_fails(ENOENT, apapi_source_sysfs.open("nonsense", &why));
}

/* As a user without permission for some files. @return whether `reader` is open; else see errno. */
static bool open_as_nobody(const char *component, struct apapi_error *err)
{
    bool as_root = geteuid() == 0;
    int code;

    if (as_root) {
        assert_int_equal(seteuid(NOBODY), 0);
    }
    reader = apapi_source_sysfs.open(component, err);
    code = errno;
    if (as_root) {
        assert_int_equal(seteuid(0), 0);
    }
    errno = code;
    return reader != NULL;
}

WITH_TREE(no_permission_names_the_file)
{
    struct apapi_error err;

    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_mode(&tree, "intel-rapl:0", 0);
    powercap_tree_mode(&tree, "intel-rapl:1", 0);
    assert_false(open_as_nobody("rapl", &err));
    assert_int_equal(errno, EACCES);
    assert_string_equal(err.text,
                        "no permission to read /sys/class/powercap/intel-rapl:0/energy_uj");
    powercap_tree_chmod(&tree, "sys/class/powercap", 0);
    assert_false(open_as_nobody("rapl", &err));
    assert_int_equal(errno, EACCES);
    assert_string_equal(err.text, "no permission to read /sys/class/powercap");
    powercap_tree_chmod(&tree, "sys/class/powercap", 0755);
}

/* A zone that cannot be measured is shown, so that a partial sum does not look complete. */
WITH_TREE(one_unreadable_file_of_several)
{
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_mode(&tree, "intel-rapl:1", 0);
    assert_true(open_as_nobody("rapl", &why));
    assert_int_equal(reader->count, 2);
    assert_described(1, "energy of CPU package 1: no permission to read "
                        "/sys/class/powercap/intel-rapl:1/energy_uj");
    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    assert_int_equal(readings[1].error, EACCES);
}

/* --- files ------------------------------------------------------------------------------------ */

/* A zone whose energy_uj leads to `target`. */
static void link_zone(const char *target)
{
    char path[128];

    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", tree.root);
    assert_int_equal(unlink(path), 0);
    powercap_tree_link(&tree, "sys/class/powercap/intel-rapl:0/energy_uj", target);
}

WITH_TREE(what_cannot_be_opened_is_reported)
{
    static const char *const targets[] = {"/proc", "/nowhere"};
    static const int errors[] = {EISDIR, ENOENT};

    for (size_t i = 0; i < 2; i++) {
        char text[256];

        link_zone(targets[i]);
        assert_fails(errors[i], apapi_source_sysfs.open("rapl", &why));
        snprintf(text, sizeof text, "/sys/class/powercap/intel-rapl:0/energy_uj: %s",
                 strerror(errors[i]));
        assert_string_equal(why.text, text);
        renew_tree();
    }
}

static int first_error(void)
{
    read_sysfs();
    return readings[0].error;
}

/* The kernel refuses to read address 0 of a process, with EIO. */
WITH_TREE(a_read_error_is_a_failed_reading)
{
    link_zone("/proc/self/mem");
    open_sysfs("rapl");
    assert_int_equal(first_error(), EIO);
}

/* For each component, one of its files and what follows the number there. */
static const struct {
    const char *component, *path, *behind;
} files[] = {
    {"rapl", "sys/class/powercap/intel-rapl:0/energy_uj", ""},
    {"hwmon", "sys/class/hwmon/hwmon0/energy1_input", ""},
    {"intel_gpu", "sys/class/hwmon/hwmon0/energy1_input", ""},
    {"cray_pm", "sys/cray/pm_counters/energy", " J"},
    {"cray_pm", "sys/cray/pm_counters/energy", " J 1700000000000000 us"},
};

static void make_files(void)
{
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_put(&tree, "sys/class/hwmon/hwmon0/name", "xe\n");
    powercap_tree_put(&tree, "sys/class/hwmon/hwmon0/energy1_input", "1\n");
    powercap_tree_put(&tree, "sys/cray/pm_counters/energy", "1 J\n");
}

WITH_TREE(garbage_is_never_a_number)
{
    static const char *const garbage[] = {
        "",       "-5",  "12x",      "x",    " 12", "12 ",
        "0x10",   "1e9", "12.5",     "+5",   "\t5", "999999999999999999999999999999",
        "12\n13", "nan", "\xff\xff", "12\r", "١٢",  "18446744073709551616",
    };

    make_files();
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        powercap_tree_put(&tree, files[f].path, "");
        open_sysfs(files[f].component);
        assert_int_equal(first_error(), EBADMSG);
        for (size_t i = 0; i < COUNT_OF(garbage); i++) {
            char text[128];

            snprintf(text, sizeof text, "%s%s\n", garbage[i], files[f].behind);
            powercap_tree_put(&tree, files[f].path, text);
            fail_if(first_error() != EBADMSG && first_error() != ERANGE,
                    "'%s' was taken for a number", text);
        }
    }
}

WITH_TREE(a_number_without_newline_is_torn)
{
    make_files();
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        char text[128];

        snprintf(text, sizeof text, "123%s\n", files[f].behind);
        powercap_tree_put(&tree, files[f].path, text);
        open_sysfs(files[f].component);
        assert_int_equal(first_error(), 0);
        for (size_t length = strlen(text) - 1; length > 0; length--) {
            text[length] = '\0';
            powercap_tree_put(&tree, files[f].path, text);
            assert_int_equal(first_error(), EBADMSG);
        }
    }
}

WITH_TREE(routes)
{
    struct apapi_error err;

    assert_true(apapi_route_known("rapl"));
    assert_false(apapi_route_known("nonsense"));
    assert_int_equal(apapi_catalog_check_order("sysfs:papi", &err), 0);
    assert_int_equal(apapi_catalog_check_order("sysfs:nonsense", &err), -1);
    assert_contains(err.text, "'nonsense'");
    assert_int_equal(apapi_catalog_check_order("", &err), -1);
    make_files();
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        reader = apapi_catalog_open(files[f].component, f == 0 ? "sysfs" : NULL, &err);
        assert_non_null(reader);
        assert_ptr_equal(reader->source, &apapi_source_sysfs);
        close_sysfs();
    }
}

/* --- hwmon ------------------------------------------------------------------------------------ */

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

struct chip_machine {
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

static const struct chip_machine chips[] = {
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

static void assert_chip_event(size_t number, const struct expected *expected)
{
    const struct apapi_event *event = &reader->events[number];

    assert_string_equal(event->name, expected->name);
    assert_string_equal(apapi_domain_name(event->domain), apapi_domain_name(expected->domain));
    assert_described(number, expected->text);
}

WITH_TREE(chips)
{
    for (size_t i = 0; i < COUNT_OF(chips); i++) {
        const struct chip_machine *machine = &chips[i];
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
            assert_chip_event(e, &machine->events[e]);
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

/* Of rated powers and limits, also those of alarms, the highest is none that it may not draw. */
WITH_TREE(highest_power)
{
    make_chip(1, "power_meter", "a");
    put(1, "power1_average", "1");
    put(1, "power1_cap_max", "900000000");
    put(1, "power2_input", "1");
    put(1, "power2_cap_max", "900000000");
    put(1, "power2_rated_max", "800000000");
    put(1, "power3_input", "1");
    put(1, "power4_input", "1");
    put(1, "power4_rated_max", "250000000");
    put(1, "power4_max", "300000000");
    put(1, "power4_crit", "500000000");
    open_sysfs("hwmon");
    assert_int_equal(reader->count, 4);
    assert_true(reader->events[0].most_w == 900);
    assert_true(reader->events[1].most_w == 900);
    assert_true(reader->events[2].most_w == 0);
    assert_true(reader->events[3].most_w == 500);
}

WITH_TREE(unusual_chips)
{
    assert_fails_saying(ENODEV, "the kernel has no /sys/class/hwmon",
                        apapi_source_sysfs.open("hwmon", &why));
    make_chip(0, "coretemp", "coretemp.0");
    put(0, "temp1_input", "45000");
    put(1, "energy1_input", "1"); /* no name: not yet, or no longer, there */
    put(2, "name", "");
    put(2, "energy1_input", "1");
    assert_fails_saying(ENODEV, "no chip that measures energy or power in /sys/class/hwmon",
                        apapi_source_sysfs.open("hwmon", &why));
    make_chip(3, "a,b:c\"d", "x");
    put(3, "energy1_input", "1");
    open_sysfs("hwmon");
    assert_string_equal(reader->events[0].name, "hwmon:::a_b_c_d:energy1");
}
