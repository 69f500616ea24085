/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters that are read late, or stand still: what may be missing then. */
#include "unit/counter_fixture.h"

/* A reading of a meter of 100 W: when it began, when its value was taken, its duration [ms]. */
struct lengthy {
    uint64_t begin_ms, value_ms, took_ms;
};

static enum apapi_count add_lengthy(const struct lengthy *reading, uint64_t reset_ms)
{
    const uint64_t uj_per_ms = 100000, before_reset_uj = 40000000000;
    struct apapi_moment when = {reading->begin_ms * MS,
                                (reading->begin_ms + reading->took_ms) * MS};
    struct apapi_increment increment;
    uint64_t raw = reading->value_ms < reset_ms ? before_reset_uj + reading->value_ms * uj_per_ms
                                                : (reading->value_ms - reset_ms) * uj_per_ms;

    return apapi_counter_add(&counter, raw, when, &increment);
}

/*
 * The counter misses of a meter of 100 W, whatever the moments of its readings: no more than
 * 100 W for the time that is not covered.
 */
static const struct {
    const char *name;
    uint64_t reset_ms;
    struct lengthy readings[6];
    struct {
        uint64_t covered_ms, resets, refused;
    } result;
} lengthy_cases[] = {
    {"all at once",
     1000,
     {{100, 100, 0}, {200, 200, 0}, {300, 300, 0}, {400, 400, 0}, {500, 500, 0}, {600, 600, 0}},
     {500, 0, 0}},
    {"the last one is delayed behind its value",
     1000,
     {{100, 100, 0}, {200, 200, 0}, {300, 300, 0}, {400, 400, 0}, {500, 500, 0}, {600, 600, 62}},
     {500, 0, 0}},
    {"the first one is delayed behind its value",
     1000,
     {{100, 100, 50}, {200, 200, 0}, {300, 300, 0}, {400, 400, 0}, {500, 500, 0}, {600, 600, 0}},
     {450, 0, 0}},
    {"both are delayed in front of their values",
     1000,
     {{100, 150, 50}, {200, 200, 0}, {300, 300, 0}, {400, 400, 0}, {500, 500, 0}, {600, 662, 62}},
     {450, 0, 0}},
    {"a reset between readings that are delayed",
     301,
     {{100, 100, 0}, {200, 200, 0}, {300, 300, 60}, {400, 440, 40}, {500, 500, 0}, {600, 600, 0}},
     {360, 1, 0}},
    {"readings in quick succession after a late one",
     1000,
     {{100, 100, 0}, {200, 200, 98}, {299, 299, 0}, {300, 300, 0}, {301, 301, 0}, {400, 400, 0}},
     {300, 0, 0}},
};

TEST(lengthy_readings)
{
    for (size_t i = 0; i < COUNT_OF(lengthy_cases); i++) {
        uint64_t elapsed_ms, missed_ms;

        begin(65712999613);
        counter.max_per_ns = 300 / 1e3; /* [uJ/ns] */
        for (size_t k = 0; k < COUNT_OF(lengthy_cases[i].readings); k++) {
            add_lengthy(&lengthy_cases[i].readings[k], lengthy_cases[i].reset_ms);
        }
        elapsed_ms = lengthy_cases[i].readings[5].begin_ms + lengthy_cases[i].readings[5].took_ms -
                     lengthy_cases[i].readings[0].begin_ms;
        for (int finish = 0; finish < 2; finish++) {
            apapi_counter_finish(&counter);
            if (counter.covered_ns != lengthy_cases[i].result.covered_ms * MS ||
                counter.incidents.resets != lengthy_cases[i].result.resets ||
                counter.incidents.refused != lengthy_cases[i].result.refused) {
                fail_msg("%s: covered %lu ms resets %lu refused %lu", lengthy_cases[i].name,
                         counter.covered_ns / MS, counter.incidents.resets,
                         counter.incidents.refused);
            }
        }
        missed_ms = elapsed_ms - counter.total / 100000;
        assert_in_range(missed_ms, 0, elapsed_ms - lengthy_cases[i].result.covered_ms);
    }
}

/* A pause that may have hidden a wrap is flagged, also where PAPI hides the wraps themselves. */
TEST(pauses)
{
    static const struct {
        uint64_t range_max;
        double guard_j;
        uint64_t short_ns, long_ns;
    } cases[] = {{0, 256, TICK_NS, 10 * TICK_NS},
                 {65712999613, 65712.999613, 20 * UINT64_C(1000000000), 40 * UINT64_C(1000000000)}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        event = energy_event(cases[i].range_max);
        event.guard_j = cases[i].guard_j;
        apapi_counter_init(&counter, &event, MAX_W);
        add(0, 1);
        add(1000000, 1 + cases[i].short_ns);
        assert_int_equal(counter.incidents.gaps, 0);
        add(2000000, 1 + cases[i].short_ns + cases[i].long_ns);
        assert_int_equal(counter.incidents.gaps, 1);
    }
}

/* So is a standstill, however often it was read: whole wraps may have passed before it moves again.
 */
TEST(a_standstill_may_hide_wraps)
{
    static const struct {
        uint64_t still_ticks, gaps;
    } cases[] = {{0, 0}, {200, 0}, {400, 1}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t tick = 2;

        begin(65712999613); /* 33 s at 2 kW */
        add(0, 1);
        add(1000000, 1 + TICK_NS);
        for (uint64_t still = 0; still < cases[i].still_ticks; still++) {
            add(1000000, 1 + tick++ * TICK_NS);
        }
        add(2000000, 1 + tick++ * TICK_NS);
        add(3000000, 1 + tick * TICK_NS);
        assert_int_equal(counter.incidents.gaps, cases[i].gaps);
    }
}

/* A counter that moves every 50 ms, and a pause of 2 s without readings: one gap, no new period. */
TEST(a_pause_is_no_update_period)
{
    static const struct {
        uint64_t at_ms, uj;
    } readings[] = {
        {1, 0},         {25, 1000000},  {49, 1000000},     {73, 2000000},     {97, 2000000},
        {121, 3000000}, {145, 3000000}, {2145, 203000000}, {2146, 203000000}, {2170, 203000000}};

    event = energy_event(1000000000); /* 0.5 s at 2 kW */
    event.update_ns = 50 * MS;
    apapi_counter_init(&counter, &event, MAX_W);
    for (size_t i = 0; i < COUNT_OF(readings); i++) {
        add(readings[i].uj, readings[i].at_ms * MS);
    }
    assert_int_equal(counter.total, 203000000);
    assert_int_equal(counter.incidents.gaps, 1);
    assert_false(counter.update.learned);
}

/* After a standstill in which whole wraps may hide, a value that has passed the end is a restart.
 */
TEST(a_wrap_after_a_long_standstill_is_a_restart)
{
    uint64_t tick = 2;

    begin(1000000000); /* 0.5 s at 2 kW */
    add(700000000, 1);
    add(710000000, 1 + TICK_NS);
    while (tick < 20) {
        add(710000000, 1 + tick++ * TICK_NS);
    }
    add(300000000, 1 + tick++ * TICK_NS);
    add(310000000, 1 + tick++ * TICK_NS);
    add(320000000, 1 + tick * TICK_NS);
    assert_int_equal(counter.total, 30000000);
    assert_int_equal(counter.incidents.resets, 1);
}

/* The first value may be as old as the beginning of its reading. */
TEST(a_pause_within_a_reading)
{
    struct apapi_increment increment;

    begin(65712999613); /* 33 s at 2 kW */
    apapi_counter_add(&counter, 0, (struct apapi_moment){1, 40000 * MS}, &increment);
    add(1000000, 40100 * MS);
    assert_int_equal(counter.incidents.gaps, 1);
    add(2000000, 40200 * MS);
    assert_int_equal(counter.incidents.gaps, 1);
}
