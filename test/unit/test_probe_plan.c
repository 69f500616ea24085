/* SPDX-License-Identifier: BSD-3-Clause */
/* When probes are taken. */
#include "session/schedule.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define START_NS (1000 * MS)
#define UPDATE_NS (8 * MS)
#define SECOND_NS (7 * MS) /* from the first reading of a probe to the second one */
#define INTERVAL_NS (1000 * MS)

static struct probe_plan plan;

static void restart(uint64_t update_ns, uint64_t interval_ns, uint64_t grid_ns)
{
    probe_plan_restart(&plan, update_ns, interval_ns, grid_ns, 1);
}

static void begin(void)
{
    restart(UPDATE_NS, INTERVAL_NS, 1);
    assert_true(plan.due_ns == UINT64_MAX);
    probe_plan_begin(&plan, moment_at(START_NS));
}

static void assert_next(enum probe_reading next, uint64_t after_start_ns)
{
    assert_int_equal(plan.next, next);
    assert_int_equal(plan.due_ns, START_NS + after_start_ns);
}

static void take(bool moved)
{
    probe_plan_next(&plan, moment_at(plan.due_ns), moved);
}

#define PREPARED(name) TEST_WITH(name, begin, NULL)

/* At random moments, by 30 to 100 % of the time that has passed. */
TEST(distances_grow_with_the_time)
{
    double least = 1e9, most = 0;

    for (uint64_t seed = 0; seed < 500; seed++) {
        probe_plan_restart(&plan, UPDATE_NS, INTERVAL_NS, 1, seed);
        probe_plan_begin(&plan, moment_at(START_NS));
        for (int i = 0; i < 10; i++) {
            uint64_t second_ns = plan.due_ns;
            double growth;

            take(true);
            growth = (double)(plan.due_ns - second_ns) / (double)(second_ns - START_NS);
            assert_true(growth > 0.29 && growth < 1.01);
            least = growth < least ? growth : least;
            most = growth > most ? growth : most;
            take(true);
        }
    }
    assert_true(least < 0.35);
    assert_true(most > 0.95);
}

/* Twice as late each time: early usual readings at the start, as long as nothing has moved. */
PREPARED(it_insists_on_a_move_at_the_start)
{
    static const uint64_t usual_from_ns = 56 * MS; /* more than four updates */

    for (uint64_t at_ns = SECOND_NS; at_ns < INTERVAL_NS / 2; at_ns *= 2) {
        assert_next(at_ns > usual_from_ns ? PROBE_USUAL : PROBE_SECOND, at_ns);
        take(false);
    }
    assert_next(PROBE_USUAL, 128 * SECOND_NS);
    take(false); /* the usual readings are as near now */
    assert_int_equal(plan.next, PROBE_FIRST);
}

/* @return whether there are more probes after a reading that took so long */
static bool goes_on_after(uint64_t length_ns)
{
    const struct apapi_moment when = {START_NS, START_NS + length_ns};

    probe_plan_next(&plan, when, true);
    return plan.due_ns != UINT64_MAX;
}

/* A busy machine delays one now and then. */
PREPARED(three_slow_readings_stop_probes)
{
    static const uint64_t most_ns = UPDATE_NS / 2;

    for (int i = 0; i < 4; i++) {
        assert_true(goes_on_after(most_ns));
    }
    for (int i = 0; i < 4; i++) {
        assert_true(goes_on_after(most_ns + 1));
        assert_true(goes_on_after(most_ns + 1));
        assert_true(goes_on_after(most_ns));
    }
    assert_true(goes_on_after(most_ns + 1));
    assert_true(goes_on_after(most_ns + 1));
    assert_false(goes_on_after(most_ns + 1));
}

struct need {
    const char *name;
    uint64_t update_ns, interval_ns, grid_ns;
    bool probes;
};

static const struct need needs[] = {
    {"no update period is known", 0, INTERVAL_NS, 1, false},
    {"four updates in an interval", MS, 4 * MS, 1, true},
    {"fewer", MS, 4 * MS - 1, 1, false},
    {"the grid has four steps in an interval", MS, 40 * MS, 10 * MS, true},
    {"the grid has fewer", MS, 40 * MS, 11 * MS, false},
};

TEST(probes_where_usual_readings_do_not_show_enough)
{
    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        const struct need *need = &needs[i];

        restart(need->update_ns, need->interval_ns, need->grid_ns);
        probe_plan_begin(&plan, moment_at(START_NS));
        if ((plan.due_ns != UINT64_MAX) != need->probes) {
            fail_msg("%s: probes %s", need->name, need->probes ? "are missing" : "are taken");
        }
    }
}
