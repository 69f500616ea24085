/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's files: numbers, and texts that must never become one. */
#include <sys/wait.h>

#include "base/kernel_file.h"
#include "unit/sysfs_fixture.h"

#define RANGE UINT64_C(262143328850)

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
        struct apapi_error err;
        char text[256];

        link_zone(targets[i]);
        assert_null(apapi_source_sysfs.open("rapl", &err));
        assert_int_equal(errno, errors[i]);
        snprintf(text, sizeof text, "/sys/class/powercap/intel-rapl:0/energy_uj: %s",
                 strerror(errors[i]));
        assert_string_equal(err.text, text);
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
            if (first_error() != EBADMSG && first_error() != ERANGE) {
                fail_msg("'%s' was taken for a number", text);
            }
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

static void assert_parses(const char *text, size_t size, bool valid, uint64_t number)
{
    uint64_t value = 7;
    int error = kernel_file_parse_u64(text, size, &value);

    if (valid ? error || value != number : !error || value != 7) {
        fail_msg("'%.*s': error %d, value %llu", (int)size, text, error, (unsigned long long)value);
    }
}

/* Digits are read eight at a time: numbers of any length, and one wrong byte at any place. */
TEST(numbers_of_any_length)
{
    static const char wrong[] = {'/', ':', ' ', '\n', '\0', '\x80', '\xb5', '\xff'};
    static const char digits[] = "1234567890987654321";
    char text[sizeof digits + 1];

    for (size_t length = 1; length < sizeof digits; length++) {
        memcpy(text, digits, length);
        text[length] = '\n';
        text[length + 1] = '\0';
        assert_parses(text, length + 1, true, strtoull(text, NULL, 10));
        for (size_t i = 0; i < length * sizeof wrong; i++) {
            text[i / sizeof wrong] = wrong[i % sizeof wrong];
            assert_parses(text, length + 1,
                          length > 1 && i / sizeof wrong == length - 1 && text[length - 1] == '\n',
                          strtoull(text, NULL, 10));
            text[i / sizeof wrong] = digits[i / sizeof wrong];
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
    assert_non_null(strstr(err.text, "'nonsense'"));
    assert_int_equal(apapi_catalog_check_order("", &err), -1);
    make_files();
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        reader = apapi_catalog_open(files[f].component, f == 0 ? "sysfs" : NULL, &err);
        assert_non_null(reader);
        assert_ptr_equal(reader->source, &apapi_source_sysfs);
        close_sysfs();
    }
}
