/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include <errno.h>
#include <string.h>

#include "unit/unit.h"

static void test_good_lists(void **state)
{
    static const char *const lists[] = {"rapl",    "rapl:nvml",         "off",    "offline:rapl",
                                        "a:b:c:a", "perf_event_uncore", "x=1,y-2"};
    struct apapi_error err;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        assert_int_equal(config_components_check(lists[i], &err), 0);
    }
}

static void test_bad_lists(void **state)
{
    static const struct {
        const char *list, *hint;
    } cases[] = {
        {"", "empty"},
        {":", "a name is missing"},
        {"rapl:", "'rapl:'"},
        {":rapl", "':rapl'"},
        {"a::b", "'a::b'"},
        {"off:rapl", "'off:rapl'"},
        {"rapl nvml", "character"},
        {"rapl\n", "character"},
        {"rapl:\033[2J", "character"},
    };
    struct apapi_error err;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(config_components_check(cases[i].list, &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_non_null(strstr(err.text, cases[i].hint));
    }
    /* off is alone in whatever place it stands */
    assert_int_equal(config_components_check("rapl:off", &err), -1);
}

static void test_no_control_character_comes_back(void **state)
{
    struct apapi_error err;

    (void)state;
    assert_int_equal(config_components_check("a\033b", &err), -1);
    assert_null(strchr(err.text, '\033'));
    assert_int_equal(config_components_check("a\033b::", &err), -1);
    assert_null(strchr(err.text, '\033'));
}

static void test_lengths(void **state)
{
    char list[CONFIG_LIST_SIZE + 1] = "";
    struct apapi_error err;

    (void)state;
    memset(list, 'x', 63);
    assert_int_equal(config_components_check(list, &err), 0);
    list[63] = 'x';
    assert_int_equal(config_components_check(list, &err), -1);
    for (size_t i = 0; i < CONFIG_LIST_SIZE - 1; i++) {
        list[i] = i % 2 ? ':' : 'x';
    }
    assert_int_equal(config_components_check(list, &err), 0);
    list[CONFIG_LIST_SIZE - 1] = ':';
    assert_int_equal(config_components_check(list, &err), -1);
}

static void test_known(void **state)
{
    (void)state;
    assert_true(components_known("rapl"));
    assert_true(components_known("rapl:powercap:rapl"));
    assert_true(components_known("off"));
    assert_false(components_known("rap"));
    assert_false(components_known("rapl2"));
    assert_false(components_known("rapl:unheard"));
}

static void test_nearest(void **state)
{
    char text[256];

    (void)state;
    components_nearest("rapl:powercp:rpal", text, sizeof text);
    assert_string_equal(text, ": did you mean 'powercap'?");
    components_nearest("foo", text, sizeof text);
    assert_string_equal(text, "");
    components_nearest("rapl", text, sizeof text);
    assert_string_equal(text, "");
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(strncmp(components_names(), "rapl, powercap", 14), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lists),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_no_control_character_comes_back),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
