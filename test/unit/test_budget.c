/* SPDX-License-Identifier: BSD-3-Clause */
#include "budget/budget.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

#include "budget/budget_site.h"

#include "unit/unit.h"

static void test_good_texts(void **state)
{
    static const struct {
        const char *text, *kept, *signal;
        double amount_j, warn;
        bool whole_job, acts;
    } good[] = {
        {"5kWh", "5kWh", "TERM", 1.8e7, NAN, false, false},
        {"3kJ,warn=50%", "3kJ", "TERM", 3000, 0.5, false, false},
        {"2 MJ, warn=80 %, signal=USR1", "2 MJ", "USR1", 2e6, 0.8, false, true},
        {"100J,signal=SIGUSR2,scope=job", "100J", "USR2", 100, NAN, true, true},
        {"100J,term,scope=step", "100J", "TERM", 100, NAN, false, true},
        {"100J,signal=term", "100J", "TERM", 100, NAN, false, true},
        {"0.5Wh,log", "0.5Wh", "", 1800, NAN, false, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct budget budget;
        struct apapi_error err = {""};

        if (budget_parse(good[i].text, &budget, &err)) {
            fail_msg("'%s': %s", good[i].text, err.text);
        }
        assert_string_equal(budget.text, good[i].kept);
        assert_true(fabs(budget.amount_j - good[i].amount_j) <= 1e-9 * good[i].amount_j);
        assert_string_equal(budget_signal_name(&budget), good[i].signal);
        assert_true(budget.whole_job == good[i].whole_job && budget.acts == good[i].acts);
        assert_true(isnan(good[i].warn) ? isnan(budget.warn)
                                        : fabs(budget.warn - good[i].warn) < 1e-12);
    }
}

static void test_bad_texts_show_the_place(void **state)
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

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct budget budget = {.amount_j = 7};
        struct apapi_error err = {""};

        assert_int_equal(budget_parse(bad[i].text, &budget, &err), -1);
        assert_true(errno == EINVAL || errno == ERANGE);
        assert_float_equal(budget.amount_j, 7, 0); /* not touched */
        if (!strstr(err.text, bad[i].says) || !strrchr(err.text, '\n') ||
            strcmp(strrchr(err.text, '\n') + 1, bad[i].place) != 0) {
            fail_msg("'%s': %s", bad[i].text, err.text);
        }
    }
}

static const struct budget_place debug = {"debug", "normal"}, big = {"big", "long"},
                                 unknown = {"", ""};

static void assert_site(const struct budget_site *site, const struct budget_place *place,
                        bool asked, const char *amount, const char *signal)
{
    struct budget found = BUDGET_NONE;

    if (!amount) {
        assert_false(budget_site_find(site, place, asked, &found));
        return;
    }
    assert_true(budget_site_find(site, place, asked, &found));
    assert_string_equal(found.text, amount);
    assert_string_equal(budget_signal_name(&found), signal);
    assert_float_equal(found.warn, BUDGET_SITE_WARN, 0);
}

static void test_limits_of_a_site(void **state)
{
    const struct budget_site site = {.max = "20kWh, debug:1kWh, qos=long: 50kWh,free:none",
                                     .standard = "2kWh,big:100kWh",
                                     .action = "term,debug:signal=USR1,qos=long:log"};

    (void)state;
    assert_site(&site, &unknown, true, "20kWh", "TERM");
    assert_site(&site, &unknown, false, "2kWh", "TERM");
    assert_site(&site, &debug, false, "1kWh", "USR1"); /* the limit is the smaller one */
    assert_site(&site, &big, true, "50kWh", "");
    assert_site(&site, &big, false, "50kWh", "");
    assert_site(&site, &(struct budget_place){"debug", "long"}, true, "1kWh", "USR1");
    assert_site(&site, &(struct budget_place){"free", ""}, true, NULL, "");
    assert_site(&site, &(struct budget_place){"free", ""}, false, "2kWh", "TERM");
    assert_true(budget_site_varies(&site));
    assert_true(isinf(budget_site_most_j(&site)));
}

static void test_the_most_of_a_site(void **state)
{
    (void)state;
    assert_true(isinf(budget_site_most_j(&(struct budget_site){0})));
    assert_true(isinf(budget_site_most_j(&(struct budget_site){.max = "debug:1kWh"})));
    assert_float_equal(budget_site_most_j(&(struct budget_site){.max = "1kJ"}), 1000, 0);
    assert_float_equal(budget_site_most_j(&(struct budget_site){.max = "1kJ,big:3kJ"}), 3000, 0);
    assert_false(budget_site_varies(&(struct budget_site){.max = "1kJ"}));
    assert_site(&(struct budget_site){0}, &debug, false, NULL, "");
    assert_site(&(struct budget_site){.standard = "3kJ"}, &debug, true, NULL, "");
    assert_site(&(struct budget_site){.standard = "3kJ"}, &debug, false, "3kJ", "TERM");
}

static void test_bad_limits(void **state)
{
    static const char *const amounts[] = {"",           "many",       "5W",          "5kJ,6kJ",
                                          "5kJ,debug:", "debug:many", "5kJ,,big:6kJ"};
    static const char *const actions[] = {"", "kill", "signal=USR3", "term,log", "term,debug:"};
    struct apapi_error err;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(amounts); i++) {
        assert_int_equal(budget_site_check_amounts(amounts[i], &err), -1);
        assert_null(strchr(err.text, '\n'));
    }
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        assert_int_equal(budget_site_check_actions(actions[i], &err), -1);
    }
    assert_int_equal(budget_site_check_amounts("20kWh, debug:1kWh,qos=long:none", &err), 0);
    assert_int_equal(budget_site_check_actions("log,debug:signal=USR1", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_texts),       cmocka_unit_test(test_bad_texts_show_the_place),
        cmocka_unit_test(test_limits_of_a_site), cmocka_unit_test(test_the_most_of_a_site),
        cmocka_unit_test(test_bad_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
