/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, texts, times, lists of hosts and names in texts. */
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>

#include "apapi/interval.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/hostlist.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"
#include "unit/unit.h"

/* Check that `format` writes the `text` that each row expects. */
#define ASSERT_TEXTS(cases, format)                                                                \
    for (size_t i = 0; i < COUNT_OF(cases); i++) {                                                 \
        char text[64];                                                                             \
        format;                                                                                    \
        assert_string_equal(text, (cases)[i].expected);                                            \
    }

TEST(quantities_have_four_digits)
{
    static const struct {
        double value;
        const char *unit;
        const char *expected;
    } cases[] = {
        {24820, "J", "24.82 kJ"},
        {297.6, "W", "297.6 W"},
        {0, "J", "0.00 J"},
        {1, "J", "1.000 J"},
        {0.99999, "W", "1.000 W"},
        {0.09999, "W", "99.99 mW"},
        {0.099996, "W", "0.10 W"},
        {0.00099996, "J", "1.000 mJ"},
        {0.000012345, "J", "12.35 uJ"},
        {9.9996, "W", "10.00 W"},
        {999.96, "W", "1.000 kW"},
        {999960, "J", "1.000 MJ"},
        {1.5e9, "J", "1.500 GJ"},
        {2.5e15, "J", "2.500 PJ"},
        {1e30, "J", "1.000e+15 PJ"},
        {-12.5, "W", "-12.50 W"},
        {48.25, "C", "48.2 C"},
        {-40, "C", "-40.0 C"},
        {99.96, "%", "100.0 %"},
        {12345.6, "rpm", "12346 rpm"},
        {1e15, "packets", "1.000e+15 packets"},
        {NAN, "J", "-"},
        {INFINITY, "J", "-"},
    };

    ASSERT_TEXTS(cases, strcpy(text, units_quantity(cases[i].value, cases[i].unit).text));
}

TEST(no_more_digits_than_are_known)
{
    static const struct {
        double value, uncertainty;
        const char *expected;
    } cases[] = {
        {536.04, 10.7, "536 J"},   {536.04, 36, "540 J"},      {536.04, 2, "536.0 J"},
        {536.04, 4, "536 J"},      {536.04, NAN, "536.0 J"},   {536.04, 0, "536.0 J"},
        {281.2, 146, "280 J"},     {281.2, 400, "300 J"},      {281.2, 1e9, "300 J"},
        {24820, 90, "24.82 kJ"},   {24820, 150, "24.82 kJ"},   {24820, 1500, "24.8 kJ"},
        {24820, 4000, "25 kJ"},    {0.5624, 0.2924, "0.56 J"}, {0.0123, 0.004, "12 mJ"},
        {-281.2, 146, "-280 J"},   {0, 5, "0.00 J"},           {940, 940, "900 J"},
        {INFINITY, INFINITY, "-"},
    };

    ASSERT_TEXTS(
        cases, strcpy(text, units_known_quantity(cases[i].value, cases[i].uncertainty, "J").text));
}

TEST(totals_count_whole_things)
{
    static const struct {
        double value;
        const char *unit;
        const char *expected;
    } cases[] = {
        {1048576, "packets", "1048576 packets"},
        {3, "", "3"},
        {2.5, "s", "2.50 s"},
        {4096, "J", "4.096 kJ"},
        {NAN, "packets", "-"},
    };

    ASSERT_TEXTS(cases, strcpy(text, units_total(cases[i].value, cases[i].unit).text));
}

TEST(durations_carry_over)
{
    static const struct {
        double seconds;
        const char *expected;
    } cases[] = {
        {0, "0.000 s"},
        {9.9994, "9.999 s"},
        {9.9996, "10.0 s"},
        {59.99, "1 min 0.0 s"},
        {119.96, "2 min 0.0 s"},
        {3599.96, "1 h 00 min 00 s"},
        {7385, "2 h 03 min 05 s"},
        {86399.4, "23 h 59 min 59 s"},
        {86399.6, "1 d 00 h 00 min"},
        {273929, "3 d 04 h 05 min"},
        {273931, "3 d 04 h 06 min"},
        {18446744073.7, "213503 d 23 h 35 min"},
        {NAN, "-"},
        {-1, "-"},
        {INFINITY, "-"},
    };

    ASSERT_TEXTS(cases, strcpy(text, units_duration(cases[i].seconds).text));
}

TEST(any_bytes_become_utf8)
{
    static const struct {
        const char *text;
        const char *utf8;
        const char *clean;
    } cases[] = {
        {"gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F"},
        {"\xE2\x82\xAC\xF0\x9F\x94\x8B", "\xE2\x82\xAC\xF0\x9F\x94\x8B",
         "\xE2\x82\xAC\xF0\x9F\x94\x8B"},
        {"\x1B[31m\t\r\n\x7F", "\x1B[31m\t\r\n\x7F", "?[31m????"},
        {"\xC2\x9B[31m", "\xC2\x9B[31m", "?[31m"},
        {"\xE2\x80\xAE[reversed", "\xE2\x80\xAE[reversed", "?[reversed"},
        {"latin \xFC", "latin ?", "latin ?"},
        {"cut \xE2\x82", "cut ??", "cut ??"},
        {"overlong \xC0\xAF \xE0\x80\xAF", "overlong ?? ???", "overlong ?? ???"},
        {"beyond \xF4\x90\x80\x80 \xFF", "beyond ???? ?", "beyond ???? ?"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[64];

        text_utf8(text, sizeof(text), cases[i].text);
        assert_string_equal(text, cases[i].utf8);
        text_clean(text, sizeof(text), cases[i].text);
        assert_string_equal(text, cases[i].clean);
    }
}

TEST(texts_are_shortened_by_columns)
{
    static const struct {
        const char *text;
        size_t columns;
        size_t tail;
        const char *expected;
    } cases[] = {
        {"0123456789", 10, 0, "0123456789"},
        {"0123456789a", 10, 0, "0123456..."},
        {"0123456789a", 10, 4, "012...789a"},
        {"0123456789a", 7, 4, "...789a"},
        {"\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC", 4, 1, "...\xC3\xBC"},
        {"\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD", 6, 0, "\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD"},
        {"\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD", 5, 0, "\xE4\xB8\xAD..."},
        {"\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD", 5, 1, "..."},
    };

    ASSERT_TEXTS(cases,
                 text_shorten(text, sizeof(text), cases[i].text, cases[i].columns, cases[i].tail));
}

TEST(times_are_read_strictly)
{
    static const struct {
        const char *text;
        int64_t unix_ns;
        int code;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"1969-12-31T23:59:59.999999999Z", -1, 0},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX, 0},
        {"1677-09-21T00:12:43.145224192Z", INT64_MIN, 0},
        {"2262-04-11T23:47:16.854775808Z", 0, ERANGE},
        {"1677-09-21T00:12:43.145224191Z", 0, ERANGE},
        {"2028-02-29T00:00:00Z", INT64_C(1835395200000000000), 0},
        {"2027-02-29T00:00:00Z", 0, EINVAL},
        {"2027-01-01T00:00:60Z", 0, EINVAL},
        {"2027-01-01T00:00:00", 0, EINVAL},
        {"2027-01-01T00:00:00.1234567890Z", 0, EINVAL},
        {"2027-01-01T00:00:00Zx", 0, EINVAL},
        {" 2027-01-01T00:00:00Z", 0, EINVAL},
        {"", 0, EINVAL},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t unix_ns = 42;

        errno = 0;
        assert_int_equal(timestamp_parse(cases[i].text, &unix_ns), cases[i].code ? -1 : 0);
        assert_int_equal(errno, cases[i].code);
        assert_true(unix_ns == (cases[i].code ? 42 : cases[i].unix_ns));
    }
}

TEST(an_uncertainty_has_two_digits)
{
    static const struct {
        double share;
        const char *beside, *below_others;
    } cases[] = {{0.00001, "1 J ±0.01 %", "1 J ±0.01 %"},
                 {0.0012, "1 J ±0.12 %", "1 J ±0.12 %"},
                 {0.00996, "1 J ±1.0 %", "1 J  ±1.0 %"},
                 {0.0996, "1 J ±10 %", "1 J   ±10 %"},
                 {12, "1 J ±1200 %", "1 J ±1200 %"},
                 {0, "1 J", "1 J"},
                 {NAN, "1 J", "1 J"},
                 {INFINITY, "1 J", "1 J"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[64] = "1 J", column[64] = "1 J";

        units_beside(text, sizeof text, cases[i].share, false);
        units_beside(column, sizeof column, cases[i].share, true);
        assert_string_equal(text, cases[i].beside);
        assert_string_equal(column, cases[i].below_others);
    }
}

TEST(fail_fills_in)
{
    struct apapi_error err;

    assert_fails(EDOM, apapi_fail(&err, EDOM, "%s %d", "text", 7));
    assert_string_equal(err.text, "text 7");
    apapi_fail(&err, EDOM, "%0999d", 7);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_fails(ERANGE, apapi_fail(NULL, ERANGE, "nowhere"));
}

TEST(a_positive_number_is_digits_alone)
{
    static const struct {
        const char *text;
        unsigned long most, number;
    } cases[] = {{"1", 1, 1},
                 {"17", 17, 17},
                 {"18", 17, 0},
                 {"017", 17, 17},
                 {"4294967295", UINT32_MAX, UINT32_MAX},
                 {"4294967296", UINT32_MAX, 0},
                 {"18446744073709551615", ULONG_MAX - 1, 0},
                 {"18446744073709551617", ULONG_MAX - 1, 0},
                 {"0", 17, 0},
                 {"", 17, 0},
                 {"-1", 17, 0},
                 {"+1", 17, 0},
                 {" 1", 17, 0},
                 {"1 ", 17, 0},
                 {"1.0", 17, 0},
                 {"0x1", 17, 0}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned long number = positive_number(cases[i].text, cases[i].most);

        fail_if(number != cases[i].number, "'%s' is taken for %lu", cases[i].text, number);
    }
}

TEST(what_cannot_be_had_changes_nothing)
{
    static const size_t rooms[] = {SIZE_MAX / 2 + 1, SIZE_MAX};

    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        size_t room = rooms[i], *none = NULL;

        assert_fails(ENOMEM, array_add(&none, room, &room, 1));
        assert_null(none);
        assert_int_equal(room, rooms[i]);
    }
}

/* --- durations and intervals ------------------------------------------------------------------ */

TEST(durations)
{
    static const struct {
        const char *text;
        int code;
        uint64_t ns;
    } cases[] = {
        {"0", 0, 0},
        {"1ns", 0, 1},
        {"100ms", 0, 100000000},
        {"1.5s", 0, 1500000000},
        {"1h", 0, 3600000000000},
        {"0.000000001s", 0, 1},
        {"1.9999999999s", 0, 1999999999},
        {"18446744072s", 0, 18446744072000000000u},
        {"", EINVAL, 0},
        {"ms", EINVAL, 0},
        {"-1s", EINVAL, 0},
        {"1.5", EINVAL, 0},
        {"1.s", EINVAL, 0},
        {".5s", EINVAL, 0},
        {"1 s", EINVAL, 0},
        {"1S", EINVAL, 0},
        {"1ss", EINVAL, 0},
        {"0x10", EINVAL, 0},
        {"1e3", EINVAL, 0},
        {"nan", EINVAL, 0},
        {"1s ", EINVAL, 0},
        {"99999999999999999999", ERANGE, 0},
        {"5124096h", ERANGE, 0},
        {"60", ERANGE, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int code = cases[i].code;
        uint64_t ns = 42;

        errno = 0;
        fail_if(apapi_duration_parse(cases[i].text, &ns, &why) != (code ? -1 : 0) ||
                    errno != code || ns != (code ? 42 : cases[i].ns) ||
                    (code && !strstr(why.text, cases[i].text)),
                "'%s': %lu ns, errno %d, '%s'", cases[i].text, ns, errno, why.text);
    }
    assert_int_equal(apapi_duration_parse(NULL, NULL, NULL), -1);
}

TEST(interval_lists)
{
    static const struct {
        const char *text;
        uint64_t rapl_ms, nvml_ms, ipmi_ms;
    } cases[] = {{"50ms", 50, 50, 50},
                 {"nvml:250000000:ipmi:3000000000", 100, 250, 3000},
                 {"20ms:ipmi:3s", 20, 20, 3000}};
    struct apapi_intervals list;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(apapi_intervals_parse(cases[i].text, &list, NULL), 0);
        assert_int_equal(apapi_intervals_get(&list, "rapl"), cases[i].rapl_ms * 1000000);
        assert_int_equal(apapi_intervals_get(&list, "nvml"), cases[i].nvml_ms * 1000000);
        assert_int_equal(apapi_intervals_get(&list, "ipmi"), cases[i].ipmi_ms * 1000000);
        assert_int_equal(apapi_intervals_get(&list, "nvm"), cases[i].rapl_ms * 1000000);
    }
}

TEST(bad_interval_lists_leave_the_result_alone)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "empty"},
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

    for (int i = 0; i < APAPI_INTERVALS_MAX; i++) {
        strcat(text, i ? ":c:1s" : "c:1s");
    }
    assert_int_equal(apapi_intervals_parse(text, &list, NULL), 0);
    strcat(text, ":c:1s");
    assert_int_equal(apapi_intervals_parse(text, &list, NULL), -1);
    sprintf(text, "c%04000d", 7);
    assert_int_equal(apapi_intervals_parse(text, &list, NULL), -1);
    sprintf(text, "c%0100d:1s", 7);
    assert_fails_with(EINVAL, "too long", apapi_intervals_parse(text, &list, &why));
}

/* --- lists of hosts --------------------------------------------------------------------------- */

static int join(void *context, const char *name)
{
    char *text = context;

    strcat(strcat(text, *text ? " " : ""), name);
    return 0;
}

TEST(lists_are_expanded)
{
    static const struct {
        const char *list, *names;
        int count;
    } cases[] = {
        {"", "", 0},
        {"n1", "n1", 1},
        {"n[1-3]", "n1 n2 n3", 3},
        {"n[1-3,7]", "n1 n2 n3 n7", 4},
        {"n[008-011]", "n008 n009 n010 n011", 4},
        {"n[9-11]", "n9 n10 n11", 3},
        {"login,n[1-2]-ib,gpu07", "login n1-ib n2-ib gpu07", 4},
        {"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2", 4},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[256] = "";

        assert_int_equal(hostlist_each(cases[i].list, join, text), cases[i].count);
        assert_string_equal(text, cases[i].names);
    }
}

static int count_one(void *context, const char *name)
{
    (void)name;
    ++*(size_t *)context;
    return 0;
}

TEST(what_is_no_list_is_refused)
{
    char lists[] = ",|n1,,n2|n[|n[]|n[1|n[1-]|n[-1]|n[2-1]|n[a]|n[1,]|n[1-2-3]|n[1-99999999]|"
                   "n[1 -2]|n[+1-2]|n[1-2|n[[1-2]]|n[1-65537]|n[0-9][0-9][0-9][0-9][0-9]|"
                   "n[1234567890]";
    char *rest = lists, *list;
    char name[600];

    while ((list = strsep(&rest, "|"))) {
        size_t count = 0;

        assert_fails(EINVAL, (int)hostlist_each(list, count_one, &count));
        assert_true(count <= HOSTLIST_MAX);
    }
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(hostlist_each(name, count_one, &(size_t){0}), -1);
    memcpy(name + 250, "[100000-100001]", 16);
    assert_int_equal(hostlist_each(name, count_one, &(size_t){0}), -1);
}

static char *compressed(const char *list, size_t columns)
{
    char *copy = strdup(list), *text, *rest = NULL;
    struct namelist names = {0};

    assert_non_null(copy);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        assert_int_equal(namelist_add(&names, name), 0);
    }
    text = hostlist_text(&names, columns);
    namelist_free(&names);
    free(copy);
    return text;
}

TEST(names_are_compressed)
{
    static const struct {
        const char *names, *list;
    } cases[] = {
        {"", ""},
        {"n1", "n1"},
        {"n2 n1", "n[1-2]"},
        {"n008 n009 n010", "n[008-010]"},
        {"n9 n09 n10", "n[09,9-10]"},
        {"n099 n100 n101", "n[099-101]"},
        {"a b a1", "a,a1,b"},
        {"n2 x1 n1 x2", "n[1-2],x[1-2]"},
        {"n1-ib n2-ib", "n1-ib,n2-ib"},
        {"r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
        {"x1234567890 x1234567891", "x1234567890,x1234567891"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *text = compressed(cases[i].names, 100);

        assert_string_equal(text, cases[i].list);
    }
}

TEST(a_long_list_is_cut)
{
    FREED char *text = compressed("n1 n3 n5 n7 n9 n11 n13 a b c", 8);

    assert_string_equal(text, "a,b,c,n[1] and 6 more");
    free(text);
    text = compressed("n1 n3 n5 n7 n9 n11 n13", 8);
    assert_string_equal(text, "n[1,3,5,7] and 3 more");
}

/* --- names that are suggested ----------------------------------------------------------------- */

static const char *const components[] = {"rapl",     "powercap", "nvml", "ipmi",
                                         "estimate", "coretemp", "net",  "perf_event"};
static const char *suggest(const char *wanted, const char *const *names, size_t count)
{
    static char text[512];
    struct nearest nearest;

    nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < count; i++) {
        nearest_offer(names[i], &nearest);
    }
    nearest_text(&nearest, text, sizeof text);
    return text;
}

TEST(near_components)
{
    static const struct {
        const char *wanted, *text;
    } cases[] = {{"rpal", ": did you mean 'rapl'?"},          /* swapped */
                 {"arlp", ": did you mean 'rapl'?"},          /* two swaps */
                 {"rap", ": did you mean 'rapl'?"},           /* a letter is missing */
                 {"rapll", ": did you mean 'rapl'?"},         /* one letter too many */
                 {"nwml", ": did you mean 'nvml'?"},          /* a wrong letter */
                 {"RAPL", ": did you mean 'rapl'?"},          /* capitals */
                 {"powrcpa", ": did you mean 'powercap'?"},   /* two mistakes */
                 {"intel-rapl", ": did you mean 'rapl'?"},    /* a name is a part of it */
                 {"temp", ": did you mean 'coretemp'?"},      /* it is part of a name */
                 {"perf", ": did you mean 'perf_event'?"},    /* a beginning */
                 {"perv_ev", ": did you mean 'perf_event'?"}, /* a beginning with a mistake */
                 {"perv_ev*", ": did you mean 'perf_event'?"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(suggest(cases[i].wanted, components, COUNT_OF(components)),
                            cases[i].text);
    }
}

/* The nearest names come first, in whatever order they are offered; at most three are named. */
TEST(the_nearest_come_first)
{
    static const char *const names[] = {"abcdefgh", "abcd", "abcdef", "abcde", "xabcde", "abcdf"};

    assert_string_equal(suggest("abcde", names, 6), ": did you mean 'abcde', 'abcd' or 'abcdef'?");
    assert_string_equal(suggest("abcde", names, 2), ": did you mean 'abcd' or 'abcdefgh'?");
}

TEST(names_too_long_are_near_none)
{
    char longest[APAPI_NAME_SIZE], longer[APAPI_NAME_SIZE + 1], text[APAPI_NAME_SIZE];
    struct nearest nearest;

    snprintf(longest, sizeof longest, "%0*d", APAPI_NAME_SIZE - 1, 7);
    snprintf(longer, sizeof longer, "%0*d", APAPI_NAME_SIZE, 7);
    nearest_begin(&nearest, longest);
    nearest_offer(longest, &nearest);
    nearest_offer(longer, &nearest);
    assert_int_equal(nearest.count, 1);
    nearest_text(&nearest, text, sizeof text);
    assert_string_equal(text, "");
    nearest_begin(&nearest, longer);
    nearest_offer(longest, &nearest);
    assert_int_equal(nearest.count, 0);
}

/* --- files ------------------------------------------------------------------------------------ */

#define SIZE ((size_t)1 << 20) /* more than a pipe holds */

/* Each byte arrives once and in order, whether the pipe blocks or not. */
TEST(more_than_a_pipe_holds)
{
    static const int modes[] = {0, O_NONBLOCK};
    FREED char *bytes = malloc(SIZE), *got = malloc(SIZE + 1);

    for (size_t i = 0; i < SIZE; i++) {
        bytes[i] = (char)(i % 251);
    }
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        int ends[2], status;
        pid_t writer;
        FILE *in;

        assert_int_equal(pipe(ends), 0);
        assert_int_equal(fcntl(ends[1], F_SETFL, modes[i]), 0);
        writer = fork();
        if (writer == 0) {
            _exit(write_all(ends[1], bytes, SIZE) != 0);
        }
        close(ends[1]);
        in = fdopen(ends[0], "r");
        assert_int_equal(fread(got, 1, SIZE + 1, in), SIZE);
        fclose(in);
        assert_memory_equal(got, bytes, SIZE);
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_int_equal(status, 0);
    }
}
