/* SPDX-License-Identifier: BSD-3-Clause */
/* What one tick costs, and the reading in it, against the system calls that it cannot avoid. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/meters.h"
#include "bench/parts.h"
#include "session/component.h"
#include "session/live.h"
#include "session/live_page.h"
#include "sources/sources.h"

#define READINGS_PER_RUN 4000
#define READINGS_PER_QUICK_RUN 800
#define PAIRS 251
#define QUICK_PAIRS 21
#define TICK_LIMIT_8 1.15
#define READING_LIMIT 1.05
#define LIVE_LIMIT 1.05
#define LEAST_STEP_UJ 400 /* in some 4 us: 100 W and more */
#define STEP_UJ 100
#define STEPS 8

struct ticking {
    struct bench_meters meters;
    struct component component;
    size_t ticks; /* of one run */
    size_t pairs;
    volatile uint64_t sink; /* the reads must not be optimised away */
};

static struct apapi_source moving;

/* The files stand still; power that changes costs more than none. */
static void read_and_move(struct apapi_reader *reader, struct apapi_reading *readings)
{
    static uint64_t ticks, moved_uj;

    apapi_source_sysfs.read(reader, readings);
    moved_uj += LEAST_STEP_UJ + ticks++ % STEPS * STEP_UJ;
    for (size_t i = 0; i < reader->count; i++) {
        readings[i].raw += moved_uj;
    }
}

/* Ticks follow each other without a pause here: no reason to leave out a part of their work. */
static void close_windows_at_once(struct component *component)
{
    for (size_t i = 0; i < component->reader->count; i++) {
        component->meters[i].rate.window_ns = 0;
    }
    component->interval_ns = 0;
}

static void ticking_create(struct ticking *ticking, size_t events, bool quick)
{
    moving = apapi_source_sysfs;
    moving.read = read_and_move;
    ticking->ticks = (quick ? READINGS_PER_QUICK_RUN : READINGS_PER_RUN) / events;
    ticking->pairs = quick ? QUICK_PAIRS : PAIRS;
    bench_meters_create(&ticking->meters, events);
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

static double ns_per_tick(uint64_t start_ns, const struct ticking *ticking)
{
    return (double)(clock_monotonic_ns() - start_ns) / (double)ticking->ticks;
}

static double run_ticks(void *context)
{
    struct ticking *ticking = context;
    uint64_t start_ns = clock_monotonic_ns();

    for (size_t i = 0; i < ticking->ticks; i++) {
        component_read(&ticking->component);
    }
    return ns_per_tick(start_ns, ticking);
}

static double run_source(void *context)
{
    struct ticking *ticking = context;
    struct apapi_reader *reader = ticking->component.reader;
    uint64_t start_ns = clock_monotonic_ns();

    for (size_t i = 0; i < ticking->ticks; i++) {
        apapi_source_sysfs.read(reader, ticking->component.raw);
    }
    return ns_per_tick(start_ns, ticking);
}

static double run_bare(void *context)
{
    struct ticking *ticking = context;
    uint64_t start_ns = clock_monotonic_ns();

    for (size_t i = 0; i < ticking->ticks; i++) {
        bench_meters_read(&ticking->meters);
    }
    return ns_per_tick(start_ns, ticking);
}

/* What a reader that trusts its files would do. */
static double run_strtoull(void *context)
{
    struct ticking *ticking = context;
    uint64_t start_ns = clock_monotonic_ns();

    for (size_t tick = 0; tick < ticking->ticks; tick++) {
        for (size_t i = 0; i < ticking->meters.count; i++) {
            char text[METER_TEXT_SIZE];
            ssize_t got = pread(ticking->meters.fds[i], text, sizeof text - 1, 0);

            text[got > 0 ? got : 0] = '\0';
            ticking->sink = strtoull(text, NULL, 10);
        }
    }
    return ns_per_tick(start_ns, ticking);
}

static void add_row(struct bench_table *table, struct ticking *ticking, const char *what,
                    double limit, double (*run)(void *context))
{
    struct bench_row *row =
        bench_table_add(table, (struct bench_row){.unit = "ns", .limit = limit});

    snprintf(row->what, sizeof row->what, "%s, %zu events", what, ticking->meters.count);
    bench_compare(row, ticking->pairs, (struct bench_side){run, ticking},
                  (struct bench_side){run_bare, ticking});
}

void bench_tick(struct bench_table *table, bool quick)
{
    static const size_t sizes[] = {2, 8, 32};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ticking ticking;

        ticking_create(&ticking, sizes[i], quick);
        add_row(table, &ticking, "tick", sizes[i] == 8 ? TICK_LIMIT_8 : 0, run_ticks);
        ticking_destroy(&ticking);
    }
}

static struct apapi_live_page page;
static struct feed feeds[APAPI_DOMAINS];

static double run_live_ticks(void *context)
{
    struct ticking *ticking = context;
    uint64_t start_ns = clock_monotonic_ns();

    for (size_t i = 0; i < ticking->ticks; i++) {
        component_read(&ticking->component);
        live_show(&page, &ticking->component, 0, feeds);
    }
    return ns_per_tick(start_ns, ticking);
}

void bench_live_tick(struct bench_table *table, bool quick)
{
    struct ticking ticking;
    struct bench_row *row;

    ticking_create(&ticking, 8, quick);
    live_page_init(&page);
    feed_clear(feeds);
    live_join(&page, &ticking.component, feeds);
    row = bench_table_add(table, (struct bench_row){.what = "live page: tick with it, 8 events",
                                                    .unit = "ns",
                                                    .limit = LIVE_LIMIT});
    bench_compare(row, ticking.pairs, (struct bench_side){run_live_ticks, &ticking},
                  (struct bench_side){run_ticks, &ticking});
    ticking_destroy(&ticking);
}

void bench_reading(struct bench_table *table, bool quick)
{
    struct ticking ticking;

    ticking_create(&ticking, 8, quick);
    add_row(table, &ticking, "reading alone", READING_LIMIT, run_source);
    add_row(table, &ticking, "for comparison: pread + strtoull", 0, run_strtoull);
    ticking_destroy(&ticking);
}
