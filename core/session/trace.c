/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/thread.h"

#define ROWS ((size_t)65536) /* a power of two, 3 MiB: 2 s of 32 events at 1000 Hz */
#define PAUSE_NS 20000000
#define CACHE_LINE 64

/* One reading of one event. */
struct trace_row {
    const struct apapi_event *event; /* outlives the trace */
    uint64_t time_ns;                /* since the start of the run [ns] */
    uint64_t raw;
    double value;     /* in event->unit; NaN: none */
    uint64_t span_ns; /* time in which a counter has counted the value; 0: not known */
    unsigned run;     /* from 1 */
    int error;        /* errno; 0: none */
};

/*
 * Rows on their way from the sampling threads (one thread at a time) to the thread that writes.
 * Each side writes one index and reads the other side's, and never waits.
 */
struct trace_ring {
    _Alignas(CACHE_LINE) atomic_size_t written; /* rows written so far */
    atomic_uint_fast64_t dropped;               /* rows dropped for want of room */
    struct trace_row *rows;                     /* mapped; not inherited by a child */
    _Alignas(CACHE_LINE) atomic_size_t taken;   /* rows taken so far */
};

struct trace {
    struct trace_ring ring;
    FILE *file;
    const char *path;
    unsigned run; /* from 1; 0: none yet */
    int error;    /* errno of the first failed write */
    atomic_bool stop;
    pthread_mutex_t lock; /* protects `stopped` only; never taken by the sampling thread */
    pthread_cond_t stopped;
    pthread_t thread;
};

void trace_sample(const struct apapi_sample *sample, void *context)
{
    struct trace *trace = context;
    struct trace_ring *ring = &trace->ring;
    size_t count = sample->event_count;
    size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    size_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);

    if (written - taken + count > ROWS) {
        atomic_fetch_add_explicit(&ring->dropped, count, memory_order_relaxed);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ring->rows[(written + i) % ROWS] = (struct trace_row){
            .event = &sample->events[i],
            .time_ns = sample->time_ns,
            .raw = sample->readings[i].raw,
            .value = sample->values[i],
            .span_ns = sample->spans_ns[i],
            .run = trace->run,
            .error = sample->readings[i].error,
        };
    }
    atomic_store_explicit(&ring->written, written + count, memory_order_release);
}

/* Take the oldest row. @return false: there is none. */
static bool ring_take(struct trace_ring *ring, struct trace_row *row)
{
    size_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);

    if (taken == atomic_load_explicit(&ring->written, memory_order_acquire)) {
        return false;
    }
    *row = ring->rows[taken % ROWS];
    atomic_store_explicit(&ring->taken, taken + 1, memory_order_release);
    return true;
}

/* A row as a line of CSV. */

static double as_double(uint64_t raw)
{
    double value;

    memcpy(&value, &raw, sizeof value);
    return value;
}

static double power_w(const struct trace_row *row)
{
    const struct apapi_event *event = row->event;

    if (event->kind == APAPI_KIND_POWER && !event->accumulates) {
        return row->value;
    }
    return event->kind == APAPI_KIND_ENERGY && event->accumulates && row->span_ns > 0
               ? row->value / (duration(row->span_ns) / 1e9)
               : NAN;
}

static void put_raw(FILE *file, const struct trace_row *row)
{
    switch (row->event->type) {
    case APAPI_TYPE_FP64:
        fprintf(file, ",%.17g", as_double(row->raw));
        break;
    case APAPI_TYPE_INT64:
        fprintf(file, ",%" PRId64, (int64_t)row->raw);
        break;
    default:
        fprintf(file, ",%" PRIu64, row->raw);
        break;
    }
}

static void put_number(FILE *file, double number)
{
    fputc(',', file);
    if (isfinite(number)) {
        fprintf(file, "%.9g", number);
    }
}

static void put_name(FILE *file, const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        fprintf(file, ",%s", name);
        return;
    }
    fputs(",\"", file);
    for (; *name; name++) {
        fprintf(file, *name == '"' ? "\"%c" : "%c", *name);
    }
    fputc('"', file);
}

static void put_row(FILE *file, const struct trace_row *row)
{
    fprintf(file, "%u,%" PRIu64 ".%09" PRIu64, row->run, row->time_ns / 1000000000,
            row->time_ns % 1000000000);
    put_name(file, row->event->name);
    if (row->error) {
        fprintf(file, ",,,%s,,%s", row->event->unit, strerror(row->error));
    } else {
        put_raw(file, row);
        put_number(file, row->value);
        put_name(file, row->event->unit);
        put_number(file, power_w(row));
        fputc(',', file);
    }
    fprintf(file, ",%d\n", row->event->estimated);
}

/* The thread. */

static void drain(struct trace *trace)
{
    struct trace_row row;

    while (ring_take(&trace->ring, &row)) {
        if (!trace->error) {
            put_row(trace->file, &row);
        }
        if (!trace->error && ferror(trace->file)) {
            trace->error = errno;
        }
    }
}

static void *write_rows(void *argument)
{
    struct trace *trace = argument;

    while (!atomic_load(&trace->stop)) {
        struct timespec until;

        drain(trace);
        until = thread_deadline(clock_monotonic_ns() + PAUSE_NS);
        pthread_mutex_lock(&trace->lock);
        if (!atomic_load(&trace->stop)) {
            pthread_cond_timedwait(&trace->stopped, &trace->lock, &until);
        }
        pthread_mutex_unlock(&trace->lock);
    }
    drain(trace);
    return NULL;
}

static void destroy(struct trace *trace)
{
    if (trace->ring.rows) {
        munmap(trace->ring.rows, ROWS * sizeof *trace->ring.rows);
    }
    pthread_cond_destroy(&trace->stopped);
    pthread_mutex_destroy(&trace->lock);
    free(trace);
}

/* Map the rows. If there is no memory, `rows` stays NULL. */
static void create_ring(struct trace_ring *ring)
{
    void *rows = mmap(NULL, ROWS * sizeof *ring->rows, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (rows != MAP_FAILED) {
        madvise(rows, ROWS * sizeof *ring->rows, MADV_DONTFORK);
        ring->rows = rows;
    }
}

struct trace *trace_create(FILE *file, const char *path, struct apapi_error *err)
{
    struct trace *trace = aligned_alloc(CACHE_LINE, sizeof *trace);
    int error = ENOMEM;

    if (trace) {
        memset(trace, 0, sizeof *trace);
        pthread_mutex_init(&trace->lock, NULL);
        thread_condition(&trace->stopped);
        trace->path = path;
        trace->file = file;
        create_ring(&trace->ring);
    }
    if (trace && trace->ring.rows) {
        fputs("run,time_s,event,raw,value,unit,power_w,error,estimated\n", file);
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

int trace_finish(struct trace *trace, struct apapi_error *err)
{
    uint64_t dropped;
    int result = 0;

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
    dropped = atomic_load_explicit(&trace->ring.dropped, memory_order_relaxed);
    if (trace->error) {
        result = apapi_fail(err, trace->error, "trace %.140s is not complete: %s", trace->path,
                            strerror(trace->error));
    } else if (dropped) {
        result = apapi_fail(err, EOVERFLOW,
                            "trace %.140s is not complete: %" PRIu64 " readings were dropped",
                            trace->path, dropped);
    }
    destroy(trace);
    return result;
}
