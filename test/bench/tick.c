/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of one tick, of its reading, of the live page and of limits, compared with system calls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/meters.h"
#include "session/live.h"
#include "session/overflow.h"
#include "session/sampling.h"
#include "sources/sources.h"

#define EVENTS 8
#define READINGS_PER_RUN 4000
#define READINGS_PER_QUICK_RUN 800
#define PAIRS 251, 21
/* Factors of what the plain reader adds to each pread(). */
#define TICK_LIMIT 1.3
#define READING_LIMIT 0.45
#define LIVE_LIMIT 0.65
#define LIMITS_LIMIT 1.2 /* factor of a tick with 64 limits to a tick without limits */
#define NEVER_J 1e12
#define LEAST_STEP_UJ 400 /* in about 4 us: 100 W or more */
#define STEP_UJ 100
#define STEPS 8
#define PLAIN_DOMAINS 4
#define PLAIN_BINS 512
#define PLAIN_BINS_PER_OCTAVE 16
#define PLAIN_INTERVAL_US 4.0

struct ticking {
    struct bench_meters meters;
    struct component component;
    size_t ticks; /* in one run */
};

static struct apapi_source moving;

/* Read, and move the values: files stand still, and power that changes costs more than none. */
static void read_and_move(struct apapi_reader *reader, struct apapi_reading *readings)
{
    static uint64_t ticks, moved_uj;

    apapi_source_sysfs.read(reader, readings);
    moved_uj += LEAST_STEP_UJ + ticks++ % STEPS * STEP_UJ;
    for (size_t i = 0; i < reader->count; i++) {
        readings[i].raw += moved_uj;
    }
}

/* Here, ticks follow each other without a pause. No part of their work may be left out. */
static void close_windows_at_once(struct component *component)
{
    for (size_t i = 0; i < component->reader->count; i++) {
        component->meters[i].interval_ns = 0;
        component->meters[i].counter.rests = true; /* no update period to learn */
    }
    component->interval_ns = 0;
}

static void ticking_create(struct ticking *ticking, bool quick)
{
    moving = apapi_source_sysfs;
    moving.read = read_and_move;
    ticking->ticks = (quick ? READINGS_PER_QUICK_RUN : READINGS_PER_RUN) / EVENTS;
    bench_meters_create(&ticking->meters, EVENTS);
    bench_meters_open(&ticking->meters, &ticking->component, APAPI_INTERVAL_MIN_NS);
    close_windows_at_once(&ticking->component);
    component_restart(&ticking->component, clock_monotonic_ns());
    ticking->component.reader->source = &moving;
}

static void ticking_destroy(struct ticking *ticking)
{
    component_close(&ticking->component);
    bench_meters_destroy(&ticking->meters);
}

/* End a side. @return the time for each event of a tick [ns] */
#define TIMED_TICKS(work) BENCH_TIMED(clock_thread_cpu_ns, ticking->ticks, EVENTS, work)

static double run_ticks(void *context)
{
    struct ticking *ticking = context;

    TIMED_TICKS(component_account(&ticking->component, component_fetch(&ticking->component)));
}

static double run_source(void *context)
{
    struct ticking *ticking = context;
    struct apapi_reader *reader = ticking->component.reader;

    TIMED_TICKS(apapi_source_sysfs.read(reader, ticking->component.raw));
}

static double run_bare(void *context)
{
    struct ticking *ticking = context;

    TIMED_TICKS(bench_meters_read(&ticking->meters));
}

/* The plain reader's state for an event or a domain. */
struct plain {
    uint64_t last;
    double sum_j, min_w, max_w;
    unsigned histogram[PLAIN_BINS];
};

static volatile uint64_t plain_took_ns;
static struct plain plain_events[METERS_MAX], plain_domains[PLAIN_DOMAINS];

static void plain_add(struct plain *plain, uint64_t raw)
{
    double power_w = (double)(raw - plain->last) / PLAIN_INTERVAL_US;
    int bin = (int)(log2(power_w) * PLAIN_BINS_PER_OCTAVE);

    plain->last = raw;
    plain->sum_j += power_w;
    plain->min_w = fmin(plain->min_w, power_w);
    plain->max_w = fmax(plain->max_w, power_w);
    plain->histogram[bin > 0 && bin < PLAIN_BINS ? bin : 0]++;
}

/*
 * One tick of a reader as it would be written first: the time before and after, strtoull(), and for
 * each event and domain fmin(), fmax() and a histogram by log2().
 */
static void plain_tick(const struct bench_meters *meters, uint64_t moved_uj)
{
    uint64_t totals[PLAIN_DOMAINS] = {0}, start_ns = clock_monotonic_ns();

    for (size_t i = 0; i < meters->count; i++) {
        char text[METER_TEXT_SIZE];
        ssize_t got = pread(meters->fds[i], text, sizeof text - 1, 0);
        uint64_t raw;

        text[got > 0 ? got : 0] = '\0';
        raw = strtoull(text, NULL, 10) + moved_uj;
        plain_add(&plain_events[i], raw);
        totals[i % PLAIN_DOMAINS] += raw;
    }
    plain_took_ns = clock_monotonic_ns() - start_ns;
    for (size_t d = 0; d < PLAIN_DOMAINS && d < meters->count; d++) {
        plain_add(&plain_domains[d], totals[d]);
    }
}

static double run_plain(void *context)
{
    static uint64_t ticks, moved_uj;
    struct ticking *ticking = context;

    TIMED_TICKS({
        moved_uj += LEAST_STEP_UJ + ticks++ % STEPS * STEP_UJ;
        plain_tick(&ticking->meters, moved_uj);
    });
}

/*
 * The yardstick: what the plain reader adds to each pread(). It gets slower with the processor, and
 * with what a system call leaves in the caches, as ours does.
 */
static double run_yardstick(void *context)
{
    return run_plain(context) - run_bare(context);
}

static struct session_common common;

static double run_live_ticks(void *context)
{
    struct ticking *ticking = context;

    TIMED_TICKS({
        component_account(&ticking->component, component_fetch(&ticking->component));
        common_report(&common, &ticking->component);
    });
}

/* Add a row for one event. The ratio depends on the kernel's speed, what is added does not. */
static void add_row(struct bench_table *table, const char *what, double limit,
                    struct ticking *ticking, bench_side_f run, bench_side_f bare)
{
    bench_compare(table, (struct bench_row){what, "ns", PAIRS, limit}, ticking, run, bare,
                  run_yardstick);
}

void bench_tick(struct bench_table *table)
{
    static struct apapi_live_page page;
    struct ticking ticking;

    ticking_create(&ticking, table->quick);
    add_row(table, "tick, each of 8 events", TICK_LIMIT, &ticking, run_ticks, run_bare);
    add_row(table, "reading alone, each of 8 events", READING_LIMIT, &ticking, run_source,
            run_bare);
    live_page_init(&page);
    common.live = &page;
    common.components = &ticking.component;
    common_init(&common, session_clock_real(), NULL);
    common_join(&common, &ticking.component);
    add_row(table, "tick with a live page, each of 8 events", LIVE_LIMIT, &ticking, run_live_ticks,
            run_ticks);
    common_clear(&common);
    ticking_destroy(&ticking);
}

/* --- limits: two sessions that have the component, with 64 of them and with none ---------------
 */

struct watched {
    struct ticking ticking;
    struct sampling *sampling;
};

static double run_watched_ticks(struct watched *watched)
{
    struct ticking *ticking = &watched->ticking;

    TIMED_TICKS({
        component_account(&ticking->component, component_fetch(&ticking->component));
        overflow_evaluate(&watched->sampling->common.overflows, &ticking->component, 0);
    });
}

static double run_limited(void *both)
{
    return run_watched_ticks(both);
}

static double run_unlimited(void *both)
{
    return run_watched_ticks((struct watched *)both + 1);
}

static void ignore(const struct apapi_overflow_crossing *crossing, void *user)
{
    (void)crossing;
    (void)user;
}

/* Watch a threshold: of each mode in turn, of an event, a domain or the total. */
static void watch(struct watched *watched, size_t index)
{
    const struct component *component = &watched->ticking.component;
    const char *event = component->events[index % component->event_count].name;
    const struct apapi_overflow what = {.event = index % 8 == 6   ? "package"
                                                 : index % 8 == 7 ? "total"
                                                                  : event,
                                        .threshold = NEVER_J,
                                        .mode = (unsigned)(index / 8 % 3),
                                        .handler = ignore};
    struct apapi_error err;

    if (overflow_add(watched->sampling, &what, &err) < 0) {
        bench_die(err.text);
    }
}

void bench_limits(struct bench_table *table)
{
    static struct watched both[2];

    for (size_t i = 0; i < 2; i++) {
        ticking_create(&both[i].ticking, table->quick);
        both[i].sampling = sampling_create(1, NULL);
        both[i].sampling->components[0] = both[i].ticking.component;
        both[i].sampling->components[0].interval_ns = APAPI_INTERVAL_DEFAULT_NS;
    }
    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        watch(&both[0], i);
    }
    bench_compare(table,
                  (struct bench_row){"tick with 64 limits / none, each of 8 events", "ns", PAIRS,
                                     LIMITS_LIMIT},
                  both, run_limited, run_unlimited, NULL);
    for (size_t i = 0; i < 2; i++) {
        memset(both[i].sampling->components, 0, sizeof *both[i].sampling->components);
        overflow_end(&both[i].sampling->common.overflows);
        sampling_end(both[i].sampling);
        ticking_destroy(&both[i].ticking);
    }
}
