/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/limit.h"

#include <ctype.h>
#include <signal.h>

#include "base/random.h"
#include "limit/evaluate.h"
#include "limit/totals.h"
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
        {"100J,term,scope=step", "100J", "TERM", "term", 100, 0, false},
        {"0.5Wh,log", "0.5Wh", "", "log", 1800, 0, false},
    };

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct limit budget;
        char actions[64];

        fail_if(limit_parse_budget(good[i].text, &budget, &why), "'%s': %s", good[i].text,
                why.text);
        assert_string_equal(budget.text + strlen("budget of "), good[i].kept);
        assert_string_equal(budget.meter, "total");
        assert_true(budget.scope == LIMIT_STEP && budget.condition == APAPI_OVERFLOW_TOTAL);
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
        const char *text, *says, *place; /* the line with the caret */
    } bad[] = {
        {"", "an amount is missing, such as 5kJ\n", "  ^"},
        {"5parsecs", "unknown unit 'parsecs': J, mJ, kJ, MJ, GJ, Wh, kWh, MWh", "   ^"},
        {"5kwh", "did you mean 'kWh'", "   ^"},
        {"600W", "a budget is an energy: J, mJ", "     ^"},
        {"-5kJ", "a negative amount", "  ^"},
        {"0J", "out of bounds", "  ^"},
        {"5kJ warn=5%", "',' or the end", "      ^"},
        {"5kJ,warn=100%", "expected a percentage", "           ^"},
        {"5kJ,signal=USR3", "unknown signal", "             ^"},
        {"5kJ,terminate", "expected warn=N%", "      ^"},
        {"5kJ,warn=5%,warn=6%", "this is there already", "              ^"},
        {"5kJ,scope=user", "expected step or job", "            ^"},
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct limit budget = {.amount = 7};

        assert_int_equal(limit_parse_budget(bad[i].text, &budget, &why), -1);
        assert_true(errno == EINVAL || errno == ERANGE);
        assert_float_equal(budget.amount, 7, 0); /* it was not set */
        assert_contains(why.text, bad[i].says);
        assert_string_equal(strrchr(why.text, '\n') + 1, bad[i].place);
    }
}

static void assert_site(struct limit_site site, const char *partition, const char *qos, bool asked,
                        const char *amount, const char *signal)
{
    static struct limit_list list;
    const struct limit *found = &list.limits[asked];

    list = (struct limit_list){.count = asked};
    list.limits[0].budget = asked;
    site.partition = partition;
    site.qos = qos;
    limit_list_add_site(&list, LIMIT_STEP, &site);
    if (!amount) {
        assert_int_equal(list.count, asked);
        return;
    }
    assert_int_equal(list.count, asked + 2); /* the budget and its warning */
    assert_string_equal(found->text + strlen("budget of "), amount);
    assert_string_equal(limit_first_signal(found), signal);
    assert_float_equal(found->warn, LIMIT_SITE_WARN, 0);
}

TEST(limits_of_a_site)
{
    const struct limit_site site = {.max = "20kWh, debug:1kWh, qos=long: 50kWh,free:none",
                                    .standard = "2kWh,big:100kWh",
                                    .action = "term,debug:signal=USR1,qos=long:log"};

    assert_site(site, "", "", true, "20kWh", "TERM");
    assert_site(site, "", "", false, "2kWh", "TERM");
    assert_site(site, "debug", "normal", false, "1kWh", "USR1"); /* the smaller limit counts */
    assert_site(site, "big", "long", true, "50kWh", "");
    assert_site(site, "big", "long", false, "50kWh", "");
    assert_site(site, "debug", "long", true, "1kWh", "USR1");
    assert_site(site, "free", "", true, NULL, "");
    assert_site(site, "free", "", false, "2kWh", "TERM");
    assert_site((struct limit_site){.standard = "3kJ"}, "debug", "normal", true, NULL, "");
    assert_true(limit_site_varies(&site));
    assert_true(isinf(limit_site_most_j(&site)));
    assert_false(limit_site_varies(&(struct limit_site){.max = "1kJ"}));
    assert_true(isinf(limit_site_most_j(&(struct limit_site){.max = "debug:1kWh"})));
    assert_float_equal(limit_site_most_j(&(struct limit_site){.max = "1kJ,big:3kJ"}), 3000, 0);
}

TEST(bad_limits)
{
    static const char *const amounts[] = {
        "",           "many",         "5W",     "5kJ,6kJ",    "5kJ,debug:",
        "debug:many", "5kJ,,big:6kJ", "10J:5J", "debug:1kWh", "9J,a:2J,qos=b:1J,a:3J"};
    static const char *const actions[] = {"", "kill", "signal=USR3", "term,log", "term,debug:"};
    static struct config config;
    struct limit_site site;

    for (size_t i = 0; i < COUNT_OF(amounts); i++) {
        assert_int_equal(limit_site_check(amounts[i], false, NULL, &why), -1);
        assert_null(strchr(why.text, '\n'));
    }
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        assert_int_equal(limit_site_check(actions[i], true, NULL, &why), -1);
    }
    assert_int_equal(limit_site_check("20kWh, debug:1kWh,qos=long:none", false, NULL, &why), 0);
    assert_int_equal(limit_site_check("log,debug:signal=USR1", true, NULL, &why), 0);
    assert_int_equal(limit_site_check("5J,debug:2J,x:none", false, "5J,debug:2J", &why), 0);
    assert_int_equal(limit_site_check("5J,qos=x:8J", false, "6J,x:9J", &why), -1);
    assert_int_equal(limit_site_check("5J,x:8J", false, "6J,x:9J", &why), 0);
    config_defaults(&config);
    config_parse(&config, "",
                 strdup("[budget]\nmax_budget=9J,x:log\ndefault_budget=8J\nbudget_action=term,9J"),
                 &(const struct config_sink){0});
    site = limit_site_of(&config);
    assert_true(!site.max && !site.action); /* a bad line has no effect */
    assert_string_equal(site.standard, "8J");
    config_clear(&config);
}

/* --- the sum of steps and nodes --------------------------------------------------------------- */

#define S UINT64_C(1000000000)

static void assert_total(struct limit_sum *sum, double now_s, double joules, const char *what)
{
    const uint64_t now_ns = (uint64_t)(now_s * S);
    double total_j;

    while (limit_sum_look(sum, now_ns)) {
    }
    total_j = (double)limit_sum_value(sum, now_ns).value;
    fail_if(fabs(total_j - joules) > 1e-6, "%s: at %g s %g J, not %g J", what, now_s, total_j,
            joules);
}

/* @param run  0: the report is a record @param elapsed_s, total_j  of the step on the node */
static int report(struct limit_sum *sum, const char *node, const char *step, uint64_t run,
                  double elapsed_s, double total_j, double now_s, bool last)
{
    const struct limit_report what = {run, (uint64_t)(elapsed_s * S), total_j, last, 0, 0};

    return limit_sum_report(sum, node, step, &what, (uint64_t)(now_s * S));
}

/*
 * "NOW NODE STEP ELAPSED JOULES" reports; "end", "record", "-AGE" or a number of a run may follow.
 * "NOW = JOULES" is the expected sum; "no NODE" is a node too many. Nodes are silent after 3 s.
 */
static const struct {
    const char *what;
    size_t most; /* nodes; 0: any */
    const char *reports;
    size_t known, ended;
} sums[] = {
    {"who begins late leads from the end of the other", 0,
     "4 n1 1.0 4 400; 5 n1 1.0 5 500 end; 8 n1 1.1 4 400; 8 = 800", 1, 0},
    {"a silent leader counts as drawing its latest power, until another one is heard", 0,
     "1 n1 1.0 1 100; 2 n1 1.0 2 200; 10 = 1000; 11 n1 1.1 1 100; 12 n1 1.1 2 200; 12 = 1200; "
     "14 n1 1.1 4 600; 14 = 1600",
     1, 0},
    {"a report that is passed on again does not say that its node is heard", 0,
     "1 n1 1.0 1 100; 2 n1 1.0 2 200; 5 n1 1.0 2 200 -3; 10 n1 1.0 2 200 -8; 10 = 1000; "
     "11 n1 1.0 11 1100 -0.5; 11 = 1100",
     1, 0},
    {"a report that is passed on late is of its own time", 0,
     "2 n1 1.0 2 200; 2.2 n1 1.0 2.2 220 end; 3.1 n1 1.1 0.9 90 -1.1; 3.1 = 220; "
     "4 n1 1.1 2.9 290; 4 = 400; 5 n1 1.1 2.9 380 end; 5 = 490",
     1, 2},
    {"unknown energy does not lead", 0,
     "1 n1 batch 1 nan; 2 n1 1.0 1 100; 2 = 100; 2 n1 batch 2 nan end; 2 = 100", 1, 0},
    {"a node too many does not count, the others go on", 2,
     "1 n1 1.0 1 100; 1 n2 1.0 1 100; 1 no n3; 1 = 200; 2 n1 1.0 2 150; 2 = 250", 2, 0},
    {"late and repeated reports", 0,
     "3 n1 1.0 3 300; 3.1 n1 1.0 2 200; 3.2 n1 1.0 3 300; 4 = 300; 5 n1 1.0 5 500; 5 = 500", 1, 0},
    /* n2 has no record; then a late report arrives, and a step of n3 was too short for reports */
    {"a node whose step has ended is not silent", 0,
     "2 n1 1.0 2 250; 2 n2 1.0 2 100; 3 n1 1.0 0 270 record; 3 n2 1.0 0 nan record; 100 = 370; "
     "101 n1 1.0 3 900; 101 = 370; 3 n3 1.0 0 30 record; 101 = 400",
     3, 3},
    {"a node that measures again", 0,
     "10 n1 1.0 10 1000 5; 12 n1 1.0 1 150 6; 12 = 1150; 12.1 n1 1.0 11 1100 5; 12.1 = 1150", 1, 0},
    {"unknown energy is not zero: a silent node adds nothing", 0,
     "1 n1 1.0 1 nan; 1 n2 1.0 1 70; 20 = 1400", 1, 0},
    {"what a meter that has vanished has counted stays", 0,
     "1 n1 1.0 1 nan; 1 n2 1.0 1 70; 21 n1 1.0 2 40; 21 n2 1.0 2 60; 21 = 110", 2, 0},
};

TEST(reports_are_added_up)
{
    for (size_t i = 0; i < COUNT_OF(sums); i++) {
        struct limit_sum sum = {.silent_ns = 3 * S, .most = sums[i].most};
        char copy[512], *rest = copy, *text;

        snprintf(copy, sizeof copy, "%s", sums[i].reports);
        while ((text = strsep(&rest, ";"))) {
            char node[8], step[8], more[8] = "";
            double now_s, elapsed_s = 1, total_j = 1;

            assert_true(sscanf(text, "%lf %7s %7s %lf %lf %7s", &now_s, node, step, &elapsed_s,
                               &total_j, more) >= 3);
            if (strcmp(node, "=") == 0) {
                assert_total(&sum, now_s, atof(step), sums[i].what);
            } else if (strcmp(node, "no") == 0) {
                assert_fails(ENOSPC, report(&sum, step, "1.0", 1, 1, 50, now_s, false));
            } else {
                const struct limit_report what = {
                    .run = *more == 'r'                    ? 0
                           : isdigit((unsigned char)*more) ? strtoul(more, NULL, 10)
                                                           : 1,
                    .elapsed_ns = (uint64_t)(elapsed_s * S),
                    .total_j = total_j,
                    .last = *more == 'e' || *more == 'r',
                    .age_ns = *more == '-' ? (uint64_t)(atof(more + 1) * S) : 0};

                assert_int_equal(limit_sum_report(&sum, node, step, &what, (uint64_t)(now_s * S)),
                                 0);
            }
        }
        assert_int_equal(limit_sum_known(&sum), sums[i].known);
        fail_if(sums[i].ended && sum.ended != sums[i].ended, "%s", sums[i].what);
        limit_sum_clear(&sum);
    }
}

#define STEPS 6
#define SECONDS 60

/* Steps of constant power on one node, which begin and end in any second. */
TEST(random_steps)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct limit_sum job = {.silent_ns = 3 * S};
        struct random random = {seed};
        unsigned begin[STEPS], until[STEPS];
        double truth_j = 0, power_w = 50 + (double)random_below(&random, 300);

        for (size_t i = 0; i < STEPS; i++) {
            begin[i] = (unsigned)random_below(&random, SECONDS - 1);
            until[i] = begin[i] + 1 + (unsigned)random_below(&random, SECONDS - begin[i]);
        }
        for (unsigned now = 1; now <= SECONDS; now++) {
            bool measured = false;

            for (size_t i = 0; i < STEPS; i++) {
                char step[] = {'1', '.', (char)('0' + i), '\0'};
                double elapsed_s = (double)now - begin[i];

                measured |= begin[i] < now && until[i] >= now;
                if (now > begin[i] && now <= until[i]) {
                    report(&job, "n1", step, 1, elapsed_s, power_w * elapsed_s, now,
                           now == until[i]);
                }
                if (now == until[i]) {
                    limit_sum_end_step(&job, step, now * S);
                }
            }
            truth_j += measured ? power_w : 0;
            assert_total(&job, now, truth_j, "steps");
        }
        limit_sum_clear(&job);
    }
}

static struct limit_list list;

static void watch_one(const char *text)
{
    struct limit budget;

    assert_int_equal(limit_parse_budget(text, &budget, NULL), 0);
    limit_list_add_budget(&list, &budget, LIMIT_STEP);
}

static struct limit_sum watched;

static size_t look(double sum_j, uint64_t now_ns, struct limit *crossed[LIMITS_ROOM])
{
    return limit_list_look(&list, LIMIT_STEP,
                           (struct limit_value){sum_j, now_ns, watched.begun_ns, false}, crossed);
}

TEST(a_leap_over_two_budgets)
{
    struct limit *crossed[LIMITS_ROOM];

    list = (struct limit_list){.count = 0};
    watch_one("3kJ,warn=80%");
    watch_one("1kJ,warn=80%,log");
    assert_int_equal(look(0, 10 * S, crossed), 0);
    assert_int_equal(look(0, 13 * S, crossed), 0);        /* no report was heard */
    report(&watched, "n1", "1.0", 1, 2, 4000, 14, false); /* the sum rises from 12 s on */
    assert_int_equal(look(4000, 14 * S, crossed), 2);
    limit_sum_clear(&watched);
    assert_string_equal(crossed[0]->text, "budget of 1kJ"); /* the lower budget comes first */
    assert_false(crossed[0]->warning || crossed[1]->warning);
    assert_int_equal(crossed[0]->state.crossing.time_ns, 12.5 * S);
    assert_int_equal(crossed[1]->state.crossing.time_ns, 13.5 * S);
    assert_int_equal(look(9000, 15 * S, crossed), 0);
}

/* The list keeps room for two budgets with their warnings, however many limits the user has. */
TEST(a_full_list_has_room_for_budgets)
{
    struct limit *crossed[LIMITS_ROOM];
    char text[32];

    list = (struct limit_list){.count = 0};
    for (int i = 1; i <= LIMITS_MAX; i++) {
        snprintf(text, sizeof text, "step total >= %d MJ", i);
        assert_int_equal(limit_list_add(&list, text, &why), 0);
    }
    watch_one("1kJ,warn=80%");
    watch_one("2kJ,warn=80%");
    assert_int_equal(list.count, LIMITS_ROOM);
    assert_int_equal(look(0, 10 * S, crossed), 0);
    assert_int_equal(look(2000, 11 * S, crossed), 2);
    assert_int_equal(look(1e9, 12 * S, crossed), LIMITS_MAX);
}
