/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/limit.h"

#include "unit/unit.h"

static void assert_parsed(const char *text, struct limit *limit)
{
    fail_if(limit_parse(text, limit, &why), "'%s': %s", text, why.text);
}

/* @return "SCOPE METER CONDITION AMOUNT UNIT +- HYSTERESIS for SECONDS: ACTIONS; COMMAND". */
static const char *meaning(const struct limit *limit)
{
    static const char *const scopes[] = {"node", "step", "job"}, *const units[] = {"", "J", "W",
                                                                                   "C", "%"};
    static const char *const conditions[] = {[APAPI_OVERFLOW_TOTAL] = ">=",
                                             [APAPI_OVERFLOW_EVERY] = "every",
                                             [APAPI_OVERFLOW_ABOVE] = ">",
                                             [APAPI_OVERFLOW_BELOW] = "<"};
    static char text[sizeof *limit + 256];
    char actions[64];

    limit_actions_text(limit, actions, sizeof actions);
    snprintf(text, sizeof text, "%s %s %s %.9g %s+-%g for %gs: %s;%s", scopes[limit->scope],
             limit->meter, conditions[limit->condition], limit->amount, units[limit->unit],
             limit->hysteresis, (double)limit->hold_ns / 1e9, actions, limit->command);
    return text;
}

/* A word is a scope only if a quantity follows it. */
TEST(good_texts)
{
    static const struct {
        const char *text, *means;
    } good[] = {
        {"total>=5kJ:log", "node total >= 5000 J+-0 for 0s: log;"},
        {" gpu > 2 kWh ", "node gpu >= 7200000 J+-0 for 0s: log;"},
        {"node >= 0.6kW hysteresis 20W for 1.5s : stamp", "node node > 600 W+-20 for 1.5s: stamp;"},
        {"dram < 100", "node dram < 100 W+-0 for 0s: log;"},
        {"a:::t:b > 80\302\260C", "node a:::t:b > 80 C+-0 for 0s: log;"},
        {"a:::t > 80C", "node a:::t > 80 C+-0 for 0s: log;"},
        {"nvml:::gpu:load <= 5 %", "node nvml:::gpu:load < 5 %+-0 for 0s: log;"},
        {"net:::rx:bytes every 1e6", "node net:::rx:bytes every 1000000 +-0 for 0s: log;"},
        {"perf:::a:cpu=0 >= 12", "node perf:::a:cpu=0 >= 12 +-0 for 0s: log;"},
        {"perf:::a > 12 hysteresis 2", "node perf:::a > 12 +-2 for 0s: log;"},
        {"step total >= 5kJ : term", "step total >= 5000 J+-0 for 0s: term;"},
        {" job  total every 1kWh", "job total every 3600000 J+-0 for 0s: log;"},
        {"job total >= 5 : signal=USR1", "job total >= 5 J+-0 for 0s: signal=USR1@job;"},
        {"job total >= 5J : term, stamp", "job total >= 5 J+-0 for 0s: stamp, term@job;"},
        {"node node > 600W", "node node > 600 W+-0 for 0s: log;"},
        {"gpu >= 5J : stamp, signal=USR1", "node gpu >= 5 J+-0 for 0s: stamp, signal=USR1;"},
        {"gpu >= 5J: signal=SIGINT@step , term",
         "node gpu >= 5 J+-0 for 0s: term, signal=INT@step;"},
        {"gpu >= 5J : log, exec= echo a, b : c > d ",
         "node gpu >= 5 J+-0 for 0s: log, exec;echo a, b : c > d"},
    };
    struct limit got;

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_parsed(good[i].text, &got);
        assert_string_equal(meaning(&got), good[i].means);
    }
    assert_parsed(" total >=  5kJ : stamp", &got);
    assert_string_equal(got.text, "total >=  5kJ");
}

/* The caret stands below the marked part, and the message says which texts would be valid. */
static const struct {
    const char *text, *marked, *said;
    int code;
} bad[] = {
    {"", "", "is missing, as in 'total >= 5kJ'", EINVAL},
    {"total >=5parsecs", "parsecs", "J, mJ, kJ, MJ, GJ, Wh, kWh, MWh, W, mW, kW, MW", EINVAL},
    {"total >= 5KJ", "KJ", "did you mean 'kJ'?", EINVAL},
    {"total >= -5kJ", "-5kJ", "negative", ERANGE},
    {"total >= 0J", "0J", "above 0", ERANGE},
    {"total >= 0.0000001J", "0.0000001J", "at least 0.000001 J", ERANGE},
    {"total >= ", "", "an amount is missing", EINVAL},
    {"total >= nan", "nan", "an amount is missing", EINVAL},
    {"total >= 0x10J", "0x10J", "decimal", EINVAL},
    {"total >= 1e999J", "1e999J", "out of range", ERANGE},
    {"total = 5kJ", "= 5kJ", ">=, every, > or <", EINVAL},
    {"pakcage >= 5kJ", "pakcage", "did you mean 'package'?", EINVAL},
    {"total < 5kJ", "kJ", "only grows", EINVAL},
    {"total > 80C", "C", "energy (J, mJ", EINVAL},
    {"total every 5W", "W", "'every' counts", EINVAL},
    {"total >= 5kJ for 10s", "for 10s", "needs a level", EINVAL},
    {"total every 5kJ hysteresis 1J", "hysteresis 1J", "needs a level", EINVAL},
    {"node > 600W for 10", "10", "ms, s, m or h", EINVAL},
    {"node > 600W for 1s for 2s", "for 2s", "already", EINVAL},
    {"node > 600W hysteresis 600W", "600W", "below the level", ERANGE},
    {"node > 600W and", "and", "':' and actions", EINVAL},
    {"total >= 5kJ :", "", "unknown action: log", EINVAL},
    {"total >= 5kJ : explode", "explode", "exec=COMMAND", EINVAL},
    {"total >= 5kJ : log, log", "log", "already", EINVAL},
    {"total >= 5kJ : log term", "term", "','", EINVAL},
    {"total >= 5kJ : signal=USR3", "USR3", "USR1, USR2, TERM", EINVAL},
    {"total >= 5kJ : signal=USR1@job", "job", "@step", EINVAL},
    {"total >= 5kJ : exec= ", "", "a command is missing", EINVAL},
    {"total >= 5kJ : term, signal=KILL", "signal=KILL", "itself", EINVAL},
    {"job power > 5kW", "power", "a job knows what its nodes have used, 'job total", EINVAL},
    {"job total > 600W", "W", "a power is known on each node", EINVAL},
    {"step total < 5", "", "a power is known on each node", EINVAL},
    {"step >= 5kJ", ">= 5kJ", "a quantity is missing: 'step total", EINVAL},
    {"job total >= 5kJ : signal=USR1@step", "step", "for all its steps", EINVAL},
    {"node node total >= 5kJ", "total", "a condition is expected", EINVAL},
};

/* Check that the part above the caret begins so. */
static void assert_marked(const char *marked)
{
    const char *text = strchr(why.text, '\n') + 1, *end = strchr(text, '\n');
    const char *shown = text + strspn(end + 1, " ");

    assert_string_equal(end + 1 + (shown - text), "^");
    assert_true((size_t)(end - shown) >= strlen(marked));
    assert_memory_equal(shown, marked, strlen(marked));
}

TEST(errors_mark_the_place)
{
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct limit got = {.text = "untouched"};

        fail_if(limit_parse(bad[i].text, &got, &why) != -1 || errno != bad[i].code ||
                    strcmp(got.text, "untouched") != 0 || !strstr(why.text, bad[i].said),
                "'%s': errno %d, '%s'", bad[i].text, errno, why.text);
        assert_marked(bad[i].marked);
    }
}

/* Each character before the caret counts once, even if it has several bytes. */
TEST(the_caret_counts_characters)
{
    struct limit got;

    assert_fails_with(EINVAL, "\n              ^", limit_parse("a:::°°° >= 5x", &got, &why));
}

TEST(long_texts_show_the_place)
{
    char text[512];
    struct limit got;

    snprintf(text, sizeof text, "a:::%0150d >= 5parsecs", 7);
    assert_fails_with(EINVAL, "00007 >= 5parsecs\n", limit_parse(text, &got, &why));
    snprintf(text, sizeof text, "%0511d", 7);
    assert_fails(ENAMETOOLONG, limit_parse(text, &got, &why));
}

static const struct {
    const char *text;
    enum apapi_kind kind;
    const char *marked, *said; /* NULL: the threshold fits */
} of_kinds[] = {
    {"a:::e >= 5kJ", APAPI_KIND_ENERGY, NULL, NULL},
    {"a:::e every 5 kJ", APAPI_KIND_POWER, NULL, NULL},
    {"a:::e > 5C", APAPI_KIND_COUNT, NULL, NULL},
    {"a:::e > 5C", APAPI_KIND_TEMPERATURE, NULL, NULL},
    {"  a:::e > 5C : log", APAPI_KIND_ENERGY, "C",
     "this event is of energy: J, mJ, kJ, MJ, GJ, Wh, kWh, MWh, or as a level W, mW, kW, MW"},
    {"a:::e > 5W", APAPI_KIND_TEMPERATURE, "W", "this event is of temperature: °C, C"},
    {"a:::e > 5W", APAPI_KIND_FREQUENCY, "W", "without a unit"},
    {"a:::e every 5", APAPI_KIND_UTILIZATION, "5", "it has no total"},
};

TEST(units_and_conditions_of_kinds)
{
    for (size_t i = 0; i < COUNT_OF(of_kinds); i++) {
        struct limit got;

        print_message("# '%s', kind %d\n", of_kinds[i].text, (int)of_kinds[i].kind);
        assert_parsed(of_kinds[i].text, &got);
        if (of_kinds[i].said) {
            assert_fails_with(EINVAL, of_kinds[i].said,
                              limit_check_kind(&got, of_kinds[i].kind, &why));
            assert_marked(of_kinds[i].marked);
        } else {
            assert_int_equal(limit_check_kind(&got, of_kinds[i].kind, NULL), 0);
        }
    }
}

TEST(lists)
{
    static struct limit_list list;

    assert_int_equal(limit_list_parse(&list, "total >= 5kJ : term\n\n  \ngpu > 1kW\n", NULL), 0);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.limits[1].text, "gpu > 1kW");
    assert_fails(EEXIST, limit_list_parse(&list, "dram > 1W\ntotal >= 5000 J", NULL));
    assert_int_equal(list.count, 3);
    for (int i = 3; i < LIMITS_MAX; i++) {
        char text[32];

        snprintf(text, sizeof text, "total >= %d kJ", 10 + i);
        assert_int_equal(limit_list_add(&list, text, NULL), 0);
    }
    assert_fails_with(E2BIG, "more than 64", limit_list_add(&list, "total >= 1J", &why));
}
