/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "trace/ring.h"
#include "trace/trace_row.h"

#define ROWS 65536 /* 3 MiB: 2 s of 32 events at 1000 Hz */
#define PAUSE_NS 20000000

struct trace {
    struct ring *ring;
    FILE *file;
    const char *path;
    unsigned run; /* from 1; 0: none yet */
    struct trace_rows rows;
    int error; /* errno of the first failed write */
    atomic_bool stop;
    pthread_mutex_t lock; /* protects `stopped` only; never taken by the sampling thread */
    pthread_cond_t stopped;
    pthread_t thread;
};

void trace_sample(const struct apapi_sample *sample, void *context)
{
    struct trace *trace = context;

    if (!ring_reserve(trace->ring, sample->event_count)) {
        return;
    }
    for (size_t i = 0; i < sample->event_count; i++) {
        *ring_reserved(trace->ring, i) = (struct ring_row){
            .event = &sample->events[i],
            .time_ns = sample->time_ns,
            .raw = sample->readings[i].raw,
            .value = sample->values[i],
            .run = trace->run,
            .error = sample->readings[i].error,
        };
    }
    ring_publish(trace->ring, sample->event_count);
}

static void drain(struct trace *trace)
{
    struct ring_row row;

    while (ring_take(trace->ring, &row)) {
        if (!trace->error) {
            trace_rows_put(&trace->rows, &row, trace->file);
        }
        if (!trace->error && ferror(trace->file)) {
            trace->error = errno;
        }
    }
}

static void pause_a_while(struct trace *trace)
{
    const struct timespec until = thread_deadline(clock_monotonic_ns() + PAUSE_NS);

    pthread_mutex_lock(&trace->lock);
    if (!atomic_load(&trace->stop)) {
        pthread_cond_timedwait(&trace->stopped, &trace->lock, &until);
    }
    pthread_mutex_unlock(&trace->lock);
}

static void *write_rows(void *argument)
{
    struct trace *trace = argument;

    while (!atomic_load(&trace->stop)) {
        drain(trace);
        pause_a_while(trace);
    }
    drain(trace);
    return NULL;
}

static void destroy(struct trace *trace)
{
    ring_destroy(trace->ring);
    pthread_cond_destroy(&trace->stopped);
    pthread_mutex_destroy(&trace->lock);
    trace_rows_clear(&trace->rows);
    free(trace);
}

struct trace *trace_create(FILE *file, const char *path, struct apapi_error *err)
{
    struct trace *trace = calloc(1, sizeof *trace);
    int error = ENOMEM;

    if (trace) {
        pthread_mutex_init(&trace->lock, NULL);
        thread_condition(&trace->stopped);
        trace->path = path;
        trace->file = file;
        trace->ring = ring_create(ROWS);
    }
    if (trace && trace->ring) {
        fputs(TRACE_HEADER, file);
        error = thread_start(&trace->thread, write_rows, trace) ? errno : 0;
    }
    if (error) {
        fclose(file);
        if (trace) {
            destroy(trace);
        }
        apapi_fail(err, error, "no trace: %s", strerror(error));
        return NULL;
    }
    return trace;
}

void trace_next_run(struct trace *trace)
{
    trace->run++;
}

static int trace_verdict(const struct trace *trace, struct apapi_error *err)
{
    uint64_t dropped = ring_dropped(trace->ring);

    if (trace->error) {
        return apapi_fail(err, trace->error, "trace %.140s is not complete: %s", trace->path,
                          strerror(trace->error));
    }
    if (dropped) {
        return apapi_fail(err, EOVERFLOW,
                          "trace %.140s is not complete: %" PRIu64 " readings were dropped",
                          trace->path, dropped);
    }
    return 0;
}

int trace_finish(struct trace *trace, struct apapi_error *err)
{
    int result;

    if (!trace) {
        return 0;
    }
    pthread_mutex_lock(&trace->lock);
    atomic_store(&trace->stop, true);
    pthread_cond_signal(&trace->stopped);
    pthread_mutex_unlock(&trace->lock);
    pthread_join(trace->thread, NULL);
    if (fclose(trace->file) == EOF && !trace->error) {
        trace->error = errno;
    }
    result = trace_verdict(trace, err);
    destroy(trace);
    return result;
}
