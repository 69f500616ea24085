/* SPDX-License-Identifier: BSD-3-Clause */
/* The meaning of events: definitions against the events of a source. */
#include "config/definitions.h"
#include "unit/problem_log.h"
#include "unit/unit.h"

/* One definition, parsed. */
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

static void assert_close(double got, double wanted)
{
    fail_if(!(fabs(got - wanted) <= 1e-9 * fabs(wanted)), "%.17g is not %.17g", got, wanted);
}

TEST(time_of_each_operation)
{
    static const struct {
        const char *operation;
        double divisor; /* of value1, with a scale of 1/2 and a factor of 4 */
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
            assert_close(apapi_definition_divisor(apapi_eventops_at(ops, 0), &event, 0),
                         raw ? 2 : 4);
            assert_close(apapi_definition_divisor(apapi_eventops_at(ops, 0), &event, 1),
                         raw ? 4 : operations[i].divisor);
        }
    }
}

/* Figures that the source leaves open are filled in; those that it knows are kept. */
TEST(events_are_completed)
{
    static const struct {
        const char *definition;     /* from the maximum on */
        const char *source, *event; /* kind of both; unit, scale, whether it adds up and domain */
    } cases[] = {
        {"0,power,W,1E6,energy,Ws,1E15", "count ?", "power W 1e-06 -"},
        {"100,energy,Ws,1E3,p,W,1,energy,gpu", "count", "energy J 0.001 + gpu"},
        {"0,temperature,\302\260C,1E3,-,-,1", "count", "temperature C 0.001 -"},
        /* cannot be converted to joules */
        {"5,energy,ticks,1,-,-,1,energy,gpu", "count", "count  1 + gpu"},
        {"auto,energy,J,1,-,-,1,energy,gpu", "count", "count  1 gpu"},
        {"0,power,W,-1,-,-,1", "count", "count  1 -"},
        /* the source knows better */
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
        const char *says; /* "": they agree */
    } cases[] = {
        {"0x7fffffff8000,energy,Ws,2147483648,p,W,1",
         "e: defined to count in 4.657e-10 J, its source counts in 1e-06 J"},
        {"0xffffffff,energy,J,1E6,p,W,1", ""},
        {"auto,energy,Ws,2147483648,p,W,1", ""},
        {"5,energy,ticks,1,p,W,1", ""},
        {"0,power,W,1E6,p,W,1", "e: defined as power in W, the source gives energy"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_event event = {
            .name = "e", .kind = APAPI_KIND_ENERGY, .unit = "J", .scale = 1e-6};
        struct apapi_error err = {""};
        char line[256];
        DESTROYED struct apapi_eventops *ops = NULL;
        int result;

        snprintf(line, sizeof line, "APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,%s",
                 cases[i].definition);
        ops = ops_of("e", line);
        result = apapi_definition_check(apapi_eventops_at(ops, 0), &event, &err);
        assert_int_equal(result, *cases[i].says ? -1 : 0);
        assert_string_equal(err.text, cases[i].says);
        event.kind = APAPI_KIND_COUNT;
        assert_int_equal(apapi_definition_check(apapi_eventops_at(ops, 0), &event, NULL), 0);
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
