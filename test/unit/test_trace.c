/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/ring.h"
#include "trace/trace.h"
#include "trace/trace_row.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

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

static char *lines_of(const struct ring_row *rows, size_t count)
{
    struct trace_rows memory = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    for (size_t i = 0; i < count; i++) {
        trace_rows_put(&memory, &rows[i], out);
    }
    assert_int_equal(fclose(out), 0);
    trace_rows_clear(&memory);
    return text;
}

static void assert_lines(const struct ring_row *rows, size_t count, const char *expected)
{
    char *text = lines_of(rows, count);

    assert_string_equal(text, expected);
    free(text);
}

static void power_is_the_increment_over_its_time(void **state)
{
    static const struct ring_row rows[] = {
        {&energy, 0, 1000000, NAN, 1, 0},         {&energy, 100 * MS, 11000000, 10, 1, 0},
        {&energy, 200 * MS, 0, NAN, 1, EIO},      /* failed: the next one spans both */
        {&energy, 300 * MS, 31000000, 20, 1, 0},  /* 20 J in 200 ms */
        {&energy, 400 * MS, 999, NAN, 1, 0},      /* doubted */
        {&energy, 450 * MS, 10000999, 10, 1, 0},  /* it restarted there: 10 J in 50 ms */
        {&energy, 550 * MS, 99, 5, 1, 0},         /* it wrapped */
        {&energy, 600 * MS, 90000000, NAN, 1, 0}, /* doubted */
        {&energy, 750 * MS, 20000099, 20, 1, 0},  /* it was absurd: 20 J in 200 ms */
        {&energy, 0, 30000000, NAN, 2, 0},        /* another run */
        {&energy, 1000 * MS, 31000000, 1, 2, 0},
    };

    (void)state;
    assert_lines(rows, COUNT_OF(rows),
                 "1,0.000000000,rapl:::A,1000000,,J,,,0\n"
                 "1,0.100000000,rapl:::A,11000000,10,J,100,,0\n"
                 "1,0.200000000,rapl:::A,,,J,,Input/output error,0\n"
                 "1,0.300000000,rapl:::A,31000000,20,J,100,,0\n"
                 "1,0.400000000,rapl:::A,999,,J,,,0\n"
                 "1,0.450000000,rapl:::A,10000999,10,J,200,,0\n"
                 "1,0.550000000,rapl:::A,99,5,J,50,,0\n"
                 "1,0.600000000,rapl:::A,90000000,,J,,,0\n"
                 "1,0.750000000,rapl:::A,20000099,20,J,100,,0\n"
                 "2,0.000000000,rapl:::A,30000000,,J,,,0\n"
                 "2,1.000000000,rapl:::A,31000000,1,J,1,,0\n");
}

static void gauges_and_other_types(void **state)
{
    double half = 0.5;
    struct ring_row rows[] = {{&power, 1, (uint64_t)INT64_C(-3), -3, 1, 0},
                              {&ratio, 12345678901, 0, 0.5, 1, 0}};

    (void)state;
    memcpy(&rows[1].raw, &half, sizeof half);
    assert_lines(rows, 2,
                 "1,0.000000001,\"nvml:::B,\"\"C\"\"\",-3,-3,W,-3,,0\n"
                 "1,12.345678901,x:::D,0.5,0.5,,,,0\n");
}

static void what_is_estimated_is_marked(void **state)
{
    struct apapi_event estimate = energy;
    const struct ring_row rows[] = {{&estimate, 0, 1000000, NAN, 1, 0},
                                    {&energy, 0, 1000000, NAN, 1, 0},
                                    {&estimate, 100 * MS, 0, NAN, 1, EIO}};

    (void)state;
    estimate.estimated = true;
    assert_lines(rows, 3,
                 "1,0.000000000,rapl:::A,1000000,,J,,,1\n"
                 "1,0.000000000,rapl:::A,1000000,,J,,,0\n"
                 "1,0.100000000,rapl:::A,,,J,,Input/output error,1\n");
}

static void a_full_ring_drops_and_counts(void **state)
{
    struct ring *ring = ring_create(4);
    struct ring_row row;

    (void)state;
    assert_non_null(ring);
    assert_false(ring_take(ring, &row));
    assert_false(ring_reserve(ring, 5));
    for (unsigned round = 0; round < 10; round++) {
        assert_true(ring_reserve(ring, 3));
        for (unsigned i = 0; i < 3; i++) {
            *ring_reserved(ring, i) = (struct ring_row){.run = round * 3 + i};
        }
        ring_publish(ring, 3);
        assert_false(ring_reserve(ring, 2));
        for (unsigned i = 0; i < 3; i++) {
            assert_true(ring_take(ring, &row));
            assert_int_equal(row.run, round * 3 + i);
        }
        assert_false(ring_take(ring, &row));
    }
    assert_int_equal(ring_dropped(ring), 5 + 10 * 2);
    ring_destroy(ring);
    ring_destroy(NULL);
}

#define STRESS 200000

static void *produce(void *argument)
{
    struct ring *ring = argument;

    for (unsigned i = 0; i < STRESS;) {
        if (ring_reserve(ring, 2)) {
            *ring_reserved(ring, 0) = (struct ring_row){.run = i, .raw = ~(uint64_t)i};
            *ring_reserved(ring, 1) = (struct ring_row){.run = i + 1, .raw = ~(uint64_t)(i + 1)};
            ring_publish(ring, 2);
            i += 2;
        }
    }
    return NULL;
}

static void two_threads_lose_nothing(void **state)
{
    struct ring *ring = ring_create(64);
    pthread_t producer;

    (void)state;
    assert_non_null(ring);
    assert_int_equal(pthread_create(&producer, NULL, produce, ring), 0);
    for (unsigned i = 0; i < STRESS;) {
        struct ring_row row;

        if (ring_take(ring, &row)) {
            assert_int_equal(row.run, i);
            assert_true(row.raw == ~(uint64_t)i);
            i++;
        }
    }
    pthread_join(producer, NULL);
    ring_destroy(ring);
}

static void a_file_holds_all_samples(void **state)
{
    char path[] = "/tmp/apapi-trace-XXXXXX";
    int fd = mkstemp(path);
    /* the events live until the end */
    static struct apapi_event events[1];
    const struct apapi_reading readings[1] = {{7, 0}};
    const double values[1] = {NAN};
    const struct apapi_sample one = {"rapl", 5 * MS, 1, events, readings, values};
    struct trace *trace;
    char text[256] = "";
    FILE *file;

    (void)state;
    assert_true(fd >= 0);
    events[0] = energy;
    trace = trace_create(fdopen(fd, "w"), path, NULL);
    assert_non_null(trace);
    trace_next_run(trace);
    trace_sample(&one, trace);
    assert_int_equal(trace_finish(trace, NULL), 0);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    unlink(path);
    assert_string_equal(text, TRACE_HEADER "1,0.005000000,rapl:::A,7,,J,,,0\n");
    assert_int_equal(trace_finish(NULL, NULL), 0);
}

static void a_full_disk_is_reported(void **state)
{
    struct apapi_error err = {""};
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct trace *trace;

    (void)state;
    if (fd < 0) {
        skip_because("no /dev/full here");
    }
    trace = trace_create(fdopen(fd, "w"), "/dev/full", &err);
    assert_non_null(trace);
    trace_next_run(trace);
    assert_int_equal(trace_finish(trace, &err), -1);
    assert_int_equal(errno, ENOSPC);
    assert_string_equal(err.text, "trace /dev/full is not complete: No space left on device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_is_the_increment_over_its_time),
        cmocka_unit_test(gauges_and_other_types),
        cmocka_unit_test(what_is_estimated_is_marked),
        cmocka_unit_test(a_full_ring_drops_and_counts),
        cmocka_unit_test(two_threads_lose_nothing),
        cmocka_unit_test(a_file_holds_all_samples),
        cmocka_unit_test(a_full_disk_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
