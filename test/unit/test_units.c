/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/record.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "record/fields.h"
#include "unit/unit.h"

/* `format` writes the `text` that a row expects. */
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

    ASSERT_TEXTS(cases, units_quantity(text, sizeof(text), cases[i].value, cases[i].unit));
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
        cases, units_known_quantity(text, sizeof(text), cases[i].value, cases[i].uncertainty, "J"));
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

    ASSERT_TEXTS(cases, units_total(text, sizeof(text), cases[i].value, cases[i].unit));
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

    ASSERT_TEXTS(cases, units_duration(text, sizeof(text), cases[i].seconds));
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

union member {
    char text[8];
    uint32_t number;
    uint64_t count;
    int64_t moment;
    double measured;
    bool flag;
    int word;
};

static char *encode_member(enum field_form form, bool mandatory, const union member *member)
{
    const struct field fields[] = {{"x", form, mandatory, 0, sizeof(member->text)},
                                   {NULL, 0, false, 0, 0}};
    struct json_writer json = {0};
    char *text;

    json_begin_object(&json, NULL);
    fields_write(&json, fields, member);
    json_end(&json);
    text = json_take(&json);
    assert_non_null(text);
    return text;
}

TEST(numbers_are_as_exact_as_they_should_be)
{
    static const struct {
        enum field_form form;
        union member member;
        const char *expected;
    } cases[] = {{FIELD_COUNT, {.count = INT64_MAX}, "{\"x\":9223372036854775807}"},
                 {FIELD_COUNT, {.count = UINT64_MAX}, "{\"x\":\"18446744073709551615\"}"},
                 {FIELD_NUMBER, {.number = UINT32_MAX - 1}, "{\"x\":4294967294}"},
                 {FIELD_DURATION, {.count = 86400000000001}, "{\"x\":86400.000000001}"},
                 {FIELD_MEASURED, {.measured = 2.0 / 3}, "{\"x\":0.666666667}"},
                 /* a mean of 200.899358 W lies between them */
                 {FIELD_LEAST, {.measured = 200.899358}, "{\"x\":200.899}"},
                 {FIELD_GREATEST, {.measured = 200.899358}, "{\"x\":200.9}"},
                 {FIELD_LEAST, {.measured = 197.2467}, "{\"x\":197.246}"},
                 {FIELD_GREATEST, {.measured = 999999.5}, "{\"x\":1000000.0}"},
                 {FIELD_LEAST, {.measured = -20.00001}, "{\"x\":-20.0001}"},
                 {FIELD_GREATEST, {.measured = 0.1}, "{\"x\":0.1}"},
                 {FIELD_EXACT, {.measured = 0x1p-14}, "{\"x\":6.103515625e-5}"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *text = encode_member(cases[i].form, true, &cases[i].member);
        char *padded = strstr(text, "e-05"); /* as older versions of jansson write it */

        if (padded) {
            memmove(padded + 2, padded + 3, strlen(padded + 3) + 1);
        }
        assert_string_equal(text, cases[i].expected);
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
    char longer[1000];

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_fails(EDOM, apapi_fail(&err, EDOM, "%s %d", "text", 7));
    assert_string_equal(err.text, "text 7");
    apapi_fail(&err, EDOM, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_fails(ERANGE, apapi_fail(NULL, ERANGE, "nowhere"));
}
