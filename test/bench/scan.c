/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of finding a job's records among many others, against counting the lines. The
 * yardstick looks at the beginning of each line as one would write it first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apapi/scan.h"
#include "base/array.h"
#include "base/clock.h"
#include "bench/bench.h"

#define RECORDS 20000
#define QUICK_RECORDS 1000
#define LINE_BYTES 2000 /* as of a usual node */
#define CHUNK 262144
#define HEAD_MAX 512
#define LIMIT 2.8
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

static void pile_create(struct pile *pile, int records)
{
    FILE *file;

    pile->fd = memfd_create("apapi-bench", MFD_CLOEXEC);
    file = pile->fd < 0 ? NULL : fdopen(dup(pile->fd), "w");
    if (!file) {
        bench_die("memfd_create");
    }
    for (int i = 0; i < records; i++) {
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
    return (double)(clock_thread_cpu_ns() - start_ns) / 1e3 / pile->megabytes;
}

static double run_scan(void *context)
{
    struct pile *pile = context;
    const struct apapi_scan_sink sink = {.record = count_record, .context = &pile->found};
    uint64_t start_ns = clock_thread_cpu_ns();
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
    uint64_t start_ns = clock_thread_cpu_ns();
    ssize_t got;

    lseek(pile->fd, 0, SEEK_SET);
    while ((got = read(pile->fd, chunk, sizeof chunk)) > 0) {
        for (const char *at = chunk; (at = memchr(at, '\n', (size_t)(chunk + got - at))); at++) {
            pile->found++;
        }
    }
    return us_per_mb(pile, start_ns);
}

/* Is the line of this job or partition, or of this time? */
static bool plain_line(char *head)
{
    int year, month, day, hour, minute, second;
    bool found = false;
    char *rest = NULL;

    for (char *field = strtok_r(head, ",", &rest); field; field = strtok_r(NULL, ",", &rest)) {
        if (strncmp(field, "\"job\":", 6) == 0) {
            found |= strtol(field + 6, NULL, 10) == RECORDS;
        } else if (strncmp(field, "\"partition\":", 12) == 0) {
            found |= strcmp(field + 12, "\"debug\"") == 0;
        } else if (strncmp(field, "\"start\":", 8) == 0) {
            found |= sscanf(field + 8, "\"%d-%d-%dT%d:%d:%d", &year, &month, &day, &hour, &minute,
                            &second) == 6 &&
                     year < 2000;
        }
    }
    return found;
}

/* @return what run_bare() does not take of it */
static double run_plain(void *context)
{
    static char chunk[CHUNK];
    struct pile *pile = context;
    uint64_t start_ns = clock_thread_cpu_ns();
    char head[HEAD_MAX];
    ssize_t got;

    lseek(pile->fd, 0, SEEK_SET);
    while ((got = read(pile->fd, chunk, sizeof chunk)) > 0) {
        const char *at = chunk;

        for (const char *end; (end = memchr(at, '\n', (size_t)(chunk + got - at))); at = end + 1) {
            size_t size = (size_t)(end - at) < sizeof head ? (size_t)(end - at) : sizeof head - 1;

            memcpy(head, at, size);
            head[size] = '\0';
            pile->found += plain_line(head);
        }
    }
    return us_per_mb(pile, start_ns) - run_bare(context);
}

void bench_scan(struct bench_table *table)
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

    pile_create(&pile, table->quick ? QUICK_RECORDS : RECORDS);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench_row row = {.unit = "us", .pairs = 31, .quick_pairs = 3, .limit = LIMIT};

        snprintf(row.what, sizeof row.what, "%s", cases[i].what);
        pile.filter = cases[i].filter;
        bench_compare(table, row, (struct bench_side){run_scan, &pile},
                      (struct bench_side){run_bare, &pile}, (struct bench_side){run_plain, &pile});
    }
    close(pile.fd);
}
