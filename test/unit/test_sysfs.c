/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a simulated kernel: powercap, hwmon, Cray's pm_counters; and what is read from them. */
#include <sys/resource.h>
#include <sys/types.h>

#include "fake/powercap_tree.h"
#include "measure/meter.h"
#include "sources/sources.h"
#include "unit/unit.h"

#define READINGS_MAX 32 /* of a reader */

static struct powercap_tree tree;
static struct apapi_reader *reader; /* latest reader opened */
static struct apapi_reading readings[READINGS_MAX];

static void make_tree(void)
{
    powercap_tree_create(&tree);
}

static void close_sysfs(void)
{
    if (reader) {
        apapi_source_sysfs.close(reader);
    }
    reader = NULL;
}

static void remove_tree(void)
{
    close_sysfs();
    powercap_tree_destroy(&tree);
}

/* Make a new tree, for the next row of a table. */
static void renew_tree(void)
{
    remove_tree();
    make_tree();
}

#define WITH_TREE(name) TEST_WITH(name, make_tree, remove_tree)

static void open_sysfs(const char *component)
{
    close_sysfs();
    reader = apapi_source_sysfs.open(component, &why);
    fail_if(!reader, "%s", why.text);
}

static void read_sysfs(void)
{
    assert_true(reader->count <= READINGS_MAX);
    apapi_source_sysfs.read(reader, readings);
}

/* Check all events with a reading, one a line: "NAME DOMAIN KIND VALUE: DESCRIPTION". */
static void assert_listed(const char *wanted)
{
    char listed[4096] = "", text[256];
    size_t length = 0;

    read_sysfs();
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];

        assert_int_equal(readings[i].error, 0);
        apapi_source_sysfs.describe(reader, i, text, sizeof text);
        length += (size_t)snprintf(listed + length, sizeof listed - length, "%s %s %s %llu: %s\n",
                                   event->name, apapi_domain_name(event->domain),
                                   apapi_kind_name(event->kind),
                                   (unsigned long long)readings[i].raw, text);
        assert_true(length < sizeof listed);
    }
    assert_string_equal(listed, wanted);
}

#define RANGE UINT64_C(262143328850)
#define NOBODY 65534

/* Make zones "FOLDER=NAME", in the order given, as the kernel may list them in any order. */
static void put_zones(const char *zones, uint64_t range_uj)
{
    char copy[512], *rest = copy, *zone;

    snprintf(copy, sizeof copy, "%s", zones);
    while ((zone = strsep(&rest, ";"))) {
        char *name = strchr(zone, '=');

        *name++ = '\0';
        powercap_tree_zone(&tree, zone, name, range_uj);
    }
}

static const struct {
    const char *what, *component, *zones, *listed;
    uint64_t range_max;
    const char *modalias; /* of the processors; NULL: there is no such file */
} machines[] = {
    {"package numbers come from the names, not from the zones' numbers", "rapl",
     "intel-rapl:0=psys;intel-rapl:1=package-0;intel-rapl:1:0=uncore",
     "rapl:::PSYS_ENERGY:PACKAGE0 psys energy 0: energy of the platform (psys)\n"
     "rapl:::PACKAGE_ENERGY:PACKAGE0 package energy 0: energy of CPU package 0\n"
     "rapl:::PP1_ENERGY:PACKAGE0 uncore energy 0: energy of the uncore part of CPU package 0\n",
     RANGE, NULL},
    {"dies and many packages", "rapl",
     "intel-rapl:10:0=dram;intel-rapl:2=package-1-die-0;intel-rapl:10=package-10;"
     "intel-rapl:2:0=core",
     "rapl:::PACKAGE_ENERGY:PACKAGE1_DIE0 package energy 0: energy of die 0 of CPU package 1\n"
     "rapl:::PP0_ENERGY:PACKAGE1_DIE0 core energy 0: energy of the cores of die 0 of CPU "
     "package 1\n"
     "rapl:::PACKAGE_ENERGY:PACKAGE10 package energy 0: energy of CPU package 10\n"
     "rapl:::DRAM_ENERGY:PACKAGE10 dram energy 0: energy of the memory of CPU package 10\n",
     RANGE, NULL},
    {"the cores of Intel's processors", "rapl", "intel-rapl:0=package-0;intel-rapl:0:0=core",
     "rapl:::PACKAGE_ENERGY:PACKAGE0 package energy 0: energy of CPU package 0\n"
     "rapl:::PP0_ENERGY:PACKAGE0 core energy 0: energy of the cores of CPU package 0\n",
     RANGE, "cpu:type:x86,ven0000fam0006mod0055:feature:,0002\n"},
    {"AMD's zone `core` is one core of the package", "rapl",
     "intel-rapl:1=package-1;intel-rapl:1:0=core;intel-rapl:0=package-0;intel-rapl:0:0=core",
     "rapl:::PACKAGE_ENERGY:PACKAGE0 package energy 0: energy of CPU package 0\n"
     "rapl:::PP0_ENERGY:PACKAGE0 - energy 0: energy of one core of CPU package 0\n"
     "rapl:::PACKAGE_ENERGY:PACKAGE1 package energy 0: energy of CPU package 1\n"
     "rapl:::PP0_ENERGY:PACKAGE1 - energy 0: energy of one core of CPU package 1\n",
     65532610987, "cpu:type:x86,ven0002fam0019mod0011:feature:,0002\n"},
    {"Hygon's are AMD's", "powercap", "intel-rapl:0=package-0;intel-rapl:0:0=core",
     "powercap:::ENERGY_UJ:ZONE0 package energy 0: energy of CPU package 0\n"
     "powercap:::ENERGY_UJ:ZONE0_SUBZONE0 - energy 0: energy of one core of CPU package 0\n",
     65532610987, "cpu:type:x86,ven0009fam0018mod0001:feature:,0002\n"},
    {"intel-rapl-mmio shows package 0 a second time; dtpm is no meter", "rapl",
     "intel-rapl:0=package-0;intel-rapl-mmio:0=package-0;intel-rapl:1=something-new;"
     "dtpm:0=package-7",
     "rapl:::PACKAGE_ENERGY:PACKAGE0 package energy 0: energy of CPU package 0\n", RANGE, NULL},
    {"powercap's names are PAPI's", "powercap", "intel-rapl:0=package-0;intel-rapl:0:1=dram",
     "powercap:::ENERGY_UJ:ZONE0 package energy 0: energy of CPU package 0\n"
     "powercap:::ENERGY_UJ:ZONE0_SUBZONE1 dram energy 0: energy of the memory of CPU package 0\n",
     RANGE, NULL},
};

WITH_TREE(machines)
{
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        print_message("# %s\n", machines[i].what);
        put_zones(machines[i].zones, machines[i].range_max);
        if (machines[i].modalias) {
            powercap_tree_put(&tree, "sys/devices/system/cpu/modalias", machines[i].modalias);
        }
        open_sysfs(machines[i].component);
        assert_listed(machines[i].listed);
        for (size_t e = 0; e < reader->count; e++) {
            assert_int_equal(reader->events[e].range_max, machines[i].range_max);
            if (reader->events[e].domain) { /* others have no maximum power */
                assert_true(fabs(reader->events[e].guard_j * 1e6 - (double)machines[i].range_max) <
                            1);
            }
        }
        renew_tree();
    }
}

WITH_TREE(no_zone_says_so)
{
    assert_fails_with(ENODEV, "no energy zone", apapi_source_sysfs.open("rapl", &why));
    assert_fails(ENOENT, apapi_source_sysfs.open("nonsense", &why));
}

/* Open "rapl" without permission for some files. @return the reader; NULL with errno and `why` */
static const struct apapi_reader *open_as_nobody(void)
{
    bool as_root = geteuid() == 0;
    int code;

    if (as_root) {
        assert_int_equal(seteuid(NOBODY), 0);
    }
    reader = apapi_source_sysfs.open("rapl", &why);
    code = errno;
    if (as_root) {
        assert_int_equal(seteuid(0), 0);
    }
    errno = code;
    return reader;
}

WITH_TREE(no_permission_names_the_file)
{
    static const char *const closed[] = {"/sys/class/powercap/intel-rapl:0/energy_uj",
                                         "/sys/class/powercap/intel-rapl:0", "/sys/class/powercap"};

    for (size_t i = 0; i < COUNT_OF(closed); i++) {
        powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
        powercap_tree_chmod(&tree, closed[i] + 1, 0);
        assert_fails_with(EACCES, "no permission to read /sys/class/powercap", open_as_nobody());
        assert_contains(why.text, closed[i]);
        powercap_tree_chmod(&tree, closed[i] + 1, 0755);
        renew_tree();
    }
}

/* A zone that cannot be read is still listed, so that a partial sum does not look complete. */
WITH_TREE(one_unreadable_file_of_several)
{
    char said[256];

    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_chmod(&tree, "sys/class/powercap/intel-rapl:1/energy_uj", 0);
    assert_non_null(open_as_nobody());
    assert_int_equal(reader->count, 2);
    apapi_source_sysfs.describe(reader, 1, said, sizeof said);
    assert_string_equal(said, "energy of CPU package 1: no permission to read "
                              "/sys/class/powercap/intel-rapl:1/energy_uj");
    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    assert_int_equal(readings[1].error, EACCES);
}

/* Zone 1 is shown although it cannot be read, with each of the reasons. */
WITH_TREE(zones_that_cannot_be_told_are_not_left_out)
{
    static const struct {
        const char *second, *range; /* name and range of zone 1; NULL: no user may read it */
        const char *name, *says;
        int error;
    } cases[] = {
        {"package-0", "5\n", "rapl:::PACKAGE_ENERGY:ZONE1",
         "energy of zone intel-rapl:1: /sys/class/powercap/intel-rapl:1/name: File exists", EEXIST},
        {NULL, "5\n", "rapl:::PACKAGE_ENERGY:ZONE1",
         "energy of zone intel-rapl:1: no permission to read "
         "/sys/class/powercap/intel-rapl:1/name",
         EACCES},
        {"package-1", NULL, "rapl:::PACKAGE_ENERGY:PACKAGE1",
         "energy of CPU package 1: no permission to read "
         "/sys/class/powercap/intel-rapl:1/max_energy_range_uj",
         EACCES},
        {"package-1", "none\n", "rapl:::PACKAGE_ENERGY:PACKAGE1",
         "energy of CPU package 1: /sys/class/powercap/intel-rapl:1/max_energy_range_uj: "
         "Bad message",
         EBADMSG},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static const char range[] = "sys/class/powercap/intel-rapl:1/max_energy_range_uj";
        char said[256];

        powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
        powercap_tree_zone(&tree, "intel-rapl:1", cases[i].second ? cases[i].second : "", RANGE);
        powercap_tree_put(&tree, range, cases[i].range ? cases[i].range : "");
        powercap_tree_chmod(&tree, range, cases[i].range ? 0444 : 0);
        powercap_tree_chmod(&tree, "sys/class/powercap/intel-rapl:1/name",
                            cases[i].second ? 0444 : 0);
        assert_non_null(open_as_nobody());
        assert_int_equal(reader->count, 2);
        assert_string_equal(reader->events[1].name, cases[i].name);
        assert_int_equal(reader->events[1].domain, APAPI_DOMAIN_PACKAGE);
        apapi_source_sysfs.describe(reader, 1, said, sizeof said);
        assert_string_equal(said, cases[i].says);
        read_sysfs();
        assert_int_equal(readings[0].error, 0);
        assert_int_equal(readings[1].error, cases[i].error);
        renew_tree();
    }
}

/* @return whether all `count` meters were opened; else a message says that others are missing. */
static bool open_with_descriptors(const char *component, rlim_t descriptors, size_t count)
{
    struct rlimit usual, few;
    int code;

    close_sysfs();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    few = (struct rlimit){descriptors, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    reader = apapi_source_sysfs.open(component, &why);
    code = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    if (!reader) {
        assert_int_equal(code, EMFILE);
        assert_non_null(strstr(why.text, strerror(EMFILE)));
        return false;
    }
    assert_int_equal(reader->count, count);
    read_sysfs();
    return readings[count - 1].error == 0;
}

WITH_TREE(without_descriptors_nothing_is_said_to_be_absent)
{
    rlim_t least = 0;

    put_zones("intel-rapl:0=package-0;intel-rapl:0:0=dram;intel-rapl:1=package-1", RANGE);
    while (!open_with_descriptors("rapl", least, 3)) {
        least++;
    }
    assert_true(least > 3);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Make a zone whose energy_uj is a link to `target`; NULL: is not there. */
static void link_zone(const char *target)
{
    char path[128];

    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", tree.root);
    assert_int_equal(unlink(path), 0);
    if (target) {
        powercap_tree_link(&tree, "sys/class/powercap/intel-rapl:0/energy_uj", target);
    }
}

WITH_TREE(what_cannot_be_opened_is_reported)
{
    static const char *const targets[] = {"/proc", "/nowhere", NULL};
    static const int errors[] = {EISDIR, ENOENT, ENOENT};

    for (size_t i = 0; i < COUNT_OF(targets); i++) {
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

/* For each component: one of its files, and the text that follows the number in it. */
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
    assert_true(apapi_route_known("rapl"));
    assert_false(apapi_route_known("nonsense"));
    assert_int_equal(apapi_catalog_check_order("sysfs:papi", NULL), 0);
    assert_fails_with(EINVAL, "'nonsense'", apapi_catalog_check_order("sysfs:nonsense", &why));
    assert_int_equal(apapi_catalog_check_order("", NULL), 0);
    make_files();
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        reader = apapi_catalog_open(files[f].component, f == 0 ? "sysfs" : NULL, NULL);
        assert_non_null(reader);
        assert_ptr_equal(reader->source, &apapi_source_sysfs);
        close_sysfs();
    }
}

/* --- hwmon ------------------------------------------------------------------------------------ */

/*
 * Make hwmonN with its files, and its device below sys/devices, as today's drivers do.
 * @param device  "0000:03:00.0"; "0000:03:00.0;1" is card1, too; NULL: no device
 */
static void make_chip(int number, const char *device, const char *contents)
{
    char folder[64], path[128], target[128];
    int length = device ? (int)strcspn(device, ";") : 0;

    snprintf(folder, sizeof folder, "sys/class/hwmon/hwmon%d", number);
    powercap_tree_files(&tree, folder, contents);
    if (!device) {
        return;
    }
    snprintf(path, sizeof path, "sys/devices/%.*s", length, device);
    powercap_tree_files(&tree, path, "uevent=");
    if (device[length]) {
        snprintf(target, sizeof target,
                 "drm/renderD128/uevent=;drm/card%s/uevent=", device + length + 1);
        powercap_tree_files(&tree, path, target);
    }
    snprintf(path, sizeof path, "%s/device", folder);
    snprintf(target, sizeof target, "../../../devices/%.*s", length, device);
    powercap_tree_link(&tree, path, target);
}

#define INA238S(first, second, third)                                                              \
    {                                                                                              \
        {first, "1-0009", "name=ina238;energy1_input=1;energy1_label=first"},                      \
            {second, "1-0040", "name=ina238;energy1_input=2;energy1_label=second"},                \
        {                                                                                          \
            third, "10-0040", "name=ina238;energy1_input=3;energy1_label=third"                    \
        }                                                                                          \
    }
#define INA238_EVENTS                                                                              \
    "hwmon:::ina238:energy1 - energy 1: energy of ina238: first\n"                                 \
    "hwmon:::ina238.1:energy1 - energy 2: energy of ina238: second\n"                              \
    "hwmon:::ina238.2:energy1 - energy 3: energy of ina238: third\n"
#define XES                                                                                        \
    {                                                                                              \
        {5, "0000:4d:00.0;1",                                                                      \
         "name=xe;energy1_input=1;energy1_label=card;energy2_input=2;energy2_label=pkg"},          \
        {                                                                                          \
            2, "0000:9a:00.0;0", "name=xe;energy2_input=3;energy2_label=pkg"                       \
        }                                                                                          \
    }

static const struct {
    const char *what, *component;
    struct {
        int number; /* N of hwmonN, as the kernel has counted in this boot */
        const char *device, *files;
    } chips[4];
    const char *listed;
} chips[] = {
    {"the average, where it is of the same thing as the sample",
     "hwmon",
     {{0, "0000:00:18.4", "name=fam15h_power;power1_average=1;power1_input=2"},
      {1, "1-0040", "name=sensor;power1_average=3;power1_input=4;power2_input=5"}},
     "hwmon:::fam15h_power:power1 package power 2: power of fam15h_power\n"
     "hwmon:::sensor:power1 - power 3: average power of sensor\n"
     "hwmon:::sensor:power2 - power 5: power of sensor\n"},
    {"chips of one name are numbered by their devices", "hwmon", INA238S(0, 1, 2), INA238_EVENTS},
    {"whatever the kernel's numbers of this boot are", "hwmon", INA238S(12, 3, 7), INA238_EVENTS},
    {"amd_energy",
     "hwmon",
     {{4, "amd_energy.0",
       "name=amd_energy;energy1_input=1;energy1_label=Ecore000;energy10_input=3;"
       "energy10_label=Esocket1;energy9_input=2;energy9_label=Esocket0"}},
     "hwmon:::amd_energy:energy1 core energy 1: energy of amd_energy: Ecore000\n"
     "hwmon:::amd_energy:energy9 package energy 2: energy of amd_energy: Esocket0\n"
     "hwmon:::amd_energy:energy10 package energy 3: energy of amd_energy: Esocket1\n"},
    {"ibmpowernv",
     "hwmon",
     {{0, "opal-sensor.0",
       "name=ibmpowernv;power1_input=1;power1_label=Chip 0 ;power2_input=2;power2_label=Chip 0 "
       "Vdd;power3_input=3;power3_label=Chip 8;power4_input=4;power4_label=System"}},
     "hwmon:::ibmpowernv:power1 package power 1: power of ibmpowernv: Chip 0\n"
     "hwmon:::ibmpowernv:power2 - power 2: power of ibmpowernv: Chip 0 Vdd\n"
     "hwmon:::ibmpowernv:power3 package power 3: power of ibmpowernv: Chip 8\n"
     "hwmon:::ibmpowernv:power4 node power 4: power of ibmpowernv: System\n"},
    {"files in the device's folder, as acpi_power_meter had them long",
     "hwmon",
     {{0, NULL, "device/name=power_meter;device/power1_average=1"}},
     "hwmon:::power_meter:power1 node power 1: average power of power_meter\n"},
    {"xe: the card holds the package, only one of them may be added", "intel_gpu", XES,
     "intel_gpu:::card0:energy2 gpu energy 3: energy of xe: pkg\n"
     "intel_gpu:::card1:energy1 gpu energy 1: energy of xe: card\n"
     "intel_gpu:::card1:energy2 - energy 2: energy of xe: pkg\n"},
    {"xe by its chips", "hwmon", XES,
     "hwmon:::xe:energy1 gpu energy 1: energy of xe: card\n"
     "hwmon:::xe:energy2 - energy 2: energy of xe: pkg\n"
     "hwmon:::xe.1:energy2 gpu energy 3: energy of xe: pkg\n"},
    {"i915: a chip for the card, and one for each tile; some cards have the tiles' only",
     "intel_gpu",
     {{3, "0000:03:00.0;0", "name=i915;energy1_input=1"},
      {2, "0000:03:00.0", "name=i915_gt0;energy1_input=2"},
      {1, "0000:07:00.0", "name=i915_gt1;energy1_input=3"},
      {0, "amd_energy.0", "name=amd_energy;energy1_input=4"}},
     "intel_gpu:::0000:07:00.0.gt1:energy1 gpu energy 3: energy of i915_gt1\n"
     "intel_gpu:::card0:energy1 gpu energy 1: energy of i915\n"
     "intel_gpu:::card0.gt0:energy1 - energy 2: energy of i915_gt0\n"},
};

WITH_TREE(chips)
{
    for (size_t i = 0; i < COUNT_OF(chips); i++) {
        print_message("# %s\n", chips[i].what);
        for (size_t c = 0; c < COUNT_OF(chips[i].chips) && chips[i].chips[c].files; c++) {
            make_chip(chips[i].chips[c].number, chips[i].chips[c].device, chips[i].chips[c].files);
        }
        open_sysfs(chips[i].component);
        assert_listed(chips[i].listed);
        renew_tree();
    }
}

WITH_TREE(units_and_times)
{
    make_chip(0, "ACPI000D:00",
              "name=power_meter;power1_average=350000000;power1_average_interval=1000;"
              "power1_average_max=9000;temp1_input=45000");
    make_chip(1, "1-0040", "name=sensor;energy2_input=18446744073709551615;update_interval=250");
    open_sysfs("hwmon");
    assert_listed("hwmon:::power_meter:power1 node power 350000000: average power of power_meter\n"
                  "hwmon:::sensor:energy2 - energy 18446744073709551615: energy of sensor\n");
    assert_string_equal(reader->detail, "sysfs hwmon");
    assert_string_equal(reader->events[0].unit, "W");
    assert_false(reader->events[0].accumulates);
    assert_int_equal(reader->events[0].update_ns, 1000000000);
    assert_true(reader->events[0].scale * 350000000 > 349.999);
    assert_string_equal(reader->events[1].unit, "J");
    assert_true(reader->events[1].accumulates);
    assert_int_equal(reader->events[1].range_max, 0);
    assert_int_equal(reader->events[1].update_ns, 250000000);
}

/* The driver of a graphics card has a counter that wraps; amd_energy states its updates. */
WITH_TREE(ranges)
{
    make_chip(4, "amd_energy.0", "name=amd_energy;energy1_input=1;energy1_label=Esocket0");
    make_chip(5, "0000:4d:00.0", "name=xe;energy1_input=1");
    open_sysfs("hwmon");
    assert_int_equal(reader->count, 2);
    assert_int_equal(reader->events[0].update_ns, 1000000);
    assert_true(reader->events[1].guard_j == 262144);
}

/* The highest of rated powers, limits and alarm limits is taken: a device may draw all of them. */
WITH_TREE(highest_power)
{
    static const float most_w[] = {900, 900, 0, 500};

    make_chip(1, "a",
              "name=power_meter;power1_average=1;power1_cap_max=900000000;power2_input=1;"
              "power2_cap_max=900000000;power2_rated_max=800000000;power3_input=1;power4_input=1;"
              "power4_rated_max=250000000;power4_max=300000000;power4_crit=500000000");
    open_sysfs("hwmon");
    assert_int_equal(reader->count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(reader->events[i].most_w == most_w[i]);
    }
}

WITH_TREE(unusual_chips)
{
    assert_fails_saying(ENODEV, "the kernel has no /sys/class/hwmon",
                        apapi_source_sysfs.open("hwmon", &why));
    make_chip(0, "coretemp.0", "name=coretemp;temp1_input=45000");
    make_chip(1, NULL, "energy1_input=1"); /* no name: not yet, or no longer, there */
    make_chip(2, NULL, "name=;energy1_input=1");
    assert_fails_saying(ENODEV, "no chip that measures energy or power in /sys/class/hwmon",
                        apapi_source_sysfs.open("hwmon", &why));
    make_chip(3, "x", "name=a,b:c\"d;energy1_input=1");
    open_sysfs("hwmon");
    assert_string_equal(reader->events[0].name, "hwmon:::a_b_c_d:energy1");
}

/* --- Cray's pm_counters: names, domains, and when their values are refused -------------------- */

/* The controller's work while the library reads: called before each read, with its number. */
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

/* Make a node without accelerators, as an XC40 shows it. */
static void make_node(void)
{
    make_tree();
    powercap_tree_files(&tree, "sys/cray/pm_counters",
                        "energy=1000000 J;power=300 W;power_cap=0 W;freshness=100;"
                        "generation=7;startup=1400000000000000;version=2");
    put("raw_scan_hz", "1"); /* 1 Hz: readings after up to 10 s are not stale */
}

#define WITH_NODE(name) TEST_WITH(name, make_node, remove_tree)

WITH_NODE(names_and_domains)
{
    powercap_tree_files(
        &tree, "sys/cray/pm_counters",
        "energy=123456 J 1700000000123456 us;cpu_energy=2 J;cpu0_energy=3 J;"
        "memory_energy=4 J;accel0_energy=5 J;accel10_energy=6 J;power=250 W;cpu_power=7 W;"
        "memory_power=8 W;accel0_power=9 W 5 us;cpu_temp=40 C");
    remove_file("raw_scan_hz"); /* 10 Hz, if it is not reported */
    open_sysfs("cray_pm");
    assert_string_equal(reader->detail, "sysfs pm_counters");
    put("freshness", "101"); /* not stale, however long ago the reader was opened */
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

WITH_NODE(a_stamp_that_cannot_be_opened_is_not_taken_for_absent)
{
    remove_file("generation");
    powercap_tree_link(&tree, "sys/cray/pm_counters/generation", "generation");
    assert_fails_with(ELOOP, "/sys/cray/pm_counters: ", apapi_source_sysfs.open("cray_pm", &why));
}

/* A node without accelerators has their files, too. */
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
    put("energy", "281474976710656 J"); /* more than any node has used since it was built */
    read_sysfs();
    assert_int_equal(readings[0].error, ERANGE);
}

/* After 10 scans without a new value, the controller does not write any more. */
WITH_NODE(stale_values_are_refused)
{
    put("raw_scan_hz", "1000");
    open_sysfs("cray_pm");
    assert_int_equal(reader->events[0].update_ns, 1000000);
    usleep(20000);
    read_sysfs();
    for (size_t i = 0; i < reader->count; i++) {
        assert_int_equal(readings[i].error, ESTALE);
    }
    put("freshness", "101");
    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    usleep(20000);
    put("freshness", "102 1700000000000000 us");
    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    put("freshness", "oops");
    read_sysfs();
    assert_int_equal(readings[0].error, EBADMSG);
}

/* Reads 0 to 2 are of the stamps, 3 of the energy, 4 and 5 of the power and its limit. */
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

/* The controller has restarted, and the increment of its counter is plausible. */
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
