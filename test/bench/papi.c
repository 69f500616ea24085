/* SPDX-License-Identifier: BSD-3-Clause */
/* The extra cost of a reading through PAPI over PAPI_read, and of a start with PAPI. */
#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "sources/papi/papi_library.h"
#include "sources/sources.h"

#define READINGS 500
#define QUICK_READINGS 100
#define READING_LIMIT 1.1
#define EVENTS_MAX 32

struct through_papi {
    const struct papi_library *papi;
    struct apapi_reader *reader;
    int set;
    int readings; /* of one run */
};

static double run_source(void *context)
{
    const struct through_papi *through = context;
    struct apapi_reading readings[EVENTS_MAX];

    BENCH_TIMED(clock_monotonic_ns, through->readings, 1,
                through->reader->source->read(through->reader, readings));
}

static double run_bare(void *context)
{
    const struct through_papi *through = context;
    long long values[EVENTS_MAX];

    BENCH_TIMED(clock_monotonic_ns, through->readings, 1,
                through->papi->read(through->set, values));
}

/* PAPI runs one set of a component in each thread; any thread may read it. */
static void *start_bare(void *context)
{
    struct through_papi *through = context;

    through->set = PAPI_NULL;
    if (through->papi->create_eventset(&through->set) != PAPI_OK) {
        bench_die("PAPI makes no second set");
    }
    for (size_t i = 0; i < through->reader->count; i++) {
        if (through->papi->add_named_event(through->set, through->reader->events[i].name) !=
            PAPI_OK) {
            bench_die("PAPI does not take an event a second time");
        }
    }
    if (through->papi->start(through->set) != PAPI_OK) {
        bench_die("PAPI does not start a second set");
    }
    return NULL;
}

static void compare(struct bench_table *table, struct through_papi *through)
{
    struct bench_row row = {.unit = "ns", .pairs = 251, .quick_pairs = 21, .limit = READING_LIMIT};
    pthread_t thread;
    long long values[EVENTS_MAX];

    if (pthread_create(&thread, NULL, start_bare, through) || pthread_join(thread, NULL)) {
        bench_die("no thread");
    }
    snprintf(row.what, sizeof row.what, "reading through PAPI, %zu events", through->reader->count);
    bench_compare(table, row, (struct bench_side){run_source, through},
                  (struct bench_side){run_bare, through}, BENCH_NO_YARDSTICK);
    through->papi->stop(through->set, values);
    through->papi->cleanup_eventset(through->set);
    through->papi->destroy_eventset(&through->set);
}

void bench_papi(struct bench_table *table)
{
    struct apapi_error err;
    struct through_papi through = {.papi = papi_library_load(&err),
                                   .readings = table->quick ? QUICK_READINGS : READINGS};

    through.reader = through.papi ? apapi_source_papi.open("coretemp", &err) : NULL;
    if (!through.reader || through.reader->count > EVENTS_MAX) {
        fprintf(stderr, "apapi-bench: papi left out: %s\n",
                through.reader ? "too many sensors" : err.text);
        apapi_source_papi.close(through.reader);
        return;
    }
    compare(table, &through);
    apapi_source_papi.close(through.reader);
    setenv("APAPI_CMPLIST", "coretemp", 1);
    bench_add_startup(table, "wall time of atime true, through PAPI", "papi");
    unsetenv("APAPI_CMPLIST");
}
