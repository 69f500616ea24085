/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared worker's schedule: absolute deadlines, missed ticks, intervals of one's own, the
 * guard. */
#include <time.h>

#include "base/clock.h"
#include "fake/source.h"
#include "session/sampling.h"
#include "unit/component_fixture.h"

#define MS UINT64_C(1000000)

static struct fake_source fakes[2];
static struct sampling *sampling;

static void attach(int index, uint64_t interval_ns)
{
    const struct component_settings settings = {.interval_ns = interval_ns};

    fake_source_row(&fakes[index], 1000, 0);
    attach_component(&sampling->components[index], "fake", &fakes[index].base, &settings);
    common_join(&sampling->common, &sampling->components[index]);
}

static void prepare(size_t count)
{
    sampling = sampling_create(count, NULL);
    assert_non_null(sampling);
    for (size_t i = 0; i < count; i++) {
        fake_source_init(&fakes[i], 1);
    }
}

static void clean_up(void)
{
    sampling_end(sampling);
}

/* Start, wait for as many readings of the last component, and stop. @return how long it took [ns]
 */
static uint64_t run_until(int least)
{
    uint64_t start_ns = clock_monotonic_ns();
    atomic_int *reads = &fakes[sampling->count - 1].reads;
    const struct timespec pause = {.tv_nsec = (long)MS};

    assert_int_equal(sampling_start(sampling), 0);
    for (int i = 0; i < 60000 && atomic_load(reads) < least; i++) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    assert_true(atomic_load(reads) >= least);
    sampling_stop(sampling);
    return clock_monotonic_ns() - start_ns;
}

/* However late a deadline is met, the next one is a whole number of intervals after the first. */
TEST(deadlines_do_not_drift)
{
    static const struct {
        uint64_t now_ms, deadline_ms, missed;
    } cases[] = {
        {100, 200, 0}, /* in time */
        {199, 200, 0}, /* late, within the interval */
        {200, 300, 1}, /* exactly at the next one: that one is missed */
        {499, 500, 3}, {10050, 10100, 99},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct component component = {.interval_ns = 100 * MS, .deadline_ns = 100 * MS};

        component_next_deadline(&component, cases[i].now_ms * MS);
        assert_int_equal(component.deadline_ns, cases[i].deadline_ms * MS);
        assert_int_equal(component.missed, cases[i].missed);
    }
}

/* With a floor, steps read at its multiples at any start, and not late after one. */
TEST(readings_fall_on_the_grid_of_the_floor)
{
    static const struct {
        uint64_t deadline_us, now_us, due_us;
    } cases[] = {
        {123000, 100000, 130000},                           /* the next multiple of 10 ms */
        {130000, 100000, 130000}, {123000, 130000, 130000}, /* in time: now */
        {123000, 131250, 130000},                           /* late by an eighth */
        {123000, 131251, 140000},                           /* by more: the next one */
        {123000, 140900, 130000}, {123000, 229999, 230000}, /* for ten of them */
        {123000, 235000, 130000},                           /* then at once */
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct component component = {.interval_ns = 25 * MS,
                                            .floor_ns = 10 * MS,
                                            .deadline_ns = cases[i].deadline_us * 1000};

        assert_int_equal(component_due_ns(&component, cases[i].now_us * 1000),
                         cases[i].due_us * 1000);
    }
}

/* 25 ms on a grid of 10 ms: 30, 50, 80, 100 ms, none of them missed. */
TEST(intervals_keep_their_mean_on_the_grid)
{
    static const uint64_t due_ms[] = {30, 50, 80, 100, 130};
    struct component component = {
        .interval_ns = 25 * MS, .floor_ns = 10 * MS, .deadline_ns = 25 * MS};

    for (size_t i = 0; i < COUNT_OF(due_ms); i++) {
        assert_int_equal(component_due_ns(&component, component.deadline_ns), due_ms[i] * MS);
        component_next_deadline(&component, due_ms[i] * MS + 1);
    }
    assert_int_equal(component.missed, 0);
    component_next_deadline(&component, 200 * MS);
    assert_int_equal(component.deadline_ns, 225 * MS);
    assert_int_equal(component.missed, 2);
}

/* Deadlines between the first reading and the last one, which are made at any time. */
static uint64_t deadlines_of(int index)
{
    return (uint64_t)atomic_load(&fakes[index].reads) - 2 + sampling->components[index].missed;
}

#define PREPARED(name) TEST_WITH(name, NULL, clean_up)

/* A source that needs 30 ms for a reading every 10 ms: skipped ticks, no burst to catch up. */
PREPARED(missed_ticks_are_counted_and_skipped)
{
    uint64_t took_ns;
    unsigned reads;

    prepare(1);
    fakes[0].read_takes_ns = 30 * MS;
    attach(0, 10 * MS);
    took_ns = run_until(6);
    reads = (unsigned)atomic_load(&fakes[0].reads);
    assert_true(reads <= took_ns / (30 * MS));
    assert_true(sampling->components[0].missed >= 2 * (reads - 2));
    assert_true(deadlines_of(0) <= took_ns / (10 * MS));
}

/* 262 kJ at 2 kW last 131 s: a reading at least every 32.8 s, whatever was asked for. */
PREPARED(interval_keeps_the_guard)
{
    prepare(1);
    attach(0, 3600 * UINT64_C(1000) * MS);
    assert_in_range(sampling->components[0].interval_ns, 32767 * MS, 32768 * MS);
    sampling_end(sampling);
    prepare(1);
    fakes[0].events[0].guard_j = 0;
    attach(0, 3600 * UINT64_C(1000) * MS);
    assert_int_equal(sampling->components[0].interval_ns, 3600 * UINT64_C(1000) * MS);
}
