/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <locale.h>

#include "config/definitions.h"
#include "unit/near.h"
#include "unit/problem_log.h"

#define BASE                                                                                       \
    "nvml:::Tesla_K20c:power,APAPI_OP1_NOP,APAPI_STAT_MIN|APAPI_STAT_MAX|APAPI_STAT_AVG,"          \
    "APAPI_STAT_NO,0,speed,%,1,NULL,NULL,1"

static struct problem_log reported;

static struct apapi_eventops *parse(const char *text)
{
    struct apapi_problem_sink sink = {log_problem, &reported};

    memset(&reported, 0, sizeof reported);
    return apapi_eventops_parse("ops.csv", text, strlen(text), &sink, NULL);
}

/* @return a line with one field of BASE replaced. */
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

/* @return "OPERATION STATS/STATS RANGE, TYPE UNIT FACTOR, TYPE UNIT FACTOR, KIND DOMAIN". */
static const char *meaning(const struct apapi_definition *d)
{
    static char text[256];

    snprintf(text, sizeof text, "%d %u/%u %s%s %" PRIu64 ", %s %s %.10g, %s %s %.10g, %s %s",
             (int)d->operation, d->values[0].stats, d->values[1].stats,
             d->raw_units ? "raw" : "auto", d->accumulates ? "+" : "", d->range_max,
             d->values[0].type, d->values[0].unit, d->values[0].factor, d->values[1].type,
             d->values[1].unit, d->values[1].factor, d->has_kind ? apapi_kind_name(d->kind) : "-",
             !d->has_domain                   ? "-"
             : d->domain == APAPI_DOMAIN_NONE ? "none"
                                              : apapi_domain_name(d->domain));
    return text;
}

TEST(each_field)
{
    static const struct {
        int field;
        const char *value, *means;
        size_t warnings;
    } cases[] = {
        {4, "APAPI_STAT_NO", "/0 ", 0},
        {4, "APAPI_STAT_ALL", "/15 ", 0},
        {4, "APAPI_STAT_MIN|", "/1 ", 0},
        {4, "APAPI_STAT_NO|APAPI_STAT_ACC", "/8 ", 0},
        {4, "APAPI_STAT_MAX|APAPI_STAT_MAX", "/2 ", 0},
        {4, " APAPI_STAT_MIN | APAPI_STAT_AVG ", "/5 ", 0},
        {5, "0", " raw 0,", 0},
        {5, "0xFF", " raw+ 255,", 0},
        {5, "010", " raw+ 8,", 0},
        {5, "1E9", " raw+ 1,", 1}, /* as in the original project */
        {5, "0x", " raw 0,", 1},
        {5, "12 34", " raw+ 12,", 1},
        {5, "-1", " raw+ 0,", 0},
        {5, "0xffffffffffffffff", " raw+ 18446744073709551615,", 0},
        {5, "\t auto ", " auto 0,", 0},
        {7, "\xc2\xb0", " \xc2\xb0 ", 0},
        {7, "\xb0\x1b[m", " ??[m ", 1},
        {7, "\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", " ????????? ", 1}, /* no valid code points */
        {7, " ", "speed  1,", 0},
        {8, "1E3", "% 1000,", 0},
        {8, "-2", "% -2,", 0},
        {8, "0x1p4", "% 16,", 0},
        {8, ".5", "% 0.5,", 0},
        {8, "1.5kg", "% 1.5,", 1},
        {8, "0", "% nan,", 1},
        {8, "inf", "% nan,", 1},
        {11, "0", "NULL NULL nan,", 0}, /* a value that is not in use */
        {11, "1,energy,package", ", energy package", 0},
        {11, "1, power , gpu\r", ", power gpu", 0},
        {11, "1,-,none", ", - none", 0},
        {11, "1", ", - -", 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DESTROYED struct apapi_eventops *ops = parse(with_field(cases[i].field, cases[i].value));

        fail_if(!ops, "'%s': %s", cases[i].value, reported.text);
        assert_contains(meaning(apapi_eventops_at(ops, 0)), cases[i].means);
        assert_int_equal(reported.warnings, cases[i].warnings);
    }
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

/* As the files test_csvs of the original project: which message each bad field gets. */
TEST(bad_fields)
{
    static const struct {
        int field;
        const char *value, *says;
    } cases[] = {
        {1, "", "field 1 (event): expected a text, found nothing"},
        {2, "APAPI_OP", "field 2 (operation): expected APAPI_OP1_NOP"},
        {3, "|APAPI_STAT_MIN", "field 3 (statistics of value0): expected APAPI_STAT_NO"},
        {3, "APAPI_STAT_MIN APAPI_STAT_MAX", "field 3 (statistics of value0)"},
        {3, "apapi_stat_min", "field 3 (statistics of value0)"},
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
    /* columns count characters, so each degree sign is one */
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

/* --- definitions against the events of a source ----------------------------------------------- */

/* @return parsed rules with one definition. */
static struct apapi_eventops *ops_of(const char *name, const char *rest)
{
    char line[512];
    struct apapi_eventops *ops;

    snprintf(line, sizeof line, "%s,%s", name, rest);
    ops = apapi_eventops_parse("ops", line, strlen(line), NULL, NULL);
    assert_non_null(ops);
    return ops;
}

TEST(the_users_definition_comes_first)
{
    const char *rest = "APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,0,t,u,1,-,-,1";
    struct apapi_event_rules rules = {0};
    struct apapi_event event = {.name = "a:::b"}, other = {.name = "a:::c"};

    rules.user_ops = ops_of("a:::*b", rest);
    rules.default_ops = ops_of("a:::[bc]", rest);
    assert_ptr_equal(apapi_event_rules_define(&rules, &event),
                     apapi_eventops_at(rules.user_ops, 0));
    assert_ptr_equal(apapi_event_rules_define(&rules, &other),
                     apapi_eventops_at(rules.default_ops, 0));
    strcpy(other.name, "z");
    assert_int_equal(apapi_event_rules_define(&rules, &other)->line, 0);
    assert_int_equal(apapi_event_rules_define(NULL, &event)->line, 0);
    apapi_event_rules_clear(&rules);
}

TEST(events_without_a_definition)
{
    static const struct {
        enum apapi_kind kind;
        bool accumulates;
        enum apapi_operation operation;
        unsigned stats0, stats1;
        const char *unit0, *unit1;
    } kinds[] = {
        {APAPI_KIND_ENERGY, true, APAPI_OP1_DIV_DIFF_TIME, 8, 7, "J", "W"},
        {APAPI_KIND_POWER, false, APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME, 7, 8, "W", "J"},
        {APAPI_KIND_TEMPERATURE, false, APAPI_OP1_NOP, 7, 0, "own", "-"},
        {APAPI_KIND_COUNT, false, APAPI_OP1_NOP, 7, 0, "own", "-"},
        {APAPI_KIND_COUNT, true, APAPI_OP1_DIV_DIFF_TIME, 8, 7, "own", "1/s"},
        {(enum apapi_kind)99, false, APAPI_OP1_NOP, 7, 0, "own", "-"},
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct apapi_event event = {
            .unit = "own", .kind = kinds[i].kind, .accumulates = kinds[i].accumulates, .scale = 1};
        const struct apapi_definition *d = apapi_event_rules_define(NULL, &event);

        assert_int_equal(d->operation, kinds[i].operation);
        assert_int_equal(d->values[0].stats, kinds[i].stats0);
        assert_int_equal(d->values[1].stats, kinds[i].stats1);
        assert_string_equal(apapi_definition_unit(d, &event, 0), kinds[i].unit0);
        assert_string_equal(apapi_definition_unit(d, &event, 1), kinds[i].unit1);
    }
}

TEST(time_of_each_operation)
{
    static const struct {
        const char *operation;
        double divisor; /* divisor of value1, with a scale of 1/2 and a factor of 4 */
    } operations[] = {
        {"APAPI_OP1_NOP", 8},
        {"APAPI_OP1_SAMPLE_DIFF", 8},
        {"APAPI_OP1_DIV_DIFF_TIME", 8e-9},
        {"APAPI_OP1_SAMPLE1_MUL_DIFF_TIME", 8e9},
        {"APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME", 8e9},
    };

    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        struct apapi_event event = {.scale = 0.5};

        for (int raw = 0; raw < 2; raw++) {
            char line[256];
            DESTROYED struct apapi_eventops *ops = NULL;

            snprintf(line, sizeof line, "%s,APAPI_STAT_NO,APAPI_STAT_ALL,%s,t,u,2,t,u,4",
                     operations[i].operation, raw ? "0" : "auto");
            ops = ops_of("e", line);
            assert_within(apapi_definition_divisor(apapi_eventops_at(ops, 0), &event, 0),
                          raw ? 2 : 4, 1e-9);
            assert_within(apapi_definition_divisor(apapi_eventops_at(ops, 0), &event, 1),
                          raw ? 4 : operations[i].divisor, 1e-9);
        }
    }
}

/* Properties that the source leaves open are filled in; properties that it knows are kept. */
TEST(events_are_completed)
{
    static const struct {
        const char *definition;     /* beginning with the maximum */
        const char *source, *event; /* both: kind, unit, scale, whether it adds up, domain */
    } cases[] = {
        {"0,power,W,1E6,energy,Ws,1E15", "count ?", "power W 1e-06 -"},
        {"100,energy,Ws,1E3,p,W,1,energy,gpu", "count", "energy J 0.001 + gpu"},
        {"0,temperature,\302\260C,1E3,-,-,1", "count", "temperature C 0.001 -"},
        /* cannot be converted to joules */
        {"5,energy,ticks,1,-,-,1,energy,gpu", "count", "count  1 + gpu"},
        {"auto,energy,J,1,-,-,1,energy,gpu", "count", "count  1 gpu"},
        {"0,power,W,-1,-,-,1", "count", "count  1 -"},
        /* the source's own properties are kept */
        {"100,energy,Ws,2147483648,power,W,2.1", "energy J", "energy J 1 -"},
        {"0,power,W,1,-,-,1,power,node", "energy J", "energy J 1 node"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool energy = cases[i].source[0] == 'e';
        struct apapi_event event = {.kind = energy ? APAPI_KIND_ENERGY : APAPI_KIND_COUNT,
                                    .scale = 1};
        char line[256], text[128];
        DESTROYED struct apapi_eventops *ops = NULL;

        sscanf(cases[i].source, "%*s %7s", event.unit);
        snprintf(line, sizeof line, "APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,%s",
                 cases[i].definition);
        ops = ops_of("e", line);
        apapi_definition_complete(apapi_eventops_at(ops, 0), &event);
        snprintf(text, sizeof text, "%s %s %g%s %s", apapi_kind_name(event.kind), event.unit,
                 event.scale, event.accumulates ? " +" : "", apapi_domain_name(event.domain));
        fail_if(strcmp(text, cases[i].event) != 0, "%s: %s", cases[i].definition, text);
    }
}

TEST(definitions_that_contradict_the_source)
{
    static const struct {
        const char *definition;
        const char *says;      /* "": they agree */
        const char *operation; /* NULL: there is no value1 */
    } cases[] = {
        {"0x7fffffff8000,energy,Ws,2147483648,p,W,1",
         "e: defined to count in 4.657e-10 J, its source counts in 1e-06 J", NULL},
        {"0xffffffff,energy,J,1E6,p,W,1", "", NULL},
        {"auto,energy,Ws,2147483648,p,W,1", "", NULL},
        {"5,energy,ticks,1,p,W,1", "", NULL},
        {"0,power,W,1E6,p,W,1", "e: defined as power in W, the source gives energy", NULL},
        {"-1,energy,J,1E6,power,W,1",
         "e (value1): defined to count in 1 W, its source counts in 1000 W", "DIV_DIFF_TIME"},
        {"-1,energy,J,1E6,power,kW,1", "", "DIV_DIFF_TIME"},
        {"-1,energy,J,1E6,power,W,1E-3", "", "DIV_DIFF_TIME"},
        {"-1,energy,J,1E6,power,J,1E-3",
         "e (value1): defined as energy in J, the source gives power", "DIV_DIFF_TIME"},
        {"-1,energy,J,1E6,change,J,1E3",
         "e (value1): defined to count in 0.001 J, its source counts in 1e-06 J", "SAMPLE_DIFF"},
        {"auto,energy,J,1,power,W,1E-3", "", "DIV_DIFF_TIME"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_event event = {
            .name = "e", .kind = APAPI_KIND_ENERGY, .unit = "J", .scale = 1e-6};
        struct apapi_error err = {""};
        char line[256];
        DESTROYED struct apapi_eventops *ops = NULL;
        int result;

        snprintf(line, sizeof line, "APAPI_OP1_%s,APAPI_STAT_ALL,%s,%s",
                 cases[i].operation ? cases[i].operation : "NOP",
                 cases[i].operation ? "APAPI_STAT_ALL" : "APAPI_STAT_NO", cases[i].definition);
        ops = ops_of("e", line);
        result = apapi_definition_check(apapi_eventops_at(ops, 0), &event, &err);
        assert_int_equal(result, *cases[i].says ? -1 : 0);
        assert_string_equal(err.text, cases[i].says);
        event.kind = APAPI_KIND_COUNT;
        assert_int_equal(apapi_definition_check(apapi_eventops_at(ops, 0), &event, NULL), 0);
    }
}

/* mW of a gauge give mW x ns. */
TEST(energies_of_gauges_that_contradict_the_source)
{
    static const char *const factors[] = {"1E12", "1E9"};
    const struct apapi_event event = {.kind = APAPI_KIND_POWER, .unit = "W", .scale = 1e-3};

    for (int i = 0; i < 2; i++) {
        DESTROYED struct apapi_eventops *ops = NULL;
        char line[128];

        snprintf(line, sizeof line,
                 "APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME,APAPI_STAT_ALL,APAPI_STAT_ACC,"
                 "0,power,W,1E3,energy,Ws,%s",
                 factors[i]);
        ops = ops_of("e", line);
        assert_int_equal(apapi_definition_check(apapi_eventops_at(ops, 0), &event, NULL), -i);
    }
}

TEST(no_definition_moves_an_estimate_into_a_domain)
{
    struct apapi_event event = {
        .kind = APAPI_KIND_ENERGY, .unit = "J", .scale = 1, .estimated = true};
    struct apapi_eventops *ops = ops_of("e", "APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,"
                                             "auto,energy,J,1,-,-,1,energy,package");

    apapi_definition_complete(apapi_eventops_at(ops, 0), &event);
    assert_int_equal(event.domain, APAPI_DOMAIN_NONE);
    event.estimated = false;
    apapi_definition_complete(apapi_eventops_at(ops, 0), &event);
    assert_int_equal(event.domain, APAPI_DOMAIN_PACKAGE);
    apapi_eventops_destroy(ops);
}
