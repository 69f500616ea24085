/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters as 64-bit totals: wraps, resets, absurd readings, long pauses. */
#include <inttypes.h>

#include "fake/energy_event.h"
#include "measure/counter.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define TICK_NS (100 * MS)
#define MAX_W 2000.0

/* The usual counter with a range of its own. */
static struct apapi_event energy_event(uint64_t range_max)
{
    struct apapi_event event = fake_energy_event;

    event.range_max = range_max;
    event.guard_j = (double)range_max * event.scale;
    return event;
}

static struct apapi_event event;
static struct apapi_counter counter;

static void begin(uint64_t range_max)
{
    event = energy_event(range_max);
    apapi_counter_init(&counter, &event, MAX_W);
}

static enum apapi_count add(uint64_t raw, uint64_t at_ns)
{
    struct apapi_increment increment;

    return apapi_counter_add(&counter, raw, moment_at(at_ns), &increment);
}

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

/* --- pauses ----------------------------------------------------------------------------------- */

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

/* --- the update period ------------------------------------------------------------------------ */

#define US UINT64_C(1000)

/* The counts of a meter of 100 W that moves once in `period_ns`, standing still in between. */
struct simulated {
    uint64_t period_ns, phase_ns;
    uint64_t frozen_from_ns, frozen_to_ns;
};

static uint64_t shown_uj(const struct simulated *meter, uint64_t now_ns)
{
    bool frozen = now_ns >= meter->frozen_from_ns && now_ns < meter->frozen_to_ns;
    uint64_t at_ns = frozen ? meter->frozen_from_ns : now_ns;
    uint64_t updates = (at_ns + meter->phase_ns) / meter->period_ns;

    return updates * meter->period_ns / 10000; /* 100 W: 100 uJ in a ms */
}

static void read_for(const struct simulated *meter, uint64_t stated_ns, uint64_t interval_ns,
                     uint64_t readings)
{
    struct apapi_increment increment;

    event = fake_energy_event;
    event.update_ns = stated_ns;
    apapi_counter_init(&counter, &event, 2000);
    for (uint64_t i = 0; i < readings; i++) {
        uint64_t jitter_ns = i * 7919 % 101 * interval_ns / 2000; /* up to 5 % */
        uint64_t now_ns = 1 + i * interval_ns + jitter_ns;

        apapi_counter_add(&counter, shown_uj(meter, now_ns), moment_at(now_ns), &increment);
    }
    apapi_counter_finish(&counter);
}

/* Each period from 61 us to 1 s at each interval from 1 ms to 1 s, at several phases. */
TEST(learned_where_readings_show_it)
{
    static const uint64_t periods_us[] = {61, 1000, 2000, 10000, 16000, 100000, 333000, 1000000};
    static const uint64_t intervals_ms[] = {1, 5, 10, 50, 100, 250, 1000};

    for (size_t p = 0; p < sizeof periods_us / sizeof *periods_us; p++) {
        for (size_t i = 0; i < sizeof intervals_ms / sizeof *intervals_ms; i++) {
            for (uint64_t phase = 0; phase < 8; phase++) {
                const uint64_t period_ns = periods_us[p] * US, interval_ns = intervals_ms[i] * MS;
                const struct simulated meter = {period_ns, phase * period_ns / 8, 0, 0};
                const bool seen = period_ns >= 2 * interval_ns;
                const uint64_t readings = 40 + (seen ? 10 * (period_ns / interval_ns + 1) : 0);

                read_for(&meter, MS, interval_ns, readings);
                if (seen) {
                    assert_true(counter.update.learned);
                    assert_in_range(counter.update.period_ns, period_ns * 7 / 10,
                                    period_ns * 13 / 10);
                } else {
                    assert_in_range(counter.update.period_ns, MS * 9 / 10, 3 * interval_ns);
                }
            }
        }
    }
}

/* A standstill in the middle of a run is no update period, however short the run is. */
TEST(a_standstill_is_no_period)
{
    for (uint64_t readings = 8; readings < 200; readings++) {
        const struct simulated meter = {MS, 0, 350 * MS, 650 * MS};

        read_for(&meter, MS, 100 * MS, readings);
        assert_int_equal(counter.update.period_ns, MS);
    }
}

/* The move may have been there for most of the time until a reading that is late. */
TEST(a_late_reading_shows_twice_what_was_seen_at_most)
{
    static const uint64_t moments_ms[] = {1, 2, 6, 14}, raws[] = {0, 100000, 100000, 200000};
    struct apapi_increment increment;

    apapi_counter_init(&counter, &fake_energy_event, 2000);
    for (size_t i = 0; i < COUNT_OF(raws); i++) {
        apapi_counter_add(&counter, raws[i], moment_at(moments_ms[i] * MS), &increment);
    }
    assert_int_equal(counter.update.longest_ns, 8 * MS);
}
