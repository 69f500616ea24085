/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of finding records, and of reading whole ones: decoding, `apapi report`, `apapi show
 * -f`.
 */
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "base/array.h"
#include "base/clock.h"
#include "bench/bench.h"

#define RECORDS 10000
#define QUICK_RECORDS 100
#define DECODED 1000 /* at once */
#define PAIRS .pairs = 15, .quick_pairs = 3
#define NODES 100
#define USERS 200
#define MB 1e6
#define DECODE_RATIO_LIMIT 0.3
#define REPORT_LIMIT 0.25 /* times jansson, which only reads the same JSON */
#define MERGE_LIMIT 1.1
#define SCAN_LIMIT 2.8 /* times what one would write first */
#define CHUNK 262144
#define HEAD_MAX 512
#define NO_JOB 20000

/* Lines in memory, and operations on them. */
struct pile {
    int fd;
    char path[32]; /* of the file that they are, for other programs */
    char *text;
    size_t size, count;
    double megabytes;
    char *const *argv;
    struct apapi_scan_filter filter;
    size_t found;
};

/* Of one step on `count` nodes, or of as many jobs. */
static void pile_create(struct pile *pile, size_t count, bool one_step)
{
    FILE *file;

    pile->fd = memfd_create("apapi-bench", 0);
    file = pile->fd < 0 ? NULL : fdopen(pile->fd, "w");
    if (!file) {
        bench_die("memfd_create");
    }
    for (unsigned i = 0; i < count; i++) {
        const struct bench_record of_step = {1, 1000, i, (unsigned)count};
        const struct bench_record of_job = {i + 1, 1000 + i % USERS, i % NODES, 1};
        char *line = bench_record_line(one_step ? &of_step : &of_job);

        fprintf(file, "%s\n", line);
        free(line);
    }
    pile->count = count;
    pile->size = (size_t)ftell(file);
    pile->megabytes = (double)pile->size / MB;
    if (fflush(file)) {
        bench_die("the file of records");
    }
    pile->text = mmap(NULL, pile->size, PROT_READ, MAP_SHARED, pile->fd, 0);
    if (pile->text == MAP_FAILED) {
        bench_die("mmap");
    }
    snprintf(pile->path, sizeof pile->path, "/proc/%d/fd/%d", (int)getpid(), pile->fd);
}

/* @return of one MB [us] */
static double run_lines(const struct pile *pile, void (*read_line)(const char *line, size_t size))
{
    uint64_t start_ns = clock_thread_cpu_ns();
    const char *line = pile->text, *end = pile->text;

    for (size_t i = 0; i < pile->count && i < DECODED; i++, line = end + 1) {
        end = memchr(line, '\n', pile->size - (size_t)(line - pile->text));
        read_line(line, (size_t)(end - line));
    }
    return (double)(clock_thread_cpu_ns() - start_ns) / 1e3 / ((double)(end - pile->text) / MB);
}

static void decode_line(const char *line, size_t size)
{
    struct apapi_record record;

    if (apapi_record_decode(line, size, &record, NULL)) {
        bench_die("a record cannot be read");
    }
    apapi_record_clear(&record);
}

void bench_read_json(const char *line, size_t size)
{
    json_t *root = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);

    if (!root) {
        bench_die("jansson does not read a record");
    }
    json_decref(root);
}

static double run_decode(void *context)
{
    return run_lines(context, decode_line);
}

static double run_jansson(void *context)
{
    return run_lines(context, bench_read_json);
}

/* Of all lines of the pile. @return [ms] */
static double run_jansson_ms(void *context)
{
    return run_jansson(context) * ((const struct pile *)context)->megabytes / 1e3;
}

static double ms_of(const struct timeval *time)
{
    return (double)time->tv_sec * 1e3 + (double)time->tv_usec / 1e3;
}

/* @return CPU time [ms]: one thread, so that of the clock on a machine that has nothing else to do
 */
static double run_program(const struct pile *pile)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, pile->argv[0], &actions, NULL, pile->argv, environ) ||
        wait4(pid, &status, 0, &usage) != pid || status != 0) {
        bench_die("apapi does not run");
    }
    posix_spawn_file_actions_destroy(&actions);
    return ms_of(&usage.ru_utime) + ms_of(&usage.ru_stime);
}

static double run_report(void *context)
{
    const struct pile *pile = context;

    return run_program(pile) * 1e3 / pile->megabytes;
}

static double run_merge(void *context)
{
    return run_program(context);
}

/* The least that could read the records: find the lines, look at each byte. */
static double run_bare(void *context)
{
    static volatile unsigned sum;
    const struct pile *pile = context;
    uint64_t start_ns = clock_thread_cpu_ns();
    const char *line = pile->text, *newline;

    for (; (newline = memchr(line, '\n', pile->size - (size_t)(line - pile->text)));
         line = newline + 1) {
        unsigned of_line = 0;

        for (const char *at = line; at < newline; at++) {
            of_line += (unsigned char)*at;
        }
        sum += of_line;
    }
    return (double)(clock_thread_cpu_ns() - start_ns) / 1e3 / pile->megabytes;
}

static double run_bare_ms(void *context)
{
    return run_bare(context) * ((const struct pile *)context)->megabytes / 1e3;
}

static void add_report(struct bench_table *table, struct pile *pile)
{
    static char apapi[] = BENCH_APAPI, command[] = "report", by[] = "--by=user";
    char *const argv[] = {apapi, command, by, pile->path, NULL};
    struct bench_row row = {
        .what = "report --by user, CPU time of one MB", .unit = "us", PAIRS, .limit = REPORT_LIMIT};

    pile->argv = argv;
    bench_compare(table, row, (struct bench_side){run_report, pile},
                  (struct bench_side){run_bare, pile}, (struct bench_side){run_jansson, pile});
}

static void add_merge(struct bench_table *table, struct pile *pile, const char *form)
{
    static char apapi[] = BENCH_APAPI, command[] = "show", option[32];
    char *const argv[] = {apapi, command, option, pile->path, NULL};
    struct bench_row row = {.unit = "ms", PAIRS, .limit = MERGE_LIMIT};

    pile->argv = argv;
    snprintf(option, sizeof option, "--format=%s", form);
    snprintf(row.what, sizeof row.what, "apapi show -f %s, CPU time, %zu nodes", form, pile->count);
    bench_compare(table, row, (struct bench_side){run_merge, pile},
                  (struct bench_side){run_bare_ms, pile},
                  (struct bench_side){run_jansson_ms, pile});
}

/* --- a job's records among many others: against counting the lines -----------------------------
 */

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

static double run_count(void *context)
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
            found |= strtol(field + 6, NULL, 10) == NO_JOB;
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

/* @return what run_count() does not take of it */
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
    return us_per_mb(pile, start_ns) - run_count(context);
}

static void add_scans(struct bench_table *table, struct pile *pile)
{
    static const uint32_t job = NO_JOB;
    static const struct {
        const char *what;
        struct apapi_scan_filter filter;
    } cases[] = {
        {"records by job, one MB of others", {.jobs = &job, .job_count = 1}},
        {"records by partition, one MB of others", {.partition = "debug"}},
        {"records by time, one MB of others", {.to_unix_ns = 1}},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench_row row = {.unit = "us", .pairs = 31, .quick_pairs = 3, .limit = SCAN_LIMIT};

        snprintf(row.what, sizeof row.what, "%s", cases[i].what);
        pile->filter = cases[i].filter;
        bench_compare(table, row, (struct bench_side){run_scan, pile},
                      (struct bench_side){run_count, pile}, (struct bench_side){run_plain, pile});
    }
}

void bench_records(struct bench_table *table)
{
    struct bench_row decoding = {.what = "decoding, one MB of records; bare: jansson",
                                 .unit = "us",
                                 PAIRS,
                                 .limit = DECODE_RATIO_LIMIT};
    size_t count = table->quick ? QUICK_RECORDS : RECORDS;
    struct pile jobs = {0}, step = {0};

    pile_create(&jobs, count, false);
    pile_create(&step, count, true);
    bench_compare(table, decoding, (struct bench_side){run_decode, &jobs},
                  (struct bench_side){run_jansson, &jobs}, BENCH_NO_YARDSTICK);
    add_scans(table, &jobs);
    add_report(table, &jobs);
    add_merge(table, &step, "table");
    add_merge(table, &step, "merged");
}
