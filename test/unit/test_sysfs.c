/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's powercap zones in any order: several packages, dies, foreign ones. */
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

WITH_TREE(no_zone_says_so)
{
    struct apapi_error err;

    assert_null(apapi_source_sysfs.open("rapl", &err));
    assert_int_equal(errno, ENODEV);
    assert_non_null(strstr(err.text, "no energy zone"));
    assert_null(apapi_source_sysfs.open("nonsense", &err));
    assert_int_equal(errno, ENOENT);
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
    struct apapi_error err;

    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_mode(&tree, "intel-rapl:1", 0);
    assert_true(open_as_nobody("rapl", &err));
    assert_int_equal(reader->count, 2);
    assert_described(1, "energy of CPU package 1: no permission to read "
                        "/sys/class/powercap/intel-rapl:1/energy_uj");
    read_sysfs();
    assert_int_equal(readings[0].error, 0);
    assert_int_equal(readings[1].error, EACCES);
}
