/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include "session/trace.h"
#include "unit/unit.h"

static const struct apapi_event energy = {.name = "rapl:::A",
                                          .unit = "J",
                                          .kind = APAPI_KIND_ENERGY,
                                          .type = APAPI_TYPE_UINT64,
                                          .accumulates = true,
                                          .scale = 1e-6};
static const struct apapi_event power = {
    .name = "nvml:::B,\"C\"", .unit = "W", .kind = APAPI_KIND_POWER, .type = APAPI_TYPE_INT64};
static const struct apapi_event ratio = {
    .name = "x:::D", .unit = "", .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_FP64, .scale = 1};

#define HEADER "run,time_s,event,raw,value,unit,power_w,error,estimated\n"

/* A reading of one event. */
struct row {
    const struct apapi_event *event;
    uint64_t time_ns, raw;
    double value;
    unsigned run;
    int error;
    uint64_t span_ns;
};

static void sample(struct trace *trace, const struct row *row)
{
    const struct apapi_reading reading = {row->raw, row->error};
    const uint64_t span_ns = row->span_ns;
    const struct apapi_sample one = {"rapl",   row->time_ns, 1,       row->event,
                                     &reading, &row->value,  &span_ns};

    trace_sample(&one, trace);
}

/* Power is that of the counter's own time, whenever its readings were made. */
TEST(a_line_for_each_reading)
{
    static const double half = 0.5;
    struct apapi_event estimate = energy;
    struct row rows[] = {{&energy, 0, 1000000, NAN, 1, 0, 0},
                         {&energy, 100000000, 6000000, 5, 1, 0, 100000000},
                         {&energy, 200000000, 6000000, NAN, 1, 0, 0},
                         {&energy, 300000000, 16000000, 10, 1, 0, 200000000},
                         {&power, 1, (uint64_t)INT64_C(-3), -3, 2, 0, 0},
                         {&ratio, 12345678901, 0, half, 2, 0, 0},
                         {&estimate, 0, 1000000, NAN, 2, 0, 0},
                         {&estimate, 100000000, 0, NAN, 2, EIO, 0}};
    FREED char *text = NULL;
    size_t size;
    struct trace *trace = trace_create(open_memstream(&text, &size), "memory", NULL);

    assert_non_null(trace);
    memcpy(&rows[5].raw, &half, sizeof half);
    estimate.estimated = true;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (i == 0 || rows[i].run != rows[i - 1].run) {
            trace_next_run(trace);
        }
        sample(trace, &rows[i]);
    }
    assert_int_equal(trace_finish(trace, NULL), 0);
    assert_string_equal(text, HEADER "1,0.000000000,rapl:::A,1000000,,J,,,0\n"
                                     "1,0.100000000,rapl:::A,6000000,5,J,50,,0\n"
                                     "1,0.200000000,rapl:::A,6000000,,J,,,0\n"
                                     "1,0.300000000,rapl:::A,16000000,10,J,50,,0\n"
                                     "2,0.000000001,\"nvml:::B,\"\"C\"\"\",-3,-3,W,-3,,0\n"
                                     "2,12.345678901,x:::D,0.5,0.5,,,,0\n"
                                     "2,0.000000000,rapl:::A,1000000,,J,,,1\n"
                                     "2,0.100000000,rapl:::A,,,J,,Input/output error,1\n");
}

#define MANY 200000

/* @return the number of lines; check that each row is later than the one before. */
static void *count_rows(void *in)
{
    static unsigned rows;
    unsigned before = 0;
    char line[256];

    assert_non_null(fgets(line, sizeof line, in));
    assert_string_equal(line, HEADER);
    while (fgets(line, sizeof line, in)) {
        unsigned run, s, ns;

        assert_int_equal(sscanf(line, "%u,%u.%u,rapl:::A,", &run, &s, &ns), 3);
        assert_true(ns > before);
        before = ns;
        rows++;
    }
    fclose(in);
    return &rows;
}

/* The file takes nothing until all samples are made. The lines that it then gets are whole. */
TEST(a_full_ring_drops_and_counts)
{
    struct pollfd full = {.events = POLLOUT};
    char expected[160];
    pthread_t reader;
    struct trace *trace;
    void *rows;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    trace = trace_create(fdopen(ends[1], "w"), "pipe", &why);
    assert_non_null(trace);
    full.fd = ends[1];
    trace_next_run(trace);
    for (unsigned i = 1; i <= MANY; i++) {
        sample(trace, &(struct row){&energy, i, i, NAN, 1, 0, 0});
    }
    while (poll(&full, 1, 0) == 1) { /* the writer has begun */
    }
    assert_int_equal(pthread_create(&reader, NULL, count_rows, fdopen(ends[0], "r")), 0);
    assert_fails(EOVERFLOW, trace_finish(trace, &why));
    pthread_join(reader, &rows);
    snprintf(expected, sizeof expected, "trace pipe is not complete: %u readings were dropped",
             MANY - *(unsigned *)rows);
    assert_string_equal(why.text, expected);
}

TEST(a_full_disk_is_reported)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct trace *trace;

    if (fd < 0) {
        skip_because("no /dev/full here");
    }
    trace = trace_create(fdopen(fd, "w"), "/dev/full", NULL);
    assert_non_null(trace);
    trace_next_run(trace);
    assert_fails_saying(ENOSPC, "trace /dev/full is not complete: No space left on device",
                        trace_finish(trace, &why));
}
