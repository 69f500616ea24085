/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's powercap zones as they come: any order, several packages, dies, foreign ones. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fake/powercap_tree.h"
#include "sources/sources.h"
#include "sources/sysfs.h"
#include "unit/unit.h"

#define RANGE UINT64_C(262143328850)
#define NOBODY 65534

static struct powercap_tree tree;

static int make_tree(void **state)
{
    (void)state;
    powercap_tree_create(&tree);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    powercap_tree_destroy(&tree);
    return 0;
}

static struct apapi_reader *open_zones(const char *component)
{
    struct apapi_error err = {""};
    struct apapi_reader *reader = apapi_source_sysfs.open(component, &err);

    if (!reader) {
        fail_msg("%s", err.text);
    }
    return reader;
}

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
    reader = open_zones("rapl");
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
    reader = open_zones("rapl");
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
    reader = open_zones("rapl");
    assert_int_equal(reader->count, 3);
    assert_event(reader, 0, "rapl:::PACKAGE_ENERGY:PACKAGE1_DIE0", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 1, "rapl:::PACKAGE_ENERGY:PACKAGE10", APAPI_DOMAIN_PACKAGE);
    assert_event(reader, 2, "rapl:::DRAM_ENERGY:PACKAGE10", APAPI_DOMAIN_DRAM);
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
    reader = open_zones("rapl");
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
    reader = open_zones("powercap");
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

static void test_no_permission_names_the_file(void **state)
{
    struct apapi_error err;
    struct apapi_reader *reader;
    bool as_root;
    int code;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_mode(&tree, "intel-rapl:0", 0);
    as_root = geteuid() == 0; /* who may read every file */
    if (as_root) {
        assert_int_equal(seteuid(NOBODY), 0);
    }
    reader = apapi_source_sysfs.open("rapl", &err);
    code = errno;
    if (as_root) {
        assert_int_equal(seteuid(0), 0);
    }
    assert_null(reader);
    assert_int_equal(code, EACCES);
    assert_non_null(strstr(err.text, "intel-rapl:0/energy_uj"));
}

static void test_garbage_is_never_a_number(void **state)
{
    static const char *const garbage[] = {
        "",
        "\n",
        "-5\n",
        "12x\n",
        "x\n",
        " 12\n",
        "12 \n",
        "0x10\n",
        "1e9\n",
        "12",
        "999999999999999999999999999999\n",
        "12\n13\n",
    };
    struct apapi_reading reading;
    struct apapi_reader *reader;

    (void)state;
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    reader = open_zones("rapl");
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        powercap_tree_write(&tree, "intel-rapl:0", garbage[i]);
        apapi_source_sysfs.read(reader, &reading);
        if (reading.error == 0) {
            fail_msg("'%s' was read as %lu", garbage[i], reading.raw);
        }
    }
    powercap_tree_write(&tree, "intel-rapl:0", "18446744073709551615\n\n\n");
    apapi_source_sysfs.read(reader, &reading);
    assert_int_equal(reading.error, 0);
    assert_true(reading.raw == UINT64_MAX);
    apapi_source_sysfs.close(reader);
}

static void test_routes(void **state)
{
    struct apapi_error err;
    struct apapi_reader *reader;

    (void)state;
    assert_true(apapi_route_known("rapl"));
    assert_false(apapi_route_known("nonsense"));
    assert_int_equal(apapi_route_order_check("sysfs:papi", &err), 0);
    assert_int_equal(apapi_route_order_check("sysfs:nonsense", &err), -1);
    assert_non_null(strstr(err.text, "'nonsense'"));
    assert_int_equal(apapi_route_order_check("", &err), -1);
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    reader = apapi_route_open("rapl", "sysfs", &err);
    assert_non_null(reader);
    assert_ptr_equal(reader->source, &apapi_source_sysfs);
    reader->source->close(reader);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(test_server_with_two_packages),
        WITH_TREE(test_psys_first),
        WITH_TREE(test_dies_and_many_packages),
        WITH_TREE(test_foreign_zones_are_left_out),
        WITH_TREE(test_powercap_names_are_papis),
        WITH_TREE(test_no_zone_says_so),
        WITH_TREE(test_no_permission_names_the_file),
        WITH_TREE(test_garbage_is_never_a_number),
        WITH_TREE(test_routes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
