/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/limit.h"

#include <signal.h>

#include "unit/unit.h"

TEST(good_texts)
{
    static const struct {
        const char *text, *kept, *signal, *actions;
        double amount_j, warn;
        bool whole_job;
    } good[] = {
        {"5kWh", "5kWh", "TERM", "term", 1.8e7, 0, false},
        {"3kJ,warn=50%", "3kJ", "TERM", "term", 3000, 0.5, false},
        {"2 MJ, warn=80 %, signal=USR1", "2 MJ", "USR1", "signal=USR1", 2e6, 0.8, false},
        {"100J,signal=SIGUSR2,scope=job", "100J", "USR2", "signal=USR2@job", 100, 0, true},
        {"100J,scope=job", "100J", "TERM", "term@job", 100, 0, true},
        {"100J,term,scope=step", "100J", "TERM", "term", 100, 0, false},
        {"100J,signal=term", "100J", "TERM", "term", 100, 0, false},
        {"0.5Wh,log", "0.5Wh", "", "log", 1800, 0, false},
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct limit budget;
        struct apapi_error err = {""};
        char actions[64];

        if (limit_parse_budget(good[i].text, &budget, &err)) {
            fail_msg("'%s': %s", good[i].text, err.text);
        }
        assert_string_equal(budget.text, good[i].kept);
        assert_string_equal(budget.meter, "total");
        assert_true(budget.scope == LIMIT_STEP && budget.condition == LIMIT_TOTAL);
        assert_true(fabs(budget.amount - good[i].amount_j) <= 1e-9 * good[i].amount_j);
        assert_string_equal(limit_first_signal(&budget), good[i].signal);
        limit_actions_text(&budget, actions, sizeof actions);
        assert_string_equal(actions, good[i].actions);
        assert_true(budget.whole_job == good[i].whole_job);
        assert_true(fabs(budget.warn - good[i].warn) < 1e-12);
    }
}

TEST(bad_texts_show_the_place)
{
    static const struct {
        const char *text, *says, *place; /* the caret's line */
    } bad[] = {
        {"", "an amount is missing", "  ^"},
        {"5parsecs", "unknown unit 'parsecs': J, kJ, MJ, Wh, kWh, MWh", "   ^"},
        {"5kwh", "did you mean 'kWh'", "   ^"},
        {"600W", "a budget is an energy: J, kJ", "     ^"},
        {"-5kJ", "a negative amount", "  ^"},
        {"0J", "out of bounds", "  ^"},
        {"1e10MWh", "out of bounds", "  ^"},
        {"5kJ warn=5%", "',' or the end", "      ^"},
        {"5kJ,", "expected warn=N%", "      ^"},
        {"5kJ,wran=5%", "expected warn=N%", "      ^"},
        {"5kJ,warn=80", "expected a percentage", "           ^"},
        {"5kJ,warn=100%", "expected a percentage", "           ^"},
        {"5kJ,signal=USR3", "unknown signal", "             ^"},
        {"5kJ,terminate", "term, log or signal", "      ^"},
        {"5kJ,term,log", "this is there already", "           ^"},
        {"5kJ,warn=5%,warn=6%", "this is there already", "              ^"},
        {"5kJ,scope=user", "expected step or job", "            ^"},
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct limit budget = {.amount = 7};
        struct apapi_error err = {""};

        assert_int_equal(limit_parse_budget(bad[i].text, &budget, &err), -1);
        assert_true(errno == EINVAL || errno == ERANGE);
        assert_float_equal(budget.amount, 7, 0); /* not touched */
        if (!strstr(err.text, bad[i].says) || !strrchr(err.text, '\n') ||
            strcmp(strrchr(err.text, '\n') + 1, bad[i].place) != 0) {
            fail_msg("'%s': %s", bad[i].text, err.text);
        }
    }
}

static const struct limit_place debug = {"debug", "normal"}, big = {"big", "long"},
                                unknown = {"", ""};

static void assert_site(const struct limit_site *site, const struct limit_place *place, bool asked,
                        const char *amount, const char *signal)
{
    struct limit found;

    if (!amount) {
        assert_false(limit_site_find(site, place, asked, &found));
        return;
    }
    assert_true(limit_site_find(site, place, asked, &found));
    assert_string_equal(found.text, amount);
    assert_string_equal(limit_first_signal(&found), signal);
    assert_float_equal(found.warn, LIMIT_SITE_WARN, 0);
}

TEST(limits_of_a_site)
{
    const struct limit_site site = {.max = "20kWh, debug:1kWh, qos=long: 50kWh,free:none",
                                    .standard = "2kWh,big:100kWh",
                                    .action = "term,debug:signal=USR1,qos=long:log"};

    assert_site(&site, &unknown, true, "20kWh", "TERM");
    assert_site(&site, &unknown, false, "2kWh", "TERM");
    assert_site(&site, &debug, false, "1kWh", "USR1"); /* the limit is the smaller one */
    assert_site(&site, &big, true, "50kWh", "");
    assert_site(&site, &big, false, "50kWh", "");
    assert_site(&site, &(struct limit_place){"debug", "long"}, true, "1kWh", "USR1");
    assert_site(&site, &(struct limit_place){"free", ""}, true, NULL, "");
    assert_site(&site, &(struct limit_place){"free", ""}, false, "2kWh", "TERM");
    assert_true(limit_site_varies(&site));
    assert_true(isinf(limit_site_most_j(&site)));
}

TEST(the_most_of_a_site)
{
    assert_true(isinf(limit_site_most_j(&(struct limit_site){0})));
    assert_true(isinf(limit_site_most_j(&(struct limit_site){.max = "debug:1kWh"})));
    assert_float_equal(limit_site_most_j(&(struct limit_site){.max = "1kJ"}), 1000, 0);
    assert_float_equal(limit_site_most_j(&(struct limit_site){.max = "1kJ,big:3kJ"}), 3000, 0);
    assert_false(limit_site_varies(&(struct limit_site){.max = "1kJ"}));
    assert_site(&(struct limit_site){0}, &debug, false, NULL, "");
    assert_site(&(struct limit_site){.standard = "3kJ"}, &debug, true, NULL, "");
    assert_site(&(struct limit_site){.standard = "3kJ"}, &debug, false, "3kJ", "TERM");
}

TEST(bad_limits)
{
    static const char *const amounts[] = {"",           "many",       "5W",          "5kJ,6kJ",
                                          "5kJ,debug:", "debug:many", "5kJ,,big:6kJ"};
    static const char *const actions[] = {"", "kill", "signal=USR3", "term,log", "term,debug:"};
    struct apapi_error err;

    for (size_t i = 0; i < COUNT_OF(amounts); i++) {
        assert_int_equal(limit_site_check(amounts[i], false, &err), -1);
        assert_null(strchr(err.text, '\n'));
    }
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        assert_int_equal(limit_site_check(actions[i], true, &err), -1);
    }
    assert_int_equal(limit_site_check("20kWh, debug:1kWh,qos=long:none", false, &err), 0);
    assert_int_equal(limit_site_check("log,debug:signal=USR1", true, &err), 0);
}
