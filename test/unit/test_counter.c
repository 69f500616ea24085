/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters as totals of 64 bits: wraps, resets, absurd readings, long pauses. */
#include <inttypes.h>

#include "fake/energy_event.h"
#include "measure/counter.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define TICK_NS (100 * MS)
#define MAX_W 2000.0

static struct apapi_event event;
static struct apapi_counter counter;
static uint64_t tick_ns; /* time between two readings */

/* Begin a test of the usual counter, with another range. */
static void begin(uint64_t range_max)
{
    event = fake_energy_event;
    event.range_max = range_max;
    event.guard_j = (double)range_max * event.scale;
    tick_ns = TICK_NS;
    apapi_counter_init(&counter, &event, MAX_W);
}

static void add(uint64_t raw, uint64_t at_ns)
{
    struct apapi_increment increment;

    apapi_counter_add(&counter, raw, moment_at(at_ns), &increment);
}

static const struct apapi_event steps = {
    .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_UINT64, .accumulates = true, .scale = 1};

#define RAPL_J 65712.999613

/*
 * Add readings to the counter: "TICK=JOULES"; "TICK..TICK=JOULES", the same at each of these ticks;
 * "TICK..TICK=JOULES+STEP", more by STEP at each tick; "!", the source is opened again.
 */
static void add_readings(const char *text)
{
    for (char *end; *text; text = *end ? end + 1 : end) {
        uint64_t from, to;
        double joules, step;

        if (*text == '!') {
            counter.reopened = true;
            text += 2;
        }
        from = strtoul(text, &end, 10);
        to = *end == '.' ? strtoul(end + 2, &end, 10) : from;
        joules = strtod(end + 1, &end);
        step = *end == '+' ? strtod(end + 1, &end) : 0;
        for (uint64_t tick = from; tick <= to; tick++) {
            add((uint64_t)llround((joules + step * (double)(tick - from)) * 1e6),
                1 + tick * tick_ns);
        }
    }
    apapi_counter_finish(&counter);
}

/* @return the result, as "30 J in 3 ticks", and the incidents. */
static const char *described(void)
{
    const struct apapi_incidents *incidents = &counter.incidents;
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {{"wraps", incidents->wraps},
                  {"resets", incidents->resets},
                  {"refused", incidents->refused},
                  {"gaps", incidents->gaps},
                  {"stalls", incidents->stalls}};
    static char text[128];
    int size = snprintf(text, sizeof text, "%.10g J in %g ticks", (double)counter.total / 1e6,
                        (double)counter.covered_ns / (double)tick_ns);

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (counts[i].count) {
            size += snprintf(text + size, sizeof text - (size_t)size, ", %s %" PRIu64,
                             counts[i].name, counts[i].count);
        }
    }
    return text;
}

static const struct {
    const char *name;
    double range_j;
    const char *readings, *result;
} courses[] = {
    {"starts high", RAPL_J, "0..2=65000+10", "20 J in 2 ticks"},
    /* 0..99 has 100 values: 95 to 5 are 10 steps */
    {"a wrap adds the step over the end", 99e-6, "0=95e-6 1=5e-6",
     "1e-05 J in 1 ticks, wraps 1, gaps 1"},
    {"reset", RAPL_J, "0=30000 1=30010 2..4=0+10", "30 J in 3 ticks, resets 1"},
    {"reset at the last reading", RAPL_J, "0=30000 1=30010 2=0", "10 J in 1 ticks, refused 1"},
    {"one absurd reading", RAPL_J, "0=10 1=20 2=60000 3=40", "30 J in 3 ticks, refused 1"},
    {"absurd, three times the same", RAPL_J, "0=10 1=20 2..4=60000 5..6=60+10",
     "60 J in 6 ticks, refused 1"},
    {"one out of range", RAPL_J, "0=10 1=20 2=99000 3=40", "30 J in 3 ticks, refused 1"},
    {"the first absurd", RAPL_J, "0=60000 1..3=10+10", "20 J in 2 ticks, resets 1"},
    {"the first out of range", RAPL_J, "0=99000 1..3=10+10", "20 J in 2 ticks, refused 1"},
    {"goes back a little", RAPL_J, "0=10 1=20 2=15 3=25", "15 J in 3 ticks, refused 1"},
    {"two absurd", RAPL_J, "0=1 1=60000 2=30000 3=31 4=41", "40 J in 4 ticks, refused 2"},
    /* 100 W, 3 kW, then a mean of 1.7 kW: the energy that came late was real */
    {"a reading that was early", RAPL_J, "0=10 1=20 2=320 3=350 4=360", "350 J in 4 ticks"},
    /* A counter that stood still may show all that it has kept at once: that counts. If it stands
     * still to the end, the energy since then is unknown, as is that of the interval before. */
    {"stands still for 2 s", RAPL_J, "0..10=0+10 11..29=100 30..50=300+10",
     "500 J in 50 ticks, stalls 1"},
    {"stands still to the end", RAPL_J, "0..20=0+10 21..50=200", "200 J in 19 ticks, stalls 1"},
    /* A leap after 1 s without readings. If a reading found the counter standing still, the leap is
     * what it missed, even through its end; otherwise it may have stopped in the second before. */
    {"a leap", RAPL_J, "0=0 10=0.5 11..13=1110+10", "20.5 J in 2 ticks, resets 1"},
    {"a leap from standstill", RAPL_J, "0=0 10..11=0.5 12..14=1110+10",
     "1130 J in 14 ticks, stalls 1"},
    {"a leap through the end", RAPL_J, "0=65712 10..11=65712.5 12..14=1109.000386+10",
     "1130 J in 14 ticks, wraps 1, stalls 1"},
    /* in 33 s at 2 kW wraps may hide, with or without readings that find the counter standing */
    {"no wrap in 20 s", RAPL_J, "0=0 200=1", "1 J in 200 ticks"},
    {"a wrap in 40 s", RAPL_J, "0=0 200=1 600=2", "2 J in 600 ticks, gaps 1"},
    {"still for 20 s", RAPL_J, "0=0 1..201=1 202..203=2+1", "3 J in 203 ticks, stalls 1"},
    {"still for 40 s", RAPL_J, "0=0 1..401=1 402..403=2+1", "3 J in 403 ticks, gaps 1, stalls 1"},
    /* after an outage, only what is certain is counted */
    {"reopened, it has counted on", RAPL_J, "0=1 ! 20=91 21=91.00001", "90.00001 J in 21 ticks"},
    {"reopened, through its end", RAPL_J, "0=65712.999 ! 20=1 21=1.00001",
     "1.000624 J in 21 ticks, wraps 1"},
    {"reopened, from 0", RAPL_J, "0=1 ! 20=0 21=1e-5", "1e-05 J in 1 ticks, resets 1"},
    {"reopened, from somewhere", RAPL_J, "0=1 ! 20=60000 21=60000.00001",
     "1e-05 J in 1 ticks, resets 1"},
    {"reopened, at 0 as before", RAPL_J, "0=0 ! 20=0 21=1e-5", "1e-05 J in 1 ticks, resets 1"},
    {"reopened, any number of wraps later", RAPL_J, "0=1 ! 600=91 601=91.00001",
     "1e-05 J in 1 ticks, resets 1"},
    {"past the end after more than 0.5 s at 2 kW", 1000, "0=700 1..19=710 20..22=300+10",
     "30 J in 2 ticks, resets 1, stalls 1"},
};

TEST(courses_of_a_counter)
{
    for (size_t i = 0; i < COUNT_OF(courses); i++) {
        begin((uint64_t)llround(courses[i].range_j * 1e6));
        add_readings(courses[i].readings);
        fail_if(strcmp(described(), courses[i].result) != 0, "%s: %s", courses[i].name,
                described());
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

/* One reading in each update of 1 ms. */
static const struct {
    const char *name;
    uint64_t stated_ns;
    const char *readings, *result;
} stills[] = {
    {"neither end", MS, "0..10=0+1e-4", "0.001 J in 10 ticks"},
    {"four updates at the start", MS, "0..4=0 5..14=1e-4+1e-4", "0.001 J in 14 ticks"},
    {"five at the start: it begins with the first move", MS, "0..5=0 6..15=1e-4+1e-4",
     "0.0009 J in 9 ticks"},
    {"the update is not stated: ten times as patient", 0, "0..40=0 41..50=1e-4+1e-4",
     "0.001 J in 50 ticks"},
    {"not for ever", 0, "0..41=0 42..51=1e-4+1e-4", "0.0009 J in 9 ticks"},
    {"four updates at the end", MS, "0..10=0+1e-4 11..14=1e-3", "0.001 J in 14 ticks"},
    {"five at the end: to where it certainly ran", MS, "0..10=0+1e-4 11..15=1e-3",
     "0.001 J in 9 ticks"},
    {"never a move: that is said elsewhere", MS, "0..30=0", "0 J in 30 ticks"},
};

TEST(standstills_at_the_ends)
{
    for (size_t i = 0; i < COUNT_OF(stills); i++) {
        begin(0);
        event.update_ns = stills[i].stated_ns;
        tick_ns = MS;
        apapi_counter_init(&counter, &event, MAX_W);
        add_readings(stills[i].readings);
        fail_if(strcmp(described(), stills[i].result) != 0, "%s: %s", stills[i].name, described());
    }
}

/* --- the update period ------------------------------------------------------------------------ */

#define US UINT64_C(1000)

/* Read a meter of 100 W, whose counter moves once in `period_ns` and stands still in between. */
static void read_for(uint64_t period_ns, uint64_t phase_ns, uint64_t interval_ns, uint64_t readings)
{
    event = fake_energy_event;
    event.update_ns = MS;
    apapi_counter_init(&counter, &event, 2000);
    for (uint64_t i = 0; i < readings; i++) {
        uint64_t jitter_ns = i * 7919 % 101 * interval_ns / 2000; /* up to 5 % of the interval */
        uint64_t now_ns = 1 + i * interval_ns + jitter_ns;
        uint64_t updates = (now_ns + phase_ns) / period_ns;

        add(updates * period_ns / 10000, now_ns); /* 100 W are 100 uJ in 1 ms */
    }
    apapi_counter_finish(&counter);
}

/* All periods from 61 us to 1 s, at all intervals from 1 ms to 1 s and several phases. */
TEST(learned_where_readings_show_it)
{
    static const uint64_t periods_us[] = {61, 1000, 2000, 10000, 16000, 100000, 333000, 1000000};
    static const uint64_t intervals_ms[] = {1, 5, 10, 50, 100, 250, 1000};

    for (size_t p = 0; p < sizeof periods_us / sizeof *periods_us; p++) {
        for (size_t i = 0; i < sizeof intervals_ms / sizeof *intervals_ms; i++) {
            for (uint64_t phase = 0; phase < 8; phase++) {
                const uint64_t period_ns = periods_us[p] * US, interval_ns = intervals_ms[i] * MS;
                const bool seen = period_ns >= 2 * interval_ns;
                const uint64_t readings = 40 + (seen ? 10 * (period_ns / interval_ns + 1) : 0);

                read_for(period_ns, phase * period_ns / 8, interval_ns, readings);
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

/* Before a late reading, the counter may have moved long ago. */
TEST(a_late_reading_shows_twice_what_was_seen_at_most)
{
    static const uint64_t moments_ms[] = {1, 2, 6, 14}, raws[] = {0, 100000, 100000, 200000};

    apapi_counter_init(&counter, &fake_energy_event, MAX_W);
    for (size_t i = 0; i < COUNT_OF(raws); i++) {
        add(raws[i], moments_ms[i] * MS);
    }
    assert_int_equal(counter.update.longest_ns, 8 * MS);
}
