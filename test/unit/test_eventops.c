/* SPDX-License-Identifier: BSD-3-Clause */
#include <locale.h>

#include "config/definitions.h"
#include "unit/problem_log.h"
#include "unit/unit.h"

#define BASE                                                                                       \
    "nvml:::Tesla_K20c:power,APAPI_OP1_NOP,APAPI_STAT_MIN|APAPI_STAT_MAX|APAPI_STAT_AVG,"          \
    "APAPI_STAT_NO,0,speed,%,1,NULL,NULL,1"
#define MIN_MAX_AVG (APAPI_STAT_MIN | APAPI_STAT_MAX | APAPI_STAT_AVG)

static struct problem_log reported;

static struct apapi_eventops *parse(const char *text)
{
    struct apapi_problem_sink sink = {log_problem, &reported};

    memset(&reported, 0, sizeof reported);
    return apapi_eventops_parse("ops.csv", text, strlen(text), &sink, NULL);
}

/* A line with one field of BASE replaced. */
static const char *with_field(int number, const char *value)
{
    static char line[1024];
    char base[] = BASE, *rest = base;

    line[0] = '\0';
    for (int i = 1; rest; i++) {
        const char *field = strsep(&rest, ",");

        strcat(line, i == 1 ? "" : ",");
        strcat(line, i == number ? value : field);
    }
    return line;
}

TEST(a_line_means_what_it_says)
{
    struct apapi_eventops *ops = parse("a:::b,APAPI_OP1_DIV_DIFF_TIME,APAPI_STAT_ACC,"
                                       "APAPI_STAT_MIN|APAPI_STAT_AVG,0x7fffffff8000,energy,Ws,"
                                       "2147483648.0,power,W,2.147483648\n");
    const struct apapi_definition *d = apapi_eventops_at(ops, 0);

    assert_int_equal(apapi_eventops_count(ops), 1);
    assert_string_equal(d->name, "a:::b");
    assert_int_equal(d->line, 1);
    assert_int_equal(d->operation, APAPI_OP1_DIV_DIFF_TIME);
    assert_int_equal(d->values[0].stats, APAPI_STAT_ACC);
    assert_int_equal(d->values[1].stats, APAPI_STAT_MIN | APAPI_STAT_AVG);
    assert_true(d->raw_units && d->accumulates);
    assert_int_equal(d->range_max, 0x7fffffff8000);
    assert_string_equal(d->values[0].type, "energy");
    assert_string_equal(d->values[0].unit, "Ws");
    assert_true(d->values[0].factor == 2147483648.0);
    assert_string_equal(d->values[1].type, "power");
    assert_string_equal(d->values[1].unit, "W");
    assert_true(d->values[1].factor == 2.147483648);
    assert_false(d->has_kind || d->has_domain);
    assert_null(apapi_eventops_at(ops, 1));
    assert_int_equal(reported.warnings, 0);
    apapi_eventops_destroy(ops);
}

TEST(maxima)
{
    static const struct {
        const char *text;
        bool raw, accumulates;
        uint64_t range;
        size_t warnings;
    } maxima[] = {
        {"0", true, false, 0, 0},     {"0xFF", true, true, 255, 0},
        {"010", true, true, 8, 0},    {"1E9", true, true, 1, 1}, /* as in the original */
        {"0x", true, false, 0, 1},    {"12 34", true, true, 12, 1},
        {"-1", true, true, 0, 0},     {"0xffffffffffffffff", true, true, UINT64_MAX, 0},
        {"auto", false, false, 0, 0}, {"\t auto ", false, false, 0, 0},
    };

    for (size_t i = 0; i < COUNT_OF(maxima); i++) {
        DESTROYED struct apapi_eventops *ops = parse(with_field(5, maxima[i].text));
        const struct apapi_definition *d = apapi_eventops_at(ops, 0);

        fail_if(!d || d->raw_units != maxima[i].raw || d->accumulates != maxima[i].accumulates ||
                    d->range_max != maxima[i].range || reported.warnings != maxima[i].warnings,
                "'%s': %s", maxima[i].text, reported.text);
    }
}

TEST(statistics)
{
    static const struct {
        const char *text;
        unsigned stats;
    } good[] = {
        {"APAPI_STAT_NO", APAPI_STAT_NO},
        {"APAPI_STAT_ALL", 15},
        {"APAPI_STAT_MIN|", APAPI_STAT_MIN},
        {"APAPI_STAT_NO|APAPI_STAT_ACC", APAPI_STAT_ACC},
        {"APAPI_STAT_MAX|APAPI_STAT_MAX", APAPI_STAT_MAX},
        {" APAPI_STAT_MIN | APAPI_STAT_AVG ", APAPI_STAT_MIN | APAPI_STAT_AVG},
    };
    static const char *const bad[] = {
        "|APAPI_STAT_MIN", "APAPI_STAT_MIN||APAPI_STAT_MAX", "|",           "APAPI_STAT_MIN||",
        "apapi_stat_min",  "APAPI_STAT_MIN APAPI_STAT_MAX",  "APAPI_STAT_", "APAPI_STAT_MINI",
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        DESTROYED struct apapi_eventops *ops = parse(with_field(4, good[i].text));

        assert_non_null(ops);
        assert_int_equal(apapi_eventops_at(ops, 0)->values[1].stats, good[i].stats);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_null(parse(with_field(3, bad[i])));
        assert_contains(reported.text, "field 3 (statistics of value0): expected APAPI_STAT_NO");
        assert_contains(reported.text, bad[i]);
    }
}

TEST(factors)
{
    static const struct {
        const char *text;
        double factor;
        size_t warnings;
    } factors[] = {
        {"1E3", 1000, 0},  {"-2", -2, 0}, {"0x1p4", 16, 0}, {".5", 0.5, 0},
        {"1.5kg", 1.5, 1}, {"0", NAN, 1}, {"inf", NAN, 1},  {"nan", NAN, 1},
    };

    for (size_t i = 0; i < COUNT_OF(factors); i++) {
        DESTROYED struct apapi_eventops *ops = parse(with_field(8, factors[i].text));
        double factor;

        assert_non_null(ops);
        factor = apapi_eventops_at(ops, 0)->values[0].factor;
        assert_true(isnan(factors[i].factor) ? isnan(factor) : factor == factors[i].factor);
        assert_int_equal(reported.warnings, factors[i].warnings);
    }
    apapi_eventops_destroy(parse(with_field(11, "0"))); /* a value that is not used */
    assert_int_equal(reported.warnings, 0);
}

TEST(numbers_do_not_depend_on_the_locale_or_an_old_errno)
{
    DESTROYED struct apapi_eventops *ops = NULL;

    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8")) {
        print_message("# no German locale here\n");
    }
    errno = ERANGE;
    ops = parse(with_field(8, "2.5"));
    setlocale(LC_ALL, "C");
    assert_non_null(ops);
    assert_true(apapi_eventops_at(ops, 0)->values[0].factor == 2.5);
}

TEST(kind_and_domain)
{
    static const struct {
        const char *text;
        bool has_kind, has_domain;
        int kind, domain;
    } good[] = {
        {BASE ",energy,package", true, true, APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE},
        {BASE ", power , gpu\r", true, true, APAPI_KIND_POWER, APAPI_DOMAIN_GPU},
        {BASE ",-,none", false, true, 0, APAPI_DOMAIN_NONE},
        {BASE, false, false, 0, 0},
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        DESTROYED struct apapi_eventops *ops = parse(good[i].text);
        const struct apapi_definition *d = apapi_eventops_at(ops, 0);

        fail_if(!d || d->has_kind != good[i].has_kind || d->has_domain != good[i].has_domain ||
                    (int)d->kind != good[i].kind || (int)d->domain != good[i].domain,
                "%s: %s", good[i].text, reported.text);
    }
}

/* As the original's own files test_csvs: what each field must have. */
TEST(bad_fields)
{
    static const struct {
        int field;
        const char *value, *says;
    } cases[] = {
        {1, "", "field 1 (event): expected a text, found nothing"},
        {2, "APAPI_OP", "field 2 (operation): expected APAPI_OP1_NOP"},
        {4, "APAPI_ST", "field 4 (statistics of value1)"},
        {5, "abc", "field 5 (maximum): expected a whole number or 'auto'"},
        {6, "", "field 6 (type of value0): expected a text, found nothing"},
        {7, "", "field 7 (unit of value0): expected a text, found nothing"},
        {8, "abc", "field 8 (factor of value0): expected a number"},
        {8, "1e999", "field 8 (factor of value0)"},
        {8, "1e-999", "field 8 (factor of value0)"},
        {9, "", "field 9 (type of value1): expected a text, found nothing"},
        {10, "", "field 10 (unit of value1): expected a text, found nothing"},
        {11, "", "field 11 (factor of value1): expected a text, found nothing"},
        {11, "1,heat", "field 12 (kind): expected energy, power"},
        {11, "1,energy,socket", "field 13 (domain): expected package"},
        {11, "1,asdf,", "field 12 (kind)"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_null(parse(with_field(cases[i].field, cases[i].value)));
        assert_contains(reported.text, cases[i].says);
        assert_int_equal(reported.line, 1);
    }
}

TEST(every_bad_line_is_reported_with_its_place)
{
    const char *text =
        "# comment, with commas\n" BASE "\n"
        "  too,few\n"
        "\n"
        "x,APAPI_OP1_NOPE,APAPI_STAT_NO,APAPI_STAT_NO,0,\xc2\xb0,\xc2\xb0,one,-,-,1\n";
    struct apapi_problem_sink sink = {log_problem, &reported};

    memset(&reported, 0, sizeof reported);
    assert_fails(EINVAL, apapi_eventops_parse("a/ops.csv", text, strlen(text), &sink, &why));
    assert_int_equal(reported.errors, 3);
    assert_contains(reported.text, "a/ops.csv:3:3: expected 11 to 13 fields");
    assert_contains(reported.text, "found 2 in 'too,few'\n");
    assert_contains(reported.text, "a/ops.csv:5:3: field 2 (operation): expected");
    assert_contains(reported.text, "found 'APAPI_OP1_NOPE'\n");
    /* columns count characters: each degree sign is one */
    assert_contains(reported.text, "a/ops.csv:5:52: field 8 (factor of value0)");
    assert_string_equal(why.text, "a/ops.csv: 2 lines are bad, the first is line 3");
}

TEST(thousands_of_bad_lines_are_counted)
{
    char text[10000] = "";

    for (int i = 0; i < 1000; i++) {
        strcat(text, "bad line\n");
    }
    assert_null(parse(text));
    assert_int_equal(reported.errors, APAPI_PROBLEMS_MAX);
    assert_int_equal(reported.rests, 1);
    assert_contains(reported.text, "ops.csv: ... and 900 more errors\n");
}

TEST(harmless_differences)
{
    static const char *const texts[] = {
        BASE,
        BASE "\r\n",
        "\xef\xbb\xbf" BASE "\n",
        "  \t" BASE "   \n",
        "\r\n   \r\n  # indented\r\n" BASE "\r\n\r\n",
        "nvml:::Tesla_K20c:power , APAPI_OP1_NOP , APAPI_STAT_MIN|APAPI_STAT_MAX|APAPI_STAT_AVG ,"
        "APAPI_STAT_NO, 0,\tspeed, %, 1, NULL, NULL, 1 \n",
    };

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        DESTROYED struct apapi_eventops *ops = parse(texts[i]);
        const struct apapi_definition *d = apapi_eventops_find(ops, "nvml:::Tesla_K20c:power");

        fail_if(!d || strcmp(d->values[0].unit, "%") != 0 ||
                    strcmp(d->values[1].unit, "NULL") != 0 || d->values[0].stats != MIN_MAX_AVG ||
                    reported.errors + reported.warnings > 0,
                "text %zu: %s", i, reported.text);
    }
}

TEST(the_first_that_fits_counts)
{
    const char *rest = ",APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,0,t,u,1,-,-,1\n";
    static const struct {
        const char *event;
        size_t line;
    } found[] = {{"a:::x", 1}, {"a:::y", 2}, {"b:::1", 4}, {"b:::[1]", 4}, {"c", 0}};
    char text[1024];
    DESTROYED struct apapi_eventops *ops = NULL;

    snprintf(text, sizeof text, "a:::x%sa:::*%sa:::y%sb:::[1]%sb:::?%s", rest, rest, rest, rest,
             rest);
    ops = parse(text);
    for (size_t i = 0; i < COUNT_OF(found); i++) {
        const struct apapi_definition *d = apapi_eventops_find(ops, found[i].event);

        assert_int_equal(d ? d->line : 0, found[i].line);
    }
}

TEST(units_become_printable)
{
    struct apapi_eventops *ops = parse(with_field(7, "\xc2\xb0"
                                                     "C"));

    assert_string_equal(apapi_eventops_at(ops, 0)->values[0].unit, "\xc2\xb0"
                                                                   "C");
    assert_int_equal(reported.warnings, 0);
    apapi_eventops_destroy(ops);
    ops = parse(with_field(7, "\xb0"
                              "C\x1b[m"));
    assert_string_equal(apapi_eventops_at(ops, 0)->values[0].unit, "?C?[m");
    assert_int_equal(reported.warnings, 1);
    apapi_eventops_destroy(ops);
    ops = parse(with_field(7, "\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80")); /* no code points */
    assert_string_equal(apapi_eventops_at(ops, 0)->values[0].unit, "?????????");
    apapi_eventops_destroy(ops);
    ops = parse(with_field(7, " "));
    assert_string_equal(apapi_eventops_at(ops, 0)->values[0].unit, "");
    apapi_eventops_destroy(ops);
}

TEST(lines_that_never_end)
{
    static char text[2 * APAPI_EVENTS_LINE_MAX];

    memset(text, 'x', sizeof text - 1);
    assert_null(parse(text));
    assert_contains(reported.text, "expected a definition of at most 4095 bytes");
    text[0] = '#';
    apapi_eventops_destroy(parse(text));
    assert_int_equal(reported.errors, 0);
}
