/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/totals.h"

#include "base/random.h"
#include "limit/evaluate.h"

#include "unit/unit.h"

#define S UINT64_C(1000000000)

static void report(struct limit_sum *sum, const char *node, uint64_t run, double elapsed_s,
                   double total_j, double now_s)
{
    const struct limit_report what = {run, (uint64_t)(elapsed_s * S), total_j, false};

    assert_int_equal(limit_sum_report(sum, node, &what, (uint64_t)(now_s * S)), 0);
}

static double total_at(struct limit_sum *sum, double now_s)
{
    while (limit_sum_look(sum, (uint64_t)(now_s * S))) {
    }
    return limit_sum_total_j(sum, (uint64_t)(now_s * S));
}

#define assert_total(sum, now_s, joules) assert_true(fabs(total_at(sum, now_s) - (joules)) < 1e-6)

TEST(a_node_whose_step_has_ended_is_not_silent)
{
    struct limit_sum sum = {.silent_ns = 3 * S};

    report(&sum, "n1", 1, 2, 250, 2);
    report(&sum, "n2", 1, 2, 100, 2);
    assert_int_equal(limit_sum_end(&sum, "n1", 270), 0);
    assert_int_equal(limit_sum_end(&sum, "n2", NAN), 0); /* no record: what it has reported */
    assert_total(&sum, 100, 370);
    report(&sum, "n1", 1, 3, 900, 101); /* on its way when the record came */
    assert_total(&sum, 101, 370);
    assert_int_equal(sum.ended, 2);
    assert_int_equal(limit_sum_end(&sum, "n3", 30), 0); /* too short for a report */
    assert_total(&sum, 101, 400);
    limit_sum_clear(&sum);
}

TEST(a_node_that_measures_again)
{
    struct limit_sum sum = {.silent_ns = 3 * S};

    report(&sum, "n1", 5, 10, 1000, 10);
    report(&sum, "n1", 6, 1, 150, 12);
    assert_total(&sum, 12, 1150);
    report(&sum, "n1", 5, 11, 1100, 12.1); /* of the run before */
    assert_total(&sum, 12.1, 1150);
    limit_sum_clear(&sum);
}

TEST(unknown_energy_is_not_zero)
{
    struct limit_sum sum = {.silent_ns = 3 * S};

    report(&sum, "n1", 1, 1, NAN, 1);
    report(&sum, "n2", 1, 1, 70, 1);
    assert_int_equal(limit_sum_known(&sum), 1);
    assert_total(&sum, 20, 70 + 19 * 70.0); /* n1 is silent, too: it adds nothing */
    report(&sum, "n1", 1, 2, 40, 21);
    report(&sum, "n2", 1, 2, 60, 21); /* a meter has vanished: what it has counted stays */
    assert_total(&sum, 21, 110);
    assert_int_equal(limit_sum_known(&sum), 2);
    limit_sum_clear(&sum);
}

static struct limit_list list;

static void watch_one(struct limit_watch *watch, const char *text)
{
    struct limit budget;

    if (!watch->limits) {
        list.count = 0;
        *watch = (struct limit_watch){.limits = &list, .scope = LIMIT_STEP};
    }
    assert_int_equal(limit_parse_budget(text, &budget, NULL), 0);
    limit_list_add_budget(&list, &budget, LIMIT_STEP);
}

static bool is_warning(const struct limit_crossed *crossed)
{
    return list.limits[crossed->limit].warning;
}

TEST(a_leap_over_two_budgets)
{
    struct limit_crossed crossed[LIMITS_ROOM];
    struct limit_watch watch = {0};

    watch_one(&watch, "3kJ,warn=80%");
    watch_one(&watch, "1kJ,warn=80%,log");
    assert_int_equal(limit_watch_look(&watch, 0, 10 * S, crossed), 0);
    assert_int_equal(limit_watch_look(&watch, 4000, 14 * S, crossed), 2);
    assert_string_equal(list.limits[crossed[0].limit].text, "1kJ"); /* the lower one first */
    assert_false(is_warning(&crossed[0]) || is_warning(&crossed[1]));
    assert_int_equal(crossed[0].crossing.time_ns, 11 * S);
    assert_int_equal(crossed[1].crossing.time_ns, 13 * S);
    assert_int_equal(limit_watch_look(&watch, 9000, 15 * S, crossed), 0);
}

/* Places that the user's limits leave are there for two budgets with their warnings. */
TEST(a_full_list_has_room_for_budgets)
{
    struct limit_crossed crossed[LIMITS_ROOM];
    struct limit_watch watch = {.limits = &list, .scope = LIMIT_STEP};
    struct apapi_error err;
    char text[32];

    list.count = 0;
    for (int i = 1; i <= LIMITS_MAX; i++) {
        snprintf(text, sizeof text, "step total >= %d MJ", i);
        assert_int_equal(limit_list_add(&list, text, &err), 0);
    }
    watch_one(&watch, "1kJ,warn=80%");
    watch_one(&watch, "2kJ,warn=80%");
    assert_int_equal(list.count, LIMITS_ROOM);
    assert_int_equal(limit_watch_look(&watch, 0, 10 * S, crossed), 0);
    assert_int_equal(limit_watch_look(&watch, 2000, 11 * S, crossed), 2);
    assert_int_equal(limit_watch_look(&watch, 1e9, 12 * S, crossed), LIMITS_MAX);
}

#define NODES 5
#define STEPS 200

/* Nodes with constant power whose reports are lost, repeated and swapped. */
struct history {
    struct limit_sum sum;
    struct limit_watch watch;
    double power_w[NODES];
    struct limit_report kept[NODES]; /* comes once more, later */
    size_t crossed;
};

static void history_step(struct history *history, struct random *random, int second)
{
    struct limit_crossed crossed[LIMITS_ROOM];
    double truth_j = 0, sum_j;

    for (size_t i = 0; i < NODES; i++) {
        const struct limit_report now = {1, (uint64_t)second * S, history->power_w[i] * second,
                                         false};
        const char name[] = {'n', (char)('1' + i), '\0'};

        truth_j += now.total_j;
        if (second == 1 || random_below(random, 4) > 0) {
            limit_sum_report(&history->sum, name, &now, (uint64_t)second * S);
        }
        if (history->kept[i].run && random_below(random, 3) == 0) {
            limit_sum_report(&history->sum, name, &history->kept[i], (uint64_t)second * S);
        }
        history->kept[i] = now;
    }
    while (limit_sum_look(&history->sum, (uint64_t)second * S)) {
    }
    sum_j = limit_sum_total_j(&history->sum, (uint64_t)second * S);
    assert_true(sum_j <= truth_j * (1 + 1e-9)); /* with constant power, nothing is invented */
    for (size_t n = limit_watch_look(&history->watch, sum_j, (uint64_t)second * S, crossed); n;
         n--) {
        assert_true(sum_j >= 1e4 || is_warning(&crossed[n - 1]));
        history->crossed++;
    }
}

TEST(random_histories)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct history history = {.sum.silent_ns = 3 * S};
        struct random random = {seed};

        watch_one(&history.watch, "10kJ,warn=50%");
        for (size_t i = 0; i < NODES; i++) {
            history.power_w[i] = 20 + (double)random_below(&random, 400);
        }
        for (int second = 1; second <= STEPS; second++) {
            history_step(&history, &random, second);
        }
        assert_int_equal(history.crossed, 2); /* at least 20 kJ are drawn */
        limit_sum_clear(&history.sum);
    }
}
