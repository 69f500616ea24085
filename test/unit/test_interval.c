/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/interval.h"
#include "unit/unit.h"

TEST(durations)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"0", 0},
        {"1ns", 1},
        {"100ms", 100000000},
        {"1.5s", 1500000000},
        {"1h", 3600000000000},
        {"0.000000001s", 1},
        {"1.9999999999s", 1999999999},
        {"18446744072s", 18446744072000000000u},
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        uint64_t ns = 42;

        fail_if(apapi_duration_parse(good[i].text, &ns, &why) || ns != good[i].ns, "%s: %lu ns %s",
                good[i].text, ns, why.text);
    }
}

TEST(bad_durations_are_named)
{
    static const struct {
        const char *text;
        int code;
    } bad[] = {
        {"", EINVAL},         {"ms", EINVAL},   {"-1s", EINVAL},
        {"+1s", EINVAL},      {"1.5", EINVAL},  {"1.s", EINVAL},
        {".5s", EINVAL},      {"1 s", EINVAL},  {"1S", EINVAL},
        {"1ss", EINVAL},      {"0x10", EINVAL}, {"1e3", EINVAL},
        {"nan", EINVAL},      {"1s ", EINVAL},  {"99999999999999999999", ERANGE},
        {"5124096h", ERANGE},
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint64_t ns = 42;

        fail_if(apapi_duration_parse(bad[i].text, &ns, &why) != -1 || errno != bad[i].code ||
                    ns != 42 || !strstr(why.text, bad[i].text),
                "'%s': %lu ns, errno %d, '%s'", bad[i].text, ns, errno, why.text);
    }
    assert_int_equal(apapi_duration_parse(NULL, NULL, NULL), -1);
}

TEST(interval_lists)
{
    struct apapi_intervals list;

    assert_int_equal(apapi_intervals_parse("50ms", &list, NULL), 0);
    assert_int_equal(apapi_intervals_get(&list, "rapl"), 50000000);

    assert_int_equal(apapi_intervals_parse("nvml:250000000:ipmi:3000000000", &list, NULL), 0);
    assert_int_equal(apapi_intervals_get(&list, "nvml"), 250000000);
    assert_int_equal(apapi_intervals_get(&list, "ipmi"), 3000000000);
    assert_int_equal(apapi_intervals_get(&list, "rapl"), APAPI_INTERVAL_DEFAULT_NS);
    assert_int_equal(apapi_intervals_get(&list, "nvm"), APAPI_INTERVAL_DEFAULT_NS);

    assert_int_equal(apapi_intervals_parse("20ms:ipmi:3s", &list, NULL), 0);
    assert_int_equal(apapi_intervals_get(&list, "rapl"), 20000000);
    assert_int_equal(apapi_intervals_get(&list, "ipmi"), 3000000000);
}

TEST(bad_interval_lists_leave_the_result_alone)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "empty"},
        {":", "ends with"},
        {"rapl", "missing after 'rapl'"},
        {"rapl:", "ends with"},
        {"rapl:fast", "'fast'"},
        {"rapl:1ms:2ms", "before interval '2ms'"},
        {"rapl::1s", "empty word"},
        {"100", "a unit is missing in '100': ms, s, m or h"},
        {"1us", "'1us' is out of bounds"},
        {"2h", "out of bounds"},
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct apapi_intervals list = {.default_ns = 42};

        fail_if(apapi_intervals_parse(bad[i].text, &list, &why) != -1 || list.default_ns != 42 ||
                    !strstr(why.text, bad[i].says),
                "'%s': '%s' does not say '%s'", bad[i].text, why.text, bad[i].says);
    }
}

TEST(limits_of_a_list)
{
    char text[8192] = "";
    struct apapi_intervals list;
    struct apapi_error err;

    for (int i = 0; i < APAPI_INTERVALS_MAX; i++) {
        strcat(text, i ? ":c:1s" : "c:1s");
    }
    assert_int_equal(apapi_intervals_parse(text, &list, &err), 0);
    strcat(text, ":c:1s");
    assert_int_equal(apapi_intervals_parse(text, &list, &err), -1);
    memset(text, 'x', 4000);
    text[4000] = '\0';
    assert_int_equal(apapi_intervals_parse(text, &list, &err), -1);
    memset(text, 'x', 100);
    strcpy(text + 100, ":1s");
    assert_int_equal(apapi_intervals_parse(text, &list, &err), -1);
    assert_contains(err.text, "too long");
}
