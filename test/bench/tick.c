/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of one tick, of the reading in it and of the live page, against the system calls and
 * loads that they cannot avoid.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/meters.h"
#include "session/component.h"
#include "session/live.h"
#include "session/overflow.h"
#include "session/sampling.h"
#include "sources/sources.h"

#define EVENTS 8
#define READINGS_PER_RUN 4000
#define READINGS_PER_QUICK_RUN 800
#define PAIRS .pairs = 251, .quick_pairs = 21
/* Times what the plain reader adds to each pread. */
#define TICK_LIMIT 1.3
#define READING_LIMIT 0.45
#define LIVE_LIMIT 0.65
#define READS 100000 /* of the live page */
#define READ_LIMIT 2.0
#define WRITE_PAUSE_NS 1000000 /* as often as anything is read at all */
#define OVERFLOW_LIMIT 20      /* for all thresholds together */
#define NO_OVERFLOW_LIMIT 1.1  /* it is nothing; so much may look like something */
#define LIMITS_LIMIT 1.2       /* a tick with 64 limits / one with none */
#define NEVER_J 1e12
#define LEAST_STEP_UJ 400 /* in some 4 us: 100 W and more */
#define STEP_UJ 100
#define STEPS 8
#define PLAIN_DOMAINS 4
#define PLAIN_BINS 512
#define PLAIN_BINS_PER_OCTAVE 16
#define PLAIN_INTERVAL_US 4.0

struct ticking {
    struct bench_meters meters;
    struct component component;
    size_t ticks;           /* of one run */
    volatile uint64_t sink; /* the reads must not be optimised away */
};

static struct apapi_source moving;

/* The files stand still; power that changes costs more than none. */
static void move(struct apapi_reading *readings, size_t count)
{
    static uint64_t ticks, moved_uj;

    moved_uj += LEAST_STEP_UJ + ticks++ % STEPS * STEP_UJ;
    for (size_t i = 0; i < count; i++) {
        readings[i].raw += moved_uj;
    }
}

static void read_and_move(struct apapi_reader *reader, struct apapi_reading *readings)
{
    apapi_source_sysfs.read(reader, readings);
    move(readings, reader->count);
}

/* Ticks follow each other without a pause here: no reason to leave out a part of their work. */
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

/* The end of a side. @return [ns] for each tick */
#define TIMED_TICKS(work) BENCH_TIMED(clock_thread_cpu_ns, ticking->ticks, 1, work)

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

/* That of a tick, whose values are moved. */
static double run_bare_moving(void *context)
{
    static struct apapi_reading readings[METERS_MAX];
    struct ticking *ticking = context;

    TIMED_TICKS({
        bench_meters_read(&ticking->meters);
        move(readings, ticking->meters.count);
        ticking->sink = readings[0].raw;
    });
}

/* The plain reader's state of an event or a domain. */
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
 * One tick of a reader as one would write it first: the time before and after, strtoull, and of
 * each event and domain fmin, fmax and a histogram by log2.
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
 * The yardstick: what the plain reader adds to each pread. It gets slower with the processor, and
 * with what a system call leaves in the caches, as ours does. @return [ns] for each event
 */
static double run_yardstick(void *context)
{
    const struct ticking *ticking = context;

    return (run_plain(context) - run_bare(context)) / (double)ticking->meters.count;
}

/* A row of each event. The ratio depends on how fast the kernel is, what is added to it does not.
 */
static void add_row(struct bench_table *table, struct ticking *ticking, struct bench_row row,
                    double (*run)(void *context), double (*bare)(void *context))
{
    double events = (double)ticking->meters.count;
    struct bench_row *each;

    row.unit = "ns";
    row.pairs = 251;
    row.quick_pairs = 21;
    each = bench_compare(table, row, (struct bench_side){run, ticking},
                         (struct bench_side){bare, ticking},
                         (struct bench_side){run_yardstick, ticking});
    each->ours /= events;
    each->bare /= events;
    each->added /= events;
    bench_row_measure(each);
}

void bench_tick(struct bench_table *table)
{
    struct ticking ticking;

    ticking_create(&ticking, table->quick);
    add_row(table, &ticking,
            (struct bench_row){.what = "tick, each of 8 events", .limit = TICK_LIMIT}, run_ticks,
            run_bare_moving);
    add_row(table, &ticking,
            (struct bench_row){.what = "reading alone, each of 8 events", .limit = READING_LIMIT},
            run_source, run_bare);
    ticking_destroy(&ticking);
}

static struct apapi_live_page page;
static struct session_common common;

static double run_live_ticks(void *context)
{
    struct ticking *ticking = context;

    TIMED_TICKS({
        component_account(&ticking->component, component_fetch(&ticking->component));
        common_report(&common, &ticking->component);
    });
}

static void add_live_tick(struct bench_table *table)
{
    struct ticking ticking;

    ticking_create(&ticking, table->quick);
    live_page_init(&page);
    common.live = &page;
    common.components = &ticking.component;
    common_init(&common, session_clock_real(), NULL);
    common_join(&common, &ticking.component);
    add_row(table, &ticking,
            (struct bench_row){.what = "live page: tick with it, each of 8 events",
                               .limit = LIVE_LIMIT},
            run_live_ticks, run_ticks);
    common_clear(&common);
    ticking_destroy(&ticking);
}

/* Reading a figure of the page while it is written, against the loads alone. */

static struct apapi_live_slot slot;
static atomic_bool stop;
static volatile double sink; /* the reads must not be optimised away */

static void *write_slot(void *unused)
{
    struct apapi_live_slot figures = {.flags = APAPI_LIVE_MEASURED};

    while (!atomic_load(&stop)) {
        figures.total += 1;
        live_slot_write(&slot, &figures);
        bench_sleep(WRITE_PAUSE_NS, 0);
    }
    return unused;
}

static double run_slot_read(void *unused)
{
    struct apapi_live_slot copy;

    (void)unused;
    BENCH_TIMED(
        clock_thread_cpu_ns, READS, 1, if (apapi_live_read(&slot, &copy)) { sink = copy.total; });
}

static double run_slot_loads(void *unused)
{
    const apapi_live_word *words = (const apapi_live_word *)(const void *)&slot;
    struct apapi_live_slot copy;
    apapi_live_word *to = (apapi_live_word *)(void *)&copy;

    (void)unused;
    BENCH_TIMED(clock_thread_cpu_ns, READS, 1, {
        for (size_t word = 0; word < sizeof slot / sizeof *words; word++) {
            to[word] = __atomic_load_n(words + word, __ATOMIC_RELAXED);
        }
        sink = copy.total;
    });
}

void bench_live(struct bench_table *table)
{
    const struct bench_row row = {.what = "live page: reading one figure",
                                  .unit = "ns",
                                  .pairs = 251,
                                  .quick_pairs = 21,
                                  .limit = READ_LIMIT};
    pthread_t writer;

    atomic_store(&stop, false);
    if (pthread_create(&writer, NULL, write_slot, NULL)) {
        bench_die("no thread");
    }
    bench_compare(table, row, (struct bench_side){run_slot_read, NULL},
                  (struct bench_side){run_slot_loads, NULL}, BENCH_NO_YARDSTICK);
    atomic_store(&stop, true);
    pthread_join(writer, NULL);
    add_live_tick(table);
}

/* A session that has the component, and a tick with its thresholds. */
struct watched {
    struct ticking ticking;
    struct sampling *sampling;
};

static double run_watched_ticks(void *context)
{
    struct watched *watched = context;
    struct ticking *ticking = &watched->ticking;

    TIMED_TICKS({
        component_account(&ticking->component, component_fetch(&ticking->component));
        overflow_evaluate(&watched->sampling->common.overflows, &ticking->component, 0);
    });
}

static void ignore(const struct apapi_overflow_crossing *crossing, void *user)
{
    (void)crossing;
    (void)user;
}

/* Of each mode, of events, domains and the total. */
static void watch(struct watched *watched, double threshold, size_t index)
{
    const struct component *component = &watched->ticking.component;
    const char *event = component->events[index % component->event_count].name;
    const struct apapi_overflow what = {.event = index % 8 == 6   ? "package"
                                                 : index % 8 == 7 ? "total"
                                                                  : event,
                                        .threshold = threshold,
                                        .mode = (unsigned)(index / 8 % 3),
                                        .handler = ignore};
    struct apapi_error err;

    if (overflow_add(watched->sampling, &what, &err) < 0) {
        fprintf(stderr, "apapi-bench: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
}

static void watched_create(struct watched *watched, size_t thresholds, bool quick)
{
    ticking_create(&watched->ticking, quick);
    watched->sampling = sampling_create(1, NULL);
    watched->sampling->components[0] = watched->ticking.component;
    watched->sampling->components[0].interval_ns = APAPI_INTERVAL_DEFAULT_NS;
    for (size_t i = 0; i < thresholds; i++) {
        watch(watched, NEVER_J, i);
    }
}

static void watched_destroy(struct watched *watched)
{
    memset(watched->sampling->components, 0, sizeof *watched->sampling->components);
    sampling_end(watched->sampling);
    ticking_destroy(&watched->ticking);
}

static void add_overflow_row(struct bench_table *table, const char *what, size_t thresholds)
{
    struct watched watched;
    struct bench_row row = {
        .unit = "ns", PAIRS, .limit = thresholds ? OVERFLOW_LIMIT : NO_OVERFLOW_LIMIT};

    snprintf(row.what, sizeof row.what, "%s", what);
    watched_create(&watched, thresholds, table->quick);
    bench_compare(table, row, (struct bench_side){run_watched_ticks, &watched},
                  (struct bench_side){run_ticks, &watched.ticking},
                  (struct bench_side){run_yardstick, &watched.ticking});
    watched_destroy(&watched);
}

/* Two of the same components, one with 64 limits and one with none, in turns. */
static void add_limits_row(struct bench_table *table)
{
    static struct watched watched[2];
    const struct bench_row row = {
        .what = "tick of 8 events, 64 limits / none", .unit = "ns", PAIRS, .limit = LIMITS_LIMIT};

    for (size_t i = 0; i < 2; i++) {
        watched_create(&watched[i], i == 0 ? APAPI_OVERFLOW_MAX : 0, table->quick);
    }
    bench_compare(table, row, (struct bench_side){run_watched_ticks, &watched[0]},
                  (struct bench_side){run_watched_ticks, &watched[1]}, BENCH_NO_YARDSTICK);
    for (size_t i = 0; i < 2; i++) {
        watched_destroy(&watched[i]);
    }
}

void bench_overflow(struct bench_table *table)
{
    add_overflow_row(table, "tick of 8 events, no threshold", 0);
    add_overflow_row(table, "tick of 8 events, 64 thresholds", APAPI_OVERFLOW_MAX);
    add_limits_row(table);
}
