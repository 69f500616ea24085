/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's powercap zones as they come: any order, several packages, dies, foreign ones. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sources/sysfs.h"
#include "unit/sysfs_fixture.h"

#define RANGE UINT64_C(262143328850)
#define NOBODY 65534

static void assert_event(const struct apapi_reader *reader, size_t index, const char *name,
                         enum apapi_domain domain)
{
    assert_true(index < reader->count);
    assert_string_equal(reader->events[index].name, name);
    assert_int_equal(reader->events[index].domain, domain);
}

static void test_server_with_two_packages(void **state)
{
    struct apapi_reading readings[8];
    struct apapi_reader *reader;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1:0", "dram", 65712999613);
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:0", "core", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:1", "dram", 65712999613);
    powercap_tree_energy(&tree, "intel-rapl:0:1", 12345);
    reader = open_sysfs("rapl");
    assert_int_equal(reader->count, 5);
    assert_event(reader, 0, "rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 1, "rapl:::PP0_ENERGY:PACKAGE0", APAPI_DOMAIN_CORE);
    assert_event(reader, 2, "rapl:::DRAM_ENERGY:PACKAGE0", APAPI_DOMAIN_DRAM);
    assert_event(reader, 3, "rapl:::PACKAGE_ENERGY:PACKAGE1", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 4, "rapl:::DRAM_ENERGY:PACKAGE1", APAPI_DOMAIN_DRAM);
    assert_int_equal(reader->events[0].range_max, RANGE);
    assert_int_equal(reader->events[2].range_max, 65712999613);
    apapi_source_sysfs.read(reader, readings);
    assert_int_equal(readings[2].error, 0);
    assert_int_equal(readings[2].raw, 12345);
    assert_string_equal(reader->detail, "sysfs powercap");
    apapi_source_sysfs.close(reader);
}

/* Package numbers come from the names, not from the zones' numbers. */
static void test_psys_first(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "psys", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1:0", "uncore", RANGE);
    reader = open_sysfs("rapl");
    assert_int_equal(reader->count, 3);
    assert_event(reader, 0, "rapl:::PSYS_ENERGY:PACKAGE0", APAPI_DOMAIN_PSYS);
    assert_event(reader, 1, "rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 2, "rapl:::PP1_ENERGY:PACKAGE0", APAPI_DOMAIN_UNCORE);
    apapi_source_sysfs.close(reader);
}

static void test_dies_and_many_packages(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:2", "package-1-die-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:10", "package-10", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:10:0", "dram", RANGE);
    reader = open_sysfs("rapl");
    assert_int_equal(reader->count, 3);
    assert_event(reader, 0, "rapl:::PACKAGE_ENERGY:PACKAGE1_DIE0", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 1, "rapl:::PACKAGE_ENERGY:PACKAGE10", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 2, "rapl:::DRAM_ENERGY:PACKAGE10", APAPI_DOMAIN_DRAM);
    apapi_source_sysfs.close(reader);
}

/* The kernel numbers zones as it finds them, and lists them in any order. */
static void test_four_packages_of_two_dies(void **state)
{
    static const char *const folders[] = {"5", "2", "7", "0", "3", "6", "1", "4"};
    struct apapi_reader *reader;

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        char folder[32], name[32];
        int zone = folders[i][0] - '0';

        snprintf(folder, sizeof folder, "intel-rapl:%d:0", zone);
        powercap_tree_zone(&tree, folder, "dram", RANGE);
        snprintf(folder, sizeof folder, "intel-rapl:%d", zone);
        snprintf(name, sizeof name, "package-%d-die-%d", 3 - zone / 2, zone % 2);
        powercap_tree_zone(&tree, folder, name, RANGE);
    }
    reader = open_sysfs("rapl");
    assert_int_equal(reader->count, 16);
    assert_event(reader, 0, "rapl:::PACKAGE_ENERGY:PACKAGE3_DIE0", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 1, "rapl:::DRAM_ENERGY:PACKAGE3_DIE0", APAPI_DOMAIN_DRAM);
    assert_event(reader, 2, "rapl:::PACKAGE_ENERGY:PACKAGE3_DIE1", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 15, "rapl:::DRAM_ENERGY:PACKAGE0_DIE1", APAPI_DOMAIN_DRAM);
    apapi_source_sysfs.close(reader);
}

static void test_amd_has_package_and_core(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    for (int package = 1; package >= 0; package--) {
        char folder[32], name[32];

        snprintf(folder, sizeof folder, "intel-rapl:%d", package);
        snprintf(name, sizeof name, "package-%d", package);
        powercap_tree_zone(&tree, folder, name, 65532610987);
        snprintf(folder, sizeof folder, "intel-rapl:%d:0", package);
        powercap_tree_zone(&tree, folder, "core", 65532610987);
    }
    reader = open_sysfs("rapl");
    assert_int_equal(reader->count, 4);
    assert_event(reader, 0, "rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 1, "rapl:::PP0_ENERGY:PACKAGE0", APAPI_DOMAIN_CORE);
    assert_event(reader, 2, "rapl:::PACKAGE_ENERGY:PACKAGE1", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 3, "rapl:::PP0_ENERGY:PACKAGE1", APAPI_DOMAIN_CORE);
    assert_true(reader->events[3].guard_j > 65532.6 && reader->events[3].guard_j < 65532.7);
    apapi_source_sysfs.close(reader);
}

static void assert_described(const struct apapi_reader *reader, size_t index, const char *text)
{
    char said[256];

    apapi_source_sysfs.describe(reader, index, said, sizeof said);
    assert_string_equal(said, text);
}

static void test_descriptions(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "psys", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1:0", "dram", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:2", "package-1-die-3", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:2:0", "core", RANGE);
    reader = open_sysfs("rapl");
    assert_int_equal(reader->count, 5);
    assert_described(reader, 0, "energy of the platform (psys)");
    assert_described(reader, 1, "energy of CPU package 0");
    assert_described(reader, 2, "energy of the memory of CPU package 0");
    assert_described(reader, 3, "energy of die 3 of CPU package 1");
    assert_described(reader, 4, "energy of the cores of die 3 of CPU package 1");
    apapi_source_sysfs.close(reader);
}

/* intel-rapl-mmio shows package 0 a second time; dtpm is no meter. */
static void test_foreign_zones_are_left_out(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl-mmio:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "something-new", RANGE);
    powercap_tree_zone(&tree, "dtpm:0", "package-7", RANGE);
    reader = open_sysfs("rapl");
    assert_int_equal(reader->count, 1);
    assert_event(reader, 0, "rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE);
    apapi_source_sysfs.close(reader);
}

static void test_powercap_names_are_papis(void **state)
{
    struct apapi_reader *reader;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:1", "dram", RANGE);
    reader = open_sysfs("powercap");
    assert_int_equal(reader->count, 2);
    assert_event(reader, 0, "powercap:::ENERGY_UJ:ZONE0", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 1, "powercap:::ENERGY_UJ:ZONE0_SUBZONE1", APAPI_DOMAIN_DRAM);
    apapi_source_sysfs.close(reader);
}

static void test_no_zone_says_so(void **state)
{
    struct apapi_error err;

    (void)state;
    assert_null(apapi_source_sysfs.open("rapl", &err));
    assert_int_equal(errno, ENODEV);
    assert_non_null(strstr(err.text, "no energy zone"));
    assert_null(apapi_source_sysfs.open("nonsense", &err));
    assert_int_equal(errno, ENOENT);
}

/* As a user who may not read every file. @return the reader or NULL with errno. */
static struct apapi_reader *open_as_nobody(const char *component, struct apapi_error *err)
{
    bool as_root = geteuid() == 0;
    struct apapi_reader *reader;
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
    return reader;
}

static void test_no_permission_names_the_file(void **state)
{
    struct apapi_error err;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_mode(&tree, "intel-rapl:0", 0);
    powercap_tree_mode(&tree, "intel-rapl:1", 0);
    assert_null(open_as_nobody("rapl", &err));
    assert_int_equal(errno, EACCES);
    assert_string_equal(err.text,
                        "no permission to read /sys/class/powercap/intel-rapl:0/energy_uj");
    powercap_tree_chmod(&tree, "sys/class/powercap", 0);
    assert_null(open_as_nobody("rapl", &err));
    assert_int_equal(errno, EACCES);
    assert_string_equal(err.text, "no permission to read /sys/class/powercap");
    powercap_tree_chmod(&tree, "sys/class/powercap", 0755);
}

/* What cannot be measured is seen to be there, so that no sum passes for the whole. */
static void test_one_unreadable_file_of_several(void **state)
{
    struct apapi_reading readings[2];
    struct apapi_reader *reader;
    struct apapi_error err;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_mode(&tree, "intel-rapl:1", 0);
    reader = open_as_nobody("rapl", &err);
    assert_non_null(reader);
    assert_int_equal(reader->count, 2);
    assert_described(reader, 1,
                     "energy of CPU package 1: no permission to read "
                     "/sys/class/powercap/intel-rapl:1/energy_uj");
    apapi_source_sysfs.read(reader, readings);
    assert_int_equal(readings[0].error, 0);
    assert_int_equal(readings[1].error, EACCES);
    apapi_source_sysfs.close(reader);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(test_server_with_two_packages),
        WITH_TREE(test_psys_first),
        WITH_TREE(test_dies_and_many_packages),
        WITH_TREE(test_four_packages_of_two_dies),
        WITH_TREE(test_amd_has_package_and_core),
        WITH_TREE(test_descriptions),
        WITH_TREE(test_foreign_zones_are_left_out),
        WITH_TREE(test_powercap_names_are_papis),
        WITH_TREE(test_no_zone_says_so),
        WITH_TREE(test_no_permission_names_the_file),
        WITH_TREE(test_one_unreadable_file_of_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
