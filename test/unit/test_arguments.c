/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "unit/unit.h"

#define MS UINT64_C(1000000)

static char complaints[8][800];
static size_t complaint_count;

static void complain(const char *text)
{
    assert_true(complaint_count < 8);
    snprintf(complaints[complaint_count++], sizeof complaints[0], "%s", text);
}

/* Parse one word. */
static struct spank_apapi_arguments parse(const char *word)
{
    static char text[2048];
    char *words[] = {text};
    struct spank_apapi_arguments arguments;

    complaint_count = 0;
    snprintf(text, sizeof text, "%s", word);
    spank_apapi_arguments_parse(1, words, &arguments, complain);
    return arguments;
}

static void assert_defaults(const struct spank_apapi_arguments *arguments)
{
    assert_string_equal(arguments->components, "");
    assert_string_equal(arguments->interval, "");
    assert_int_equal(arguments->acct_dir[0], '/');
    assert_int_equal(arguments->libexec_dir[0], '/');
    assert_int_equal(arguments->start_timeout_ns, 500 * MS);
    assert_int_equal(arguments->stop_timeout_ns, 1000 * MS);
}

static void test_nothing_gives_the_defaults(void **state)
{
    struct spank_apapi_arguments arguments;

    (void)state;
    complaint_count = 0;
    spank_apapi_arguments_parse(0, NULL, &arguments, complain);
    assert_defaults(&arguments);
    assert_int_equal(complaint_count, 0);
}

static void test_each_argument(void **state)
{
    char default_[] = "default=rapl:nvml", interval[] = "interval=50ms:nvml:1s",
         acct_dir[] = "acct_dir=/a=b", start[] = "start_timeout=1ms", stop[] = "stop_timeout=1m",
         libexec[] = "libexec_dir=/c";
    char *words[] = {default_, interval, acct_dir, start, stop, libexec};
    struct spank_apapi_arguments arguments;

    (void)state;
    complaint_count = 0;
    spank_apapi_arguments_parse(6, words, &arguments, complain);
    assert_int_equal(complaint_count, 0);
    assert_string_equal(arguments.components, "rapl:nvml");
    assert_string_equal(arguments.interval, "50ms:nvml:1s");
    assert_string_equal(arguments.acct_dir, "/a=b");
    assert_string_equal(arguments.libexec_dir, "/c");
    assert_int_equal(arguments.start_timeout_ns, MS);
    assert_int_equal(arguments.stop_timeout_ns, 60000 * MS);
}

static void test_off_is_no_default(void **state)
{
    struct spank_apapi_arguments arguments = parse("default=off");

    (void)state;
    assert_int_equal(complaint_count, 0);
    assert_string_equal(arguments.components, "");
}

static void test_a_bad_value_is_named_and_has_no_effect(void **state)
{
    static const struct {
        const char *word, *hint;
    } cases[] = {
        {"default=", "rapl:nvml"},
        {"default=rapl:", "rapl:nvml"},
        {"default=off:rapl", "off"},
        {"interval=", "100ms"},
        {"interval=3", "100ms"},
        {"interval=nvml", "nvml"},
        {"acct_dir=relative", "absolute"},
        {"acct_dir=", "absolute"},
        {"libexec_dir=./x", "absolute"},
        {"start_timeout=999us", "1ms to 1m"},
        {"start_timeout=61s", "1ms to 1m"},
        {"stop_timeout=soon", "1ms to 1m"},
        {"stop_timeout=-1s", "1ms to 1m"},
        {"stop_timeout=", "1ms to 1m"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spank_apapi_arguments arguments = parse(cases[i].word);

        assert_defaults(&arguments);
        assert_int_equal(complaint_count, 1);
        assert_non_null(strstr(complaints[0], cases[i].word));
        assert_non_null(strstr(complaints[0], cases[i].hint));
        assert_null(strchr(complaints[0], '\n'));
    }
}

static void test_an_unknown_key_is_named_with_what_is_valid(void **state)
{
    static const char *const words[] = {"defaults=rapl", "def=rapl", "default", "=", "", "rapl"};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct spank_apapi_arguments arguments = parse(words[i]);

        assert_defaults(&arguments);
        assert_int_equal(complaint_count, 1);
        assert_non_null(strstr(complaints[0], words[i]));
        assert_non_null(strstr(complaints[0], "default="));
        assert_non_null(strstr(complaints[0], "libexec_dir="));
    }
}

static void test_long_values(void **state)
{
    char word[2000] = "acct_dir=/";
    struct spank_apapi_arguments arguments;

    (void)state;
    memset(word + strlen(word), 'x', 1500);
    arguments = parse(word);
    assert_defaults(&arguments);
    assert_int_equal(complaint_count, 1);
}

static void test_the_good_ones_count_among_bad_ones(void **state)
{
    char bad[] = "interval=x", good[] = "stop_timeout=2s", unknown[] = "speed=3";
    char *words[] = {bad, good, unknown};
    struct spank_apapi_arguments arguments;

    (void)state;
    complaint_count = 0;
    spank_apapi_arguments_parse(3, words, &arguments, complain);
    assert_int_equal(complaint_count, 2);
    assert_int_equal(arguments.stop_timeout_ns, 2000 * MS);
    spank_apapi_arguments_parse(3, words, &arguments, NULL);
    assert_int_equal(arguments.stop_timeout_ns, 2000 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_gives_the_defaults),
        cmocka_unit_test(test_each_argument),
        cmocka_unit_test(test_off_is_no_default),
        cmocka_unit_test(test_a_bad_value_is_named_and_has_no_effect),
        cmocka_unit_test(test_an_unknown_key_is_named_with_what_is_valid),
        cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_the_good_ones_count_among_bad_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
