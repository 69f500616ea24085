/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters as 64-bit totals: wraps, resets, absurd readings, long pauses. */
#include <math.h>
#include <stdlib.h>

#include "fake/energy_event.h"
#include "measure/counter.h"
#include "unit/unit.h"

#define TICK_NS UINT64_C(100000000)
#define MAX_W 2000.0

/* The usual counter with a range of its own. */
static struct apapi_event energy_event(uint64_t range_max)
{
    struct apapi_event event = fake_energy_event;

    event.range_max = range_max;
    event.guard_j = (double)range_max * event.scale;
    return event;
}

/* A sequence of readings, one tick apart, and what must come of it. */
struct sequence {
    const char *name;
    uint64_t range_max;
    size_t count;
    uint64_t readings[8];
    uint64_t total;
    uint64_t wraps, resets, refused;
    uint64_t covered_ticks;
};

static const struct sequence sequences[] = {
    {"steady", 65712999613, 4, {1000000, 11000000, 21000000, 31000000}, 30000000, 0, 0, 0, 3},
    {"starts high", 65712999613, 3, {65000000000, 65010000000, 65020000000}, 20000000, 0, 0, 0, 2},
    {"not moving", 65712999613, 3, {5, 5, 5}, 0, 0, 0, 0, 2},
    /* 0..99 has 100 values: 95 to 5 are 10 steps */
    {"wrap adds the step over the end", 99, 2, {95, 5}, 10, 1, 0, 0, 1},
    {"end to zero is one step", 99, 2, {99, 0}, 1, 1, 0, 0, 1},
    {"three wraps", 99, 4, {60, 20, 90, 10}, 150, 2, 0, 0, 3},
    {"reset to zero",
     65712999613,
     5,
     {30000000000, 30010000000, 0, 10000000, 20000000},
     30000000,
     0,
     1,
     0,
     3},
    {"reset at the last reading",
     65712999613,
     3,
     {30000000000, 30010000000, 0},
     10000000,
     0,
     0,
     1,
     1},
    {"one absurd reading",
     65712999613,
     4,
     {10000000, 20000000, 60000000000, 40000000},
     30000000,
     0,
     0,
     1,
     3},
    {"one reading out of range",
     65712999613,
     4,
     {10000000, 20000000, 99000000000, 40000000},
     30000000,
     0,
     0,
     1,
     3},
    {"first reading absurd",
     65712999613,
     4,
     {60000000000, 10000000, 20000000, 30000000},
     20000000,
     0,
     1,
     0,
     2},
    {"goes back a little",
     65712999613,
     4,
     {10000000, 20000000, 15000000, 25000000},
     15000000,
     0,
     0,
     1,
     3},
    {"two absurd readings",
     65712999613,
     5,
     {1000000, 60000000000, 30000000000, 31000000, 41000000},
     40000000,
     0,
     0,
     2,
     4},
};

static void run_sequence(const struct sequence *s)
{
    const struct apapi_event event = energy_event(s->range_max);
    struct apapi_counter counter;
    struct apapi_increment increment;

    apapi_counter_init(&counter, &event, MAX_W);
    for (size_t i = 0; i < s->count; i++) {
        apapi_counter_add(&counter, s->readings[i], 1 + i * TICK_NS, &increment);
    }
    apapi_counter_finish(&counter);
    if (counter.total != s->total || counter.incidents.wraps != s->wraps ||
        counter.incidents.resets != s->resets || counter.incidents.refused != s->refused ||
        counter.covered_ns != s->covered_ticks * TICK_NS) {
        fail_msg("%s: total %lu wraps %lu resets %lu refused %lu covered %lu", s->name,
                 counter.total, counter.incidents.wraps, counter.incidents.resets,
                 counter.incidents.refused, counter.covered_ns / TICK_NS);
    }
}

static void test_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        run_sequence(&sequences[i]);
    }
}

/* Any increments below the range, read at any times that keep the guard, add up exactly. */
static void test_random_walks_add_up(void **state)
{
    (void)state;
    srand48(20260101);
    for (int walk = 0; walk < 2000; walk++) {
        uint64_t range_max = 1000000 + (uint64_t)lrand48() * 100;
        const struct apapi_event event = energy_event(range_max);
        uint64_t guard_ns = apapi_counter_guard_ns(&event, MAX_W);
        uint64_t raw = (uint64_t)lrand48() % range_max, now_ns = 1, truth = 0, wraps = 0;
        struct apapi_counter counter;
        struct apapi_increment increment;

        apapi_counter_init(&counter, &event, MAX_W);
        apapi_counter_add(&counter, raw, now_ns, &increment);
        for (int i = 0; i < 50; i++) {
            uint64_t dt_ns = 1 + (uint64_t)(drand48() * (double)guard_ns);
            uint64_t step = (uint64_t)(drand48() * MAX_W * (double)dt_ns / 1e9 * 1e6);

            now_ns += dt_ns;
            truth += step;
            wraps += raw + step > range_max;
            raw = (raw + step) % (range_max + 1);
            apapi_counter_add(&counter, raw, now_ns, &increment);
        }
        assert_int_equal(counter.total, truth);
        assert_int_equal(counter.incidents.wraps, wraps);
        assert_int_equal(counter.incidents.refused + counter.incidents.resets, 0);
        assert_int_equal(counter.incidents.gaps, 0);
    }
}

/* 100 W, standing still from 1 s to 3 s, then the truth at once: all of it counts, once flagged. */
static void test_standstill_is_made_up_for(void **state)
{
    const struct apapi_event event = energy_event(65712999613);
    struct apapi_counter counter;
    struct apapi_increment increment;

    (void)state;
    apapi_counter_init(&counter, &event, MAX_W);
    for (uint64_t tick = 0; tick <= 50; tick++) {
        uint64_t shown = tick > 10 && tick < 30 ? 10 : tick;

        apapi_counter_add(&counter, shown * 10000000, 1 + tick * TICK_NS, &increment);
    }
    apapi_counter_finish(&counter);
    assert_int_equal(counter.total, 500000000);
    assert_int_equal(counter.covered_ns, 50 * TICK_NS);
    assert_int_equal(counter.incidents.stalls, 1);
    assert_int_equal(counter.incidents.resets + counter.incidents.refused, 0);
}

/* What a counter has missed that stands still to the end is not known: that time is not covered. */
static void test_standstill_to_the_end_is_not_covered(void **state)
{
    const struct apapi_event event = energy_event(65712999613);
    struct apapi_counter counter;
    struct apapi_increment increment;

    (void)state;
    apapi_counter_init(&counter, &event, MAX_W);
    for (uint64_t tick = 0; tick <= 50; tick++) {
        apapi_counter_add(&counter, (tick < 20 ? tick : 20) * 10000000, 1 + tick * TICK_NS,
                          &increment);
    }
    apapi_counter_finish(&counter);
    assert_int_equal(counter.total, 200000000);
    assert_int_equal(counter.covered_ns, 20 * TICK_NS);
    assert_int_equal(counter.incidents.stalls, 1);
}

/* PAPI's rapl hides the hardware's wrap: a pause that may have hidden one is flagged all the same.
 */
static void test_pause_is_flagged_by_the_hidden_range(void **state)
{
    struct apapi_event event = energy_event(0);
    struct apapi_counter counter;
    struct apapi_increment increment;

    (void)state;
    event.guard_j = 256;
    apapi_counter_init(&counter, &event, MAX_W);
    apapi_counter_add(&counter, 0, 1, &increment);
    apapi_counter_add(&counter, 1000000, 1 + TICK_NS, &increment);
    assert_int_equal(counter.incidents.gaps, 0);
    apapi_counter_add(&counter, 2000000, 1 + 11 * TICK_NS, &increment);
    assert_int_equal(counter.incidents.gaps, 1);
}

static void test_full_64_bits_are_exact(void **state)
{
    struct apapi_event event = {
        .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_UINT64, .accumulates = true, .scale = 1};
    const uint64_t start = (UINT64_C(1) << 53) + 1;
    struct apapi_counter counter;
    struct apapi_increment increment;

    (void)state;
    apapi_counter_init(&counter, &event, INFINITY);
    apapi_counter_add(&counter, start, 1, &increment);
    apapi_counter_add(&counter, start + 1, 2, &increment);
    assert_int_equal(counter.total, 1);
    apapi_counter_add(&counter, UINT64_MAX, 3, &increment);
    assert_int_equal(counter.total, UINT64_MAX - start);
}

static void test_decrease_without_range_is_a_reset(void **state)
{
    struct apapi_event event = {
        .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_UINT64, .accumulates = true, .scale = 1};
    struct apapi_counter counter;
    struct apapi_increment increment;

    (void)state;
    apapi_counter_init(&counter, &event, INFINITY);
    apapi_counter_add(&counter, 1000, 1, &increment);
    assert_int_equal(apapi_counter_add(&counter, 3, 2, &increment), APAPI_COUNT_DOUBTED);
    assert_int_equal(apapi_counter_add(&counter, 5, 3, &increment), APAPI_COUNT_RESET);
    assert_int_equal(counter.total, 2);
    assert_int_equal(counter.incidents.resets, 1);
}

static void test_pause_that_may_hide_wraps_is_flagged(void **state)
{
    const struct apapi_event event = energy_event(65712999613);
    struct apapi_counter counter;
    struct apapi_increment increment;

    (void)state;
    apapi_counter_init(&counter, &event, MAX_W);
    apapi_counter_add(&counter, 0, 1, &increment);
    apapi_counter_add(&counter, 1000000, 1 + 20 * UINT64_C(1000000000), &increment);
    assert_int_equal(counter.incidents.gaps, 0);
    apapi_counter_add(&counter, 2000000, 1 + 60 * UINT64_C(1000000000), &increment);
    assert_int_equal(counter.incidents.gaps, 1);
}

/* 65.7 kJ at 2 kW last 32.9 s: read at least every 8.2 s. */
static void test_guard(void **state)
{
    const struct apapi_event event = energy_event(65712999613);
    const struct apapi_event unbounded = {.guard_j = 0, .scale = 1};

    (void)state;
    assert_in_range(apapi_counter_guard_ns(&event, MAX_W), 8214000000, 8215000000);
    assert_true(apapi_counter_guard_ns(&unbounded, MAX_W) == UINT64_MAX);
}

/* After an outage in which the source was opened anew, only what is certain is counted. */
static void test_reopened(void **state)
{
    static const struct {
        uint64_t before, after, pause_s;
        bool goes_on;
        uint64_t total;
    } cases[] = {
        {1000000, 91000000, 2, true, 90000000},   /* it has counted on */
        {65712999000, 1000000, 2, true, 1000614}, /* through its end */
        {1000000, 0, 2, false, 0},                /* from 0 again */
        {1000000, 60000000000, 2, false, 0},      /* from somewhere */
        {0, 0, 2, false, 0},                      /* from 0 again, where it was before */
        {1000000, 91000000, 60, false, 0},        /* who knows how many wraps later */
        {65712999000, 1000000, 60, false, 0},
    };
    const struct apapi_event event = energy_event(65712999613);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t now_ns = 1 + cases[i].pause_s * 1000000000;
        struct apapi_counter counter;
        struct apapi_increment increment;

        apapi_counter_init(&counter, &event, MAX_W);
        apapi_counter_add(&counter, cases[i].before, 1, &increment);
        apapi_counter_reopened(&counter);
        assert_int_equal(apapi_counter_add(&counter, cases[i].after, now_ns, &increment),
                         cases[i].goes_on ? APAPI_COUNT_ADDED : APAPI_COUNT_BASELINE);
        assert_int_equal(counter.total, cases[i].total);
        assert_int_equal(counter.incidents.resets, !cases[i].goes_on);
        assert_int_equal(counter.covered_ns, cases[i].goes_on ? now_ns - 1 : 0);
        apapi_counter_add(&counter, cases[i].after + 10, now_ns + TICK_NS, &increment);
        assert_int_equal(counter.total, cases[i].total + 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_random_walks_add_up),
        cmocka_unit_test(test_standstill_is_made_up_for),
        cmocka_unit_test(test_standstill_to_the_end_is_not_covered),
        cmocka_unit_test(test_pause_is_flagged_by_the_hidden_range),
        cmocka_unit_test(test_full_64_bits_are_exact),
        cmocka_unit_test(test_decrease_without_range_is_a_reset),
        cmocka_unit_test(test_pause_that_may_hide_wraps_is_flagged),
        cmocka_unit_test(test_guard),
        cmocka_unit_test(test_reopened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
