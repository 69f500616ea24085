/* SPDX-License-Identifier: BSD-3-Clause */
/* What it costs to find a job's records among many others, against counting the lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apapi/scan.h"
#include "base/clock.h"
#include "base/count_of.h"
#include "bench/parts.h"

#define RECORDS 20000
#define LINE_BYTES 2000 /* as of a usual node */
#define CHUNK 262144
#define PAIRS 31
#define QUICK_PAIRS 3
#define LIMIT_US 1000 /* for each MB: 1 GB/s, however fast memory is */
#define MB 1e6

struct pile {
    int fd;
    double megabytes;
    struct apapi_scan_filter filter;
    size_t found;
};

static const char line[] = "{\"apapi\":1,\"cluster\":\"mars\",\"job\":%d,\"step\":\"0\",\"name\":"
                           "\"stream\",\"node\":\"n%d\","
                           "\"node_index\":0,\"nodes\":2,\"tasks\":4,\"uid\":1000,\"user\":\"user%"
                           "d\",\"account\":\"physics\","
                           "\"partition\":\"batch\",\"start\":\"2026-11-21T11:20:01.123456789Z\","
                           "\"elapsed_s\":3.004123456,"
                           "\"late_s\":0.0012,\"complete\":true,\"domains\":{";

static void pile_create(struct pile *pile)
{
    FILE *file;

    pile->fd = memfd_create("apapi-bench", MFD_CLOEXEC);
    file = pile->fd < 0 ? NULL : fdopen(dup(pile->fd), "w");
    if (!file) {
        bench_die("memfd_create");
    }
    for (int i = 0; i < RECORDS; i++) {
        int size = fprintf(file, line, i / 4 + 1, i % 4, i % 7);

        for (; size < LINE_BYTES; size++) {
            putc('x', file);
        }
        putc('\n', file);
    }
    pile->megabytes = (double)ftell(file) / MB;
    if (fclose(file)) {
        bench_die("the file of records");
    }
}

static int count_record(const struct apapi_record *record, const char *text, size_t size,
                        void *context)
{
    (void)record;
    (void)text;
    (void)size;
    ++*(size_t *)context;
    return 0;
}

static double us_per_mb(const struct pile *pile, uint64_t start_ns)
{
    return (double)(clock_monotonic_ns() - start_ns) / 1e3 / pile->megabytes;
}

static double run_scan(void *context)
{
    struct pile *pile = context;
    const struct apapi_scan_sink sink = {.record = count_record, .context = &pile->found};
    uint64_t start_ns = clock_monotonic_ns();
    struct apapi_scan *scan = apapi_scan_create(&pile->filter, &sink, NULL);

    if (!scan || lseek(pile->fd, 0, SEEK_SET) < 0 ||
        apapi_scan_stream(scan, pile->fd, "records", NULL)) {
        bench_die("apapi_scan_stream");
    }
    apapi_scan_destroy(scan);
    return us_per_mb(pile, start_ns);
}

static double run_bare(void *context)
{
    static char chunk[CHUNK];
    struct pile *pile = context;
    uint64_t start_ns = clock_monotonic_ns();
    ssize_t got;

    lseek(pile->fd, 0, SEEK_SET);
    while ((got = read(pile->fd, chunk, sizeof chunk)) > 0) {
        for (const char *at = chunk; (at = memchr(at, '\n', (size_t)(chunk + got - at))); at++) {
            pile->found++;
        }
    }
    return us_per_mb(pile, start_ns);
}

void bench_scan(struct bench_table *table, bool quick)
{
    static const uint32_t job = RECORDS; /* the job of no one */
    static const struct {
        const char *what;
        struct apapi_scan_filter filter;
    } cases[] = {
        {"records by job, one MB of others", {.jobs = &job, .job_count = 1}},
        {"records by partition, one MB of others", {.partition = "debug"}},
        {"records by time, one MB of others", {.to_unix_ns = 1}},
    };
    struct pile pile = {0};

    pile_create(&pile);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench_row *row = bench_table_add(
            table, (struct bench_row){.unit = "us", .relation = BENCH_ADDED, .limit = LIMIT_US});

        snprintf(row->what, sizeof row->what, "%s", cases[i].what);
        pile.filter = cases[i].filter;
        bench_compare(row, quick ? QUICK_PAIRS : PAIRS, (struct bench_side){run_scan, &pile},
                      (struct bench_side){run_bare, &pile});
    }
    close(pile.fd);
}
