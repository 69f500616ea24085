/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/limit.h"

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
        {"5kJ,terminate", "expected warn=N%", "      ^"},
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
    assert_int_equal(list.count, asked + 2); /* with its warning */
    assert_string_equal(found->text, amount);
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
    assert_site(site, "debug", "normal", false, "1kWh", "USR1"); /* the limit is the smaller one */
    assert_site(site, "big", "long", true, "50kWh", "");
    assert_site(site, "big", "long", false, "50kWh", "");
    assert_site(site, "debug", "long", true, "1kWh", "USR1");
    assert_site(site, "free", "", true, NULL, "");
    assert_site(site, "free", "", false, "2kWh", "TERM");
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
    assert_site((struct limit_site){0}, "debug", "normal", false, NULL, "");
    assert_site((struct limit_site){.standard = "3kJ"}, "debug", "normal", true, NULL, "");
    assert_site((struct limit_site){.standard = "3kJ"}, "debug", "normal", false, "3kJ", "TERM");
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

/* --- the budget of a job ---------------------------------------------------------------------- */

#define S UINT64_C(1000000000)

/* @param elapsed_s, total_j  of the step on the node */
static void report(struct limit_sum *job, const char *node, const char *step, double elapsed_s,
                   double total_j, double now_s)
{
    const struct limit_report what = {1, (uint64_t)(elapsed_s * S), total_j, false, 0};

    assert_int_equal(limit_sum_report(job, node, step, &what, (uint64_t)(now_s * S)), 0);
}

static void end(struct limit_sum *job, const char *node, const char *step, double elapsed_s,
                double total_j, double now_s)
{
    const struct limit_report what = {1, (uint64_t)(elapsed_s * S), total_j, true, 0};

    limit_sum_report(job, node, step, &what, (uint64_t)(now_s * S));
}

static double total_at(struct limit_sum *job, double now_s)
{
    return limit_sum_total_j(job, (uint64_t)(now_s * S));
}

#define assert_total(job, now_s, joules)                                                           \
    do {                                                                                           \
        double total_j = total_at(job, now_s);                                                     \
        if (fabs(total_j - (joules)) > 1e-6) {                                                     \
            fail_msg("%g J, not %g J", total_j, (double)(joules));                                 \
        }                                                                                          \
    } while (0)

TEST(who_begins_late_leads_from_the_end_of_the_other)
{
    struct limit_sum job = {.silent_ns = 3 * S};

    report(&job, "n1", "1.0", 4, 400, 4);
    end(&job, "n1", "1.0", 5, 500, 5);
    report(&job, "n1", "1.1", 4, 400, 8); /* it began at 4, and is heard for the first time */
    assert_total(&job, 8, 800);
    limit_sum_clear(&job);
}

TEST(a_silent_leader)
{
    struct limit_sum job = {.silent_ns = 3 * S};

    report(&job, "n1", "1.0", 1, 100, 1);
    report(&job, "n1", "1.0", 2, 200, 2);
    assert_total(&job, 10, 1000); /* it counts as drawing its latest power */
    report(&job, "n1", "1.1", 1, 100, 11);
    report(&job, "n1", "1.1", 2, 200, 12);
    assert_total(&job, 12, 1200); /* another one is heard and leads */
    report(&job, "n1", "1.1", 4, 600, 14);
    assert_total(&job, 14, 1600);
    limit_sum_clear(&job);
}

TEST(unknown_energy_does_not_lead)
{
    struct limit_sum job = {.silent_ns = 3 * S};

    report(&job, "n1", "batch", 1, NAN, 1);
    report(&job, "n1", "1.0", 1, 100, 2);
    assert_total(&job, 2, 100);
    end(&job, "n1", "batch", 2, NAN, 2);
    assert_total(&job, 2, 100);
    limit_sum_clear(&job);
}

#define STEPS 6
#define SECONDS 60

/* Steps of constant power that begin and end at any second, on one node. */
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
                if (now > begin[i] && now < until[i]) {
                    report(&job, "n1", step, elapsed_s, power_w * elapsed_s, now);
                } else if (now == until[i]) {
                    end(&job, "n1", step, elapsed_s, power_w * elapsed_s, now);
                    limit_sum_end_step(&job, step, now * S);
                }
            }
            truth_j += measured ? power_w : 0;
            assert_total(&job, now, truth_j);
        }
        limit_sum_clear(&job);
    }
}

/* The others go on. */
TEST(a_node_too_many_does_not_count)
{
    const struct limit_report what = {1, S, 50, false, 0};
    struct limit_sum job = {.silent_ns = 3 * S, .most = 2};

    report(&job, "n1", "1.0", 1, 100, 1);
    report(&job, "n2", "1.0", 1, 100, 1);
    assert_int_equal(limit_sum_report(&job, "n3", "1.0", &what, S), -1);
    assert_int_equal(errno, ENOSPC);
    assert_total(&job, 1, 200);
    report(&job, "n1", "1.0", 2, 150, 2);
    assert_total(&job, 2, 250);
    limit_sum_clear(&job);
}

/* --- the sum of the nodes --------------------------------------------------------------------- */

static void report_node(struct limit_sum *sum, const char *node, uint64_t run, double elapsed_s,
                        double total_j, double now_s)
{
    const struct limit_report what = {run, (uint64_t)(elapsed_s * S), total_j, false, 0};

    assert_int_equal(limit_sum_report(sum, node, "1.0", &what, (uint64_t)(now_s * S)), 0);
}

static void end_node(struct limit_sum *sum, const char *node, double total_j)
{
    const struct limit_report record = {.total_j = total_j, .last = true};

    assert_int_equal(limit_sum_report(sum, node, "1.0", &record, 3 * S), 0);
}

static double sum_at(struct limit_sum *sum, double now_s)
{
    while (limit_sum_look(sum, (uint64_t)(now_s * S))) {
    }
    return limit_sum_total_j(sum, (uint64_t)(now_s * S));
}

#define assert_sum(sum, now_s, joules) assert_true(fabs(sum_at(sum, now_s) - (joules)) < 1e-6)

TEST(late_and_repeated_reports)
{
    struct limit_sum sum = {.silent_ns = 3 * S};

    report_node(&sum, "n1", 1, 3, 300, 3);
    report_node(&sum, "n1", 1, 2, 200, 3.1); /* overtaken */
    report_node(&sum, "n1", 1, 3, 300, 3.2); /* twice */
    assert_sum(&sum, 4, 300);
    report_node(&sum, "n1", 1, 5, 500, 5);
    assert_sum(&sum, 5, 500);
    limit_sum_clear(&sum);
}

TEST(a_node_whose_step_has_ended_is_not_silent)
{
    struct limit_sum sum = {.silent_ns = 3 * S};

    report_node(&sum, "n1", 1, 2, 250, 2);
    report_node(&sum, "n2", 1, 2, 100, 2);
    end_node(&sum, "n1", 270);
    end_node(&sum, "n2", NAN); /* no record: what it has reported */
    assert_sum(&sum, 100, 370);
    report_node(&sum, "n1", 1, 3, 900, 101); /* on its way when the record came */
    assert_sum(&sum, 101, 370);
    assert_int_equal(sum.ended, 2);
    end_node(&sum, "n3", 30); /* too short for a report */
    assert_sum(&sum, 101, 400);
    limit_sum_clear(&sum);
}

TEST(a_node_that_measures_again)
{
    struct limit_sum sum = {.silent_ns = 3 * S};

    report_node(&sum, "n1", 5, 10, 1000, 10);
    report_node(&sum, "n1", 6, 1, 150, 12);
    assert_sum(&sum, 12, 1150);
    report_node(&sum, "n1", 5, 11, 1100, 12.1); /* of the run before */
    assert_sum(&sum, 12.1, 1150);
    limit_sum_clear(&sum);
}

TEST(unknown_energy_is_not_zero)
{
    struct limit_sum sum = {.silent_ns = 3 * S};

    report_node(&sum, "n1", 1, 1, NAN, 1);
    report_node(&sum, "n2", 1, 1, 70, 1);
    assert_int_equal(limit_sum_known(&sum), 1);
    assert_sum(&sum, 20, 70 + 19 * 70.0); /* n1 is silent, too: it adds nothing */
    report_node(&sum, "n1", 1, 2, 40, 21);
    report_node(&sum, "n2", 1, 2, 60, 21); /* a meter has vanished: what it has counted stays */
    assert_sum(&sum, 21, 110);
    assert_int_equal(limit_sum_known(&sum), 2);
    limit_sum_clear(&sum);
}

static struct limit_list list;

static void watch_one(const char *text)
{
    struct limit budget;

    assert_int_equal(limit_parse_budget(text, &budget, NULL), 0);
    limit_list_add_budget(&list, &budget, LIMIT_STEP);
}

static size_t look(double sum_j, uint64_t now_ns, struct limit *crossed[LIMITS_ROOM])
{
    return limit_list_look(&list, LIMIT_STEP, sum_j, now_ns, crossed);
}

TEST(a_leap_over_two_budgets)
{
    struct limit *crossed[LIMITS_ROOM];

    list = (struct limit_list){.count = 0};
    watch_one("3kJ,warn=80%");
    watch_one("1kJ,warn=80%,log");
    assert_int_equal(look(0, 10 * S, crossed), 0);
    assert_int_equal(look(4000, 14 * S, crossed), 2);
    assert_string_equal(crossed[0]->text, "1kJ"); /* the lower one first */
    assert_false(crossed[0]->warning || crossed[1]->warning);
    assert_int_equal(crossed[0]->state.crossing.time_ns, 11 * S);
    assert_int_equal(crossed[1]->state.crossing.time_ns, 13 * S);
    assert_int_equal(look(9000, 15 * S, crossed), 0);
}

/* Places that the user's limits leave are there for two budgets with their warnings. */
TEST(a_full_list_has_room_for_budgets)
{
    struct limit *crossed[LIMITS_ROOM];
    struct apapi_error err;
    char text[32];

    list = (struct limit_list){.count = 0};
    for (int i = 1; i <= LIMITS_MAX; i++) {
        snprintf(text, sizeof text, "step total >= %d MJ", i);
        assert_int_equal(limit_list_add(&list, text, &err), 0);
    }
    watch_one("1kJ,warn=80%");
    watch_one("2kJ,warn=80%");
    assert_int_equal(list.count, LIMITS_ROOM);
    assert_int_equal(look(0, 10 * S, crossed), 0);
    assert_int_equal(look(2000, 11 * S, crossed), 2);
    assert_int_equal(look(1e9, 12 * S, crossed), LIMITS_MAX);
}

#define NODES 5
#define HISTORY_S 200

/* Nodes with constant power whose reports are lost, repeated and swapped. */
struct history {
    struct limit_sum sum;
    double power_w[NODES];
    struct limit_report kept[NODES]; /* comes once more, later */
    size_t crossed;
};

static void history_step(struct history *history, struct random *random, int second)
{
    struct limit *crossed[LIMITS_ROOM];
    double truth_j = 0, sum_j;

    for (size_t i = 0; i < NODES; i++) {
        const struct limit_report now = {
            .run = 1, .elapsed_ns = (uint64_t)second * S, .total_j = history->power_w[i] * second};
        const char name[] = {'n', (char)('1' + i), '\0'};

        truth_j += now.total_j;
        if (second == 1 || random_below(random, 4) > 0) {
            limit_sum_report(&history->sum, name, "1.0", &now, (uint64_t)second * S);
        }
        if (history->kept[i].run && random_below(random, 3) == 0) {
            limit_sum_report(&history->sum, name, "1.0", &history->kept[i], (uint64_t)second * S);
        }
        history->kept[i] = now;
    }
    while (limit_sum_look(&history->sum, (uint64_t)second * S)) {
    }
    sum_j = limit_sum_total_j(&history->sum, (uint64_t)second * S);
    assert_true(sum_j <= truth_j * (1 + 1e-9)); /* with constant power, nothing is invented */
    for (size_t n = look(sum_j, (uint64_t)second * S, crossed); n; n--) {
        assert_true(sum_j >= 1e4 || crossed[n - 1]->warning);
        history->crossed++;
    }
}

TEST(random_histories)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct history history = {.sum.silent_ns = 3 * S};
        struct random random = {seed};

        list = (struct limit_list){.count = 0};
        watch_one("10kJ,warn=50%");
        for (size_t i = 0; i < NODES; i++) {
            history.power_w[i] = 20 + (double)random_below(&random, 400);
        }
        for (int second = 1; second <= HISTORY_S; second++) {
            history_step(&history, &random, second);
        }
        assert_int_equal(history.crossed, 2); /* at least 20 kJ are drawn */
        limit_sum_clear(&history.sum);
    }
}
