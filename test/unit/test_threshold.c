/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/limit.h"

#include <signal.h>

#include "unit/unit.h"

static void assert_parsed(const char *text, struct limit *limit)
{
    struct apapi_error err = {""};

    if (limit_parse(text, limit, &err)) {
        fail_msg("'%s': %s", text, err.text);
    }
}

TEST(conditions)
{
    static const struct {
        const char *text, *meter;
        enum limit_condition condition;
        enum limit_unit unit;
        double amount, hysteresis;
        uint64_t hold_ns;
    } good[] = {
        {"total>=5kJ:log", "total", LIMIT_TOTAL, LIMIT_ENERGY, 5000, 0, 0},
        {" gpu > 2 kWh ", "gpu", LIMIT_TOTAL, LIMIT_ENERGY, 7.2e6, 0, 0},
        {"total >= 100", "total", LIMIT_TOTAL, LIMIT_ENERGY, 100, 0, 0},
        {"package every 1kJ", "package", LIMIT_EVERY, LIMIT_ENERGY, 1000, 0, 0},
        {"node > 600W for 10s", "node", LIMIT_ABOVE, LIMIT_POWER, 600, 0, 10000000000},
        {"node >= 0.6kW hysteresis 20W for 1.5s : stamp", "node", LIMIT_ABOVE, LIMIT_POWER, 600, 20,
         1500000000},
        {"dram < 100", "dram", LIMIT_BELOW, LIMIT_POWER, 100, 0, 0},
        {"a:::t:b > 80\302\260C", "a:::t:b", LIMIT_ABOVE, LIMIT_TEMPERATURE, 80, 0, 0},
        {"a:::t > 80C", "a:::t", LIMIT_ABOVE, LIMIT_TEMPERATURE, 80, 0, 0},
        {"nvml:::gpu:load <= 5 %", "nvml:::gpu:load", LIMIT_BELOW, LIMIT_PERCENT, 5, 0, 0},
        {"net:::rx:bytes every 1e6", "net:::rx:bytes", LIMIT_EVERY, LIMIT_PLAIN, 1e6, 0, 0},
        {"perf:::a:cpu=0 >= 12", "perf:::a:cpu=0", LIMIT_TOTAL, LIMIT_PLAIN, 12, 0, 0},
        {"perf:::a > 12 hysteresis 2", "perf:::a", LIMIT_ABOVE, LIMIT_PLAIN, 12, 2, 0},
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct limit got;

        assert_parsed(good[i].text, &got);
        assert_string_equal(got.meter, good[i].meter);
        assert_int_equal(got.condition, good[i].condition);
        assert_int_equal(got.unit, good[i].unit);
        assert_float_equal(got.amount, good[i].amount, 1e-6);
        assert_float_equal(got.hysteresis, good[i].hysteresis, 1e-9);
        assert_int_equal(got.hold_ns, good[i].hold_ns);
    }
}

/* A scope is one only where a quantity follows. */
TEST(scopes)
{
    static const struct {
        const char *text, *meter, *actions;
        enum limit_scope scope;
        enum limit_condition condition;
    } good[] = {
        {"step total >= 5kJ : term", "total", "term", LIMIT_STEP, LIMIT_TOTAL},
        {" job  total every 1kWh", "total", "log", LIMIT_JOB, LIMIT_EVERY},
        {"job total >= 5 : signal=USR1", "total", "signal=USR1@job", LIMIT_JOB, LIMIT_TOTAL},
        {"job total >= 5J : term, stamp", "total", "stamp, term@job", LIMIT_JOB, LIMIT_TOTAL},
        {"node package >= 5kJ", "package", "log", LIMIT_NODE, LIMIT_TOTAL},
        {"node node > 600W", "node", "log", LIMIT_NODE, LIMIT_ABOVE},
        {"node > 600W", "node", "log", LIMIT_NODE, LIMIT_ABOVE},
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct limit got;
        char actions[64];

        assert_parsed(good[i].text, &got);
        limit_actions_text(&got, actions, sizeof actions);
        assert_string_equal(got.meter, good[i].meter);
        assert_string_equal(actions, good[i].actions);
        assert_int_equal(got.scope, good[i].scope);
        assert_int_equal(got.condition, good[i].condition);
    }
}

TEST(actions)
{
    struct limit got;

    assert_parsed("total >= 5kJ", &got);
    assert_int_equal(got.actions, LIMIT_LOG);
    assert_parsed(" total >=  5kJ : stamp, signal=USR1", &got);
    assert_string_equal(got.text, "total >=  5kJ");
    assert_int_equal(got.actions, LIMIT_STAMP | LIMIT_SIGNAL);
    assert_int_equal(got.signal, SIGUSR1);
    assert_false(got.whole_step);
    assert_parsed("total >= 5kJ: signal=SIGINT@step , term", &got);
    assert_int_equal(got.actions, LIMIT_TERM | LIMIT_SIGNAL);
    assert_int_equal(got.signal, SIGINT);
    assert_true(got.whole_step);
    assert_parsed("total >= 5kJ : log, exec= echo a, b : c > d ", &got);
    assert_int_equal(got.actions, LIMIT_LOG | LIMIT_EXEC);
    assert_string_equal(got.command, "echo a, b : c > d");
}

/* The caret stands below the place, and the message says what would be valid. */
static const struct {
    const char *text, *marked, *said;
    int code;
} bad[] = {
    {"", "", "is missing, as in 'total >= 5kJ'", EINVAL},
    {"total >=5parsecs", "parsecs", "J, kJ, MJ, Wh, kWh, W, kW", EINVAL},
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
    {"total > 80C", "C", "energy (J, kJ", EINVAL},
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

TEST(errors_mark_the_place)
{
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct limit got = {.text = "untouched"};
        struct apapi_error err = {""};
        const char *shown, *caret;

        if (limit_parse(bad[i].text, &got, &err) != -1 || errno != bad[i].code ||
            strcmp(got.text, "untouched") != 0 || !strstr(err.text, bad[i].said)) {
            fail_msg("'%s': errno %d, '%s'", bad[i].text, errno, err.text);
        }
        shown = strchr(err.text, '\n');
        caret = shown ? strchr(shown + 1, '\n') : NULL;
        assert_non_null(caret);
        assert_string_equal(caret + strlen(caret) - 1, "^");
        shown += strlen(caret + 1); /* the character above the caret */
        assert_true((size_t)(caret - shown) >= strlen(bad[i].marked));
        assert_memory_equal(shown, bad[i].marked, strlen(bad[i].marked));
    }
}

/* Characters of several bytes before the place count once. */
TEST(the_caret_counts_characters)
{
    struct limit got;
    struct apapi_error err;

    assert_int_equal(limit_parse("a:::°°° >= 5x", &got, &err), -1);
    assert_contains(err.text, "\n              ^");
    assert_null(strstr(err.text, "\n               ^"));
}

TEST(long_texts_show_the_place)
{
    char text[512];
    struct limit got;
    struct apapi_error err;

    snprintf(text, sizeof text, "a:::%0150d >= 5parsecs", 7);
    assert_int_equal(limit_parse(text, &got, &err), -1);
    assert_contains(err.text, "00007 >= 5parsecs\n");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_fails(ENAMETOOLONG, limit_parse(text, &got, &err));
}

static const struct {
    const char *text;
    enum apapi_kind kind;
    const char *marked, *said; /* NULL: it fits */
} of_kinds[] = {
    {"a:::e >= 5kJ", APAPI_KIND_ENERGY, NULL, NULL},
    {"a:::e every 5 kJ", APAPI_KIND_POWER, NULL, NULL},
    {"a:::e > 5C", APAPI_KIND_COUNT, NULL, NULL},
    {"a:::e > 5C", APAPI_KIND_TEMPERATURE, NULL, NULL},
    {"  a:::e > 5C : log", APAPI_KIND_ENERGY, "C",
     "this event is of energy: J, kJ, MJ, Wh, kWh, MWh, or as a level W, kW, MW"},
    {"a:::e > 5W", APAPI_KIND_TEMPERATURE, "W", "this event is of temperature: °C, C"},
    {"a:::e > 5W", APAPI_KIND_FREQUENCY, "W", "without a unit"},
    {"a:::e every 5", APAPI_KIND_UTILIZATION, "5", "it has no total"},
};

/* @return what the caret is under */
static const char *marked_part(const struct apapi_error *err)
{
    const char *text = strchr(err->text, '\n') + 1, *caret = strchr(text, '\n') + 1;

    return text + strspn(caret, " ");
}

TEST(units_and_conditions_of_kinds)
{
    for (size_t i = 0; i < COUNT_OF(of_kinds); i++) {
        struct limit got;
        struct apapi_error err = {""};
        int result;

        assert_parsed(of_kinds[i].text, &got);
        result = limit_check_kind(&got, of_kinds[i].kind, &err);
        if (result != (of_kinds[i].said ? -1 : 0) ||
            (of_kinds[i].said &&
             (!strstr(err.text, of_kinds[i].said) ||
              strncmp(marked_part(&err), of_kinds[i].marked, strlen(of_kinds[i].marked)) != 0))) {
            fail_msg("'%s', kind %d: %s", of_kinds[i].text, (int)of_kinds[i].kind, err.text);
        }
    }
}

TEST(lists)
{
    static struct limit_list list;
    struct apapi_error err;

    assert_int_equal(limit_list_parse(&list, "total >= 5kJ : term\n\n  \ngpu > 1kW\n", &err), 0);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.limits[1].text, "gpu > 1kW");
    assert_fails(EEXIST, limit_list_parse(&list, "dram > 1W\ntotal >= 5000 J", &err));
    assert_int_equal(list.count, 3);
    for (int i = 3; i < LIMITS_MAX; i++) {
        char text[32];

        snprintf(text, sizeof text, "total >= %d kJ", 10 + i);
        assert_int_equal(limit_list_add(&list, text, &err), 0);
    }
    assert_fails(E2BIG, limit_list_add(&list, "total >= 1J", &err));
    assert_contains(err.text, "more than 64");
}
