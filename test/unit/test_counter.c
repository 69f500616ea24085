/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters as 64-bit totals: wraps, resets, absurd readings, long pauses. */
#include <inttypes.h>

#include "unit/counter_fixture.h"

static const struct apapi_event steps = {
    .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_UINT64, .accumulates = true, .scale = 1};

#define RAPL_MAX 65712999613

/* A sequence of readings, one tick apart, and the expected result. */
static const struct sequence {
    const char *name;
    uint64_t range_max;
    size_t count;
    uint64_t readings[8];
    struct {
        uint64_t total, wraps, resets, refused, covered_ticks;
    } result;
} sequences[] = {
    {"steady", RAPL_MAX, 4, {1000000, 11000000, 21000000, 31000000}, {30000000, 0, 0, 0, 3}},
    {"starts high", RAPL_MAX, 3, {65000000000, 65010000000, 65020000000}, {20000000, 0, 0, 0, 2}},
    {"not moving", RAPL_MAX, 3, {5, 5, 5}, {0, 0, 0, 0, 2}},
    /* 0..99 has 100 values: 95 to 5 are 10 steps */
    {"wrap adds the step over the end", 99, 2, {95, 5}, {10, 1, 0, 0, 1}},
    {"end to zero is one step", 99, 2, {99, 0}, {1, 1, 0, 0, 1}},
    {"three wraps", 99, 4, {60, 20, 90, 10}, {150, 2, 0, 0, 3}},
    {"reset to zero",
     RAPL_MAX,
     5,
     {30000000000, 30010000000, 0, 10000000, 20000000},
     {30000000, 0, 1, 0, 3}},
    {"reset at the last reading",
     RAPL_MAX,
     3,
     {30000000000, 30010000000, 0},
     {10000000, 0, 0, 1, 1}},
    {"one absurd reading",
     RAPL_MAX,
     4,
     {10000000, 20000000, 60000000000, 40000000},
     {30000000, 0, 0, 1, 3}},
    {"one reading out of range",
     RAPL_MAX,
     4,
     {10000000, 20000000, 99000000000, 40000000},
     {30000000, 0, 0, 1, 3}},
    {"first reading absurd",
     RAPL_MAX,
     4,
     {60000000000, 10000000, 20000000, 30000000},
     {20000000, 0, 1, 0, 2}},
    {"first reading out of range",
     RAPL_MAX,
     4,
     {99000000000, 10000000, 20000000, 30000000},
     {20000000, 0, 0, 1, 2}},
    {"goes back a little",
     RAPL_MAX,
     4,
     {10000000, 20000000, 15000000, 25000000},
     {15000000, 0, 0, 1, 3}},
    {"two absurd readings",
     RAPL_MAX,
     5,
     {1000000, 60000000000, 30000000000, 31000000, 41000000},
     {40000000, 0, 0, 2, 4}},
    /* 100 W, 3 kW, and a mean of 1.7 kW: what came in late was true */
    {"a reading that was early",
     RAPL_MAX,
     5,
     {10000000, 20000000, 320000000, 350000000, 360000000},
     {350000000, 0, 0, 0, 4}},
};

static void run_sequence(const struct sequence *s)
{
    begin(s->range_max);
    for (size_t i = 0; i < s->count; i++) {
        add(s->readings[i], 1 + i * TICK_NS);
    }
    apapi_counter_finish(&counter);
    if (counter.total != s->result.total || counter.incidents.wraps != s->result.wraps ||
        counter.incidents.resets != s->result.resets ||
        counter.incidents.refused != s->result.refused ||
        counter.covered_ns != s->result.covered_ticks * TICK_NS) {
        fail_msg("%s: total %lu wraps %lu resets %lu refused %lu covered %lu", s->name,
                 counter.total, counter.incidents.wraps, counter.incidents.resets,
                 counter.incidents.refused, counter.covered_ns / TICK_NS);
    }
}

TEST(sequences)
{
    for (size_t i = 0; i < COUNT_OF(sequences); i++) {
        run_sequence(&sequences[i]);
    }
}

/* Any increments below the range, read at any times that keep the guard, add up exactly. */
TEST(random_walks_add_up)
{
    srand48(20260101);
    for (int walk = 0; walk < 2000; walk++) {
        uint64_t range_max = 1000000 + (uint64_t)lrand48() * 100;
        uint64_t raw = (uint64_t)lrand48() % range_max, now_ns = 1, truth = 0, wraps = 0, guard_ns;

        begin(range_max);
        guard_ns = apapi_event_guard_ns(&event);
        add(raw, now_ns);
        for (int i = 0; i < 50; i++) {
            uint64_t dt_ns = 1 + (uint64_t)(drand48() * (double)guard_ns);
            uint64_t step = (uint64_t)(drand48() * MAX_W * (double)dt_ns / 1e9 * 1e6);

            now_ns += dt_ns;
            truth += step;
            wraps += raw + step > range_max;
            raw = (raw + step) % (range_max + 1);
            add(raw, now_ns);
        }
        assert_int_equal(counter.total, truth);
        assert_int_equal(counter.incidents.wraps, wraps);
        assert_int_equal(counter.incidents.refused + counter.incidents.resets, 0);
        assert_int_equal(counter.incidents.gaps, 0);
    }
}

/*
 * 100 W, and a counter that stands still. What it then shows at once counts, once flagged; what it
 * has missed to the end is not known: that time is not covered, nor is the interval in which it ran
 * last, as it may have stopped in the middle of that.
 */
TEST(standstills)
{
    static const struct {
        uint64_t from_tick, to_tick, total, covered_ticks;
    } cases[] = {{10, 30, 500000000, 50}, {20, 51, 200000000, 19}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(65712999613);
        for (uint64_t tick = 0; tick <= 50; tick++) {
            bool stands = tick > cases[i].from_tick && tick < cases[i].to_tick;

            add((stands ? cases[i].from_tick : tick) * 10000000, 1 + tick * TICK_NS);
        }
        apapi_counter_finish(&counter);
        assert_int_equal(counter.total, cases[i].total);
        assert_int_equal(counter.covered_ns, cases[i].covered_ticks * TICK_NS);
        assert_int_equal(counter.incidents.stalls, 1);
        assert_int_equal(counter.incidents.resets + counter.incidents.refused, 0);
    }
}

/*
 * 1 s without readings, then a leap of 1 kJ in 100 ms. If readings found the counter standing
 * still, it has missed that, through its end or not. If the latest one found it moved, nobody
 * knows: it may have stopped in the second before.
 */
TEST(leaps_after_an_outage)
{
    static const struct {
        uint64_t first, still_ticks, total, resets, wraps, covered_ticks;
    } cases[] = {{0, 0, 20500000, 1, 0, 2},
                 {0, 1, 1130000000, 0, 0, 14},
                 {65712000000, 1, 1130000000, 0, 1, 14}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const uint64_t uj[] = {1110000000, 1120000000, 1130000000};
        uint64_t raw = cases[i].first, tick = 10;

        begin(65712999613);
        add(raw, 1);
        raw += 500000;
        add(raw, 1 + tick++ * TICK_NS);
        for (uint64_t still = 0; still < cases[i].still_ticks; still++) {
            add(raw, 1 + tick++ * TICK_NS);
        }
        for (size_t k = 0; k < COUNT_OF(uj); k++) {
            add((cases[i].first + uj[k]) % 65712999614, 1 + tick++ * TICK_NS);
        }
        apapi_counter_finish(&counter);
        assert_int_equal(counter.total, cases[i].total);
        assert_int_equal(counter.incidents.resets, cases[i].resets);
        assert_int_equal(counter.incidents.wraps, cases[i].wraps);
        assert_int_equal(counter.covered_ns, cases[i].covered_ticks * TICK_NS);
    }
}

TEST(full_64_bits_are_exact)
{
    const uint64_t start = (UINT64_C(1) << 53) + 1;

    apapi_counter_init(&counter, &steps, INFINITY);
    add(start, 1);
    add(start + 1, 2);
    assert_int_equal(counter.total, 1);
    add(UINT64_MAX, 3);
    assert_int_equal(counter.total, UINT64_MAX - start);
}

/* After an outage and reopening of the source, only what is certain is counted. */
TEST(reopened)
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

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t now_ns = 1 + cases[i].pause_s * 1000000000;

        begin(65712999613);
        add(cases[i].before, 1);
        counter.reopened = true;
        assert_int_equal(add(cases[i].after, now_ns),
                         cases[i].goes_on ? APAPI_COUNT_ADDED : APAPI_COUNT_BASELINE);
        assert_int_equal(counter.total, cases[i].total);
        assert_int_equal(counter.incidents.resets, !cases[i].goes_on);
        assert_int_equal(counter.covered_ns, cases[i].goes_on ? now_ns - 1 : 0);
        add(cases[i].after + 10, now_ns + TICK_NS);
        assert_int_equal(counter.total, cases[i].total + 10);
    }
}

/* Read once in an update of 1 ms: 100 raw units in each, but for some at either end. */
struct still {
    const char *name;
    uint64_t stated_ns;
    uint64_t still, moving, still_at_end; /* updates */
    uint64_t total;
    uint64_t covered; /* updates */
};

static const struct still stills[] = {
    {"neither end", MS, 0, 10, 0, 1000, 10},
    {"four updates at the start", MS, 4, 10, 0, 1000, 14},
    {"five at the start: it begins with the first move", MS, 5, 10, 0, 900, 9},
    {"nobody states the update: ten times as patient", 0, 40, 10, 0, 1000, 50},
    {"not for ever", 0, 41, 10, 0, 900, 9},
    {"four updates at the end", MS, 0, 10, 4, 1000, 14},
    {"five at the end: to where it certainly ran", MS, 0, 10, 5, 1000, 9},
    {"never a move: that is said elsewhere", MS, 30, 0, 0, 0, 30},
};

TEST(standstills_at_the_ends)
{
    for (size_t i = 0; i < COUNT_OF(stills); i++) {
        const struct still *still = &stills[i];
        uint64_t moved = still->still + still->moving;

        begin(0);
        event.update_ns = still->stated_ns;
        apapi_counter_init(&counter, &event, MAX_W);
        for (uint64_t update = 0; update <= moved + still->still_at_end; update++) {
            uint64_t last = update < moved ? update : moved;

            add(last < still->still ? 0 : (last - still->still) * 100, (1000 + update) * MS);
        }
        apapi_counter_finish(&counter);
        if (counter.total != still->total || counter.covered_ns != still->covered * MS) {
            fail_msg("%s: %" PRIu64 " in %g updates", still->name, counter.total,
                     (double)counter.covered_ns / (double)MS);
        }
        assert_int_equal(counter.incidents.stalls, 0);
    }
}
