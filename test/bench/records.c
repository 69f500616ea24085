/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of finding records, and of reading whole ones: decoding, `apapi report`, `apapi show`.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "base/clock.h"
#include "bench/bench.h"

#define RECORDS 10000
#define QUICK_RECORDS 100
#define DECODED 1000 /* records at once */
#define PAIRS 15, 3
#define NODES 100 /* nodes, if each job runs on one of them */
#define MB 1e6
/* Factors of jansson's time, which only reads the same JSON. */
#define DECODE_LIMIT 0.3
#define REPORT_LIMIT 0.25
#define MERGE_LIMIT 1.1
#define SCAN_LIMIT 4 /* factor of the time for finding the lines */
#define CHUNK 262144
#define NO_JOB 20000

static char table_form[] = "--format=table", merged_form[] = "--format=merged";

/* Lines in memory, and what is done with them. */
struct pile {
    int fd;
    char path[32]; /* path of their file, for other programs */
    char *text;
    size_t size, count;
    double megabytes;
    char *const *argv;
    struct apapi_scan_filter filter;
    size_t found;
};

FILE *bench_open_records(size_t count, bool one_step)
{
    size_t nodes = one_step ? count : 1;
    char command[512];
    FILE *lines;

    /* a job and its step have as many records as nodes */
    snprintf(command, sizeof command, "'" BENCH_RECORDS "' - %zu %zu %zu %zu %zu", count, count,
             one_step ? nodes : NODES, nodes, nodes);
    lines = popen(command, "r");
    if (!lines) {
        bench_die(command);
    }
    return lines;
}

static void pile_create(struct pile *pile, size_t count, bool one_step)
{
    FILE *records = bench_open_records(count, one_step);
    char *line = NULL;
    size_t room = 0;
    FILE *file;

    pile->fd = memfd_create("apapi-bench", 0);
    file = pile->fd < 0 ? NULL : fdopen(pile->fd, "w");
    if (!file) {
        bench_die("memfd_create");
    }
    while (getline(&line, &room, records) > 0) {
        fputs(line, file);
    }
    free(line);
    if (pclose(records)) {
        bench_die("make_records");
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

/* @return the time for one MB [us] */
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

/* @return the time for all lines of the pile [ms] */
static double run_jansson_ms(void *context)
{
    return run_jansson(context) * ((const struct pile *)context)->megabytes / 1e3;
}

static double ms_of(const struct timeval *time)
{
    return (double)time->tv_sec * 1e3 + (double)time->tv_usec / 1e3;
}

/* @return the program's CPU time [ms] */
static double run_program(void *context)
{
    const struct pile *pile = context;
    struct rusage usage;

    bench_spawn(pile->argv, &usage);
    return ms_of(&usage.ru_utime) + ms_of(&usage.ru_stime);
}

static double run_program_mb(void *context)
{
    return run_program(context) * 1e3 / ((const struct pile *)context)->megabytes;
}

static void add_report(struct bench_table *table, struct pile *pile)
{
    static char apapi[] = BENCH_APAPI, command[] = "report", by[] = "--by=user";
    char *const argv[] = {apapi, command, by, pile->path, NULL};

    pile->argv = argv;
    bench_compare(
        table,
        (struct bench_row){"report --by user, CPU time of one MB", "us", PAIRS, REPORT_LIMIT}, pile,
        run_program_mb, NULL, run_jansson);
}

static void add_merge(struct bench_table *table, struct pile *pile, const char *what, char *form)
{
    static char apapi[] = BENCH_APAPI, command[] = "show";
    char *const argv[] = {apapi, command, form, pile->path, NULL};

    pile->argv = argv;
    bench_compare(table, (struct bench_row){what, "ms", PAIRS, MERGE_LIMIT}, pile, run_program,
                  NULL, run_jansson_ms);
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

void bench_records(struct bench_table *table)
{
    static const uint32_t job = NO_JOB;
    size_t count = table->quick ? QUICK_RECORDS : RECORDS;
    struct pile jobs = {.filter = {.jobs = &job, .job_count = 1}}, step = {0};

    pile_create(&jobs, count, false);
    pile_create(&step, count, true);
    bench_compare(
        table,
        (struct bench_row){"decoding, one MB of records; bare: jansson", "us", PAIRS, DECODE_LIMIT},
        &jobs, run_decode, run_jansson, NULL);
    bench_compare(table,
                  (struct bench_row){"records by job, one MB of others", "us", PAIRS, SCAN_LIMIT},
                  &jobs, run_scan, run_count, NULL);
    add_report(table, &jobs);
    add_merge(table, &step, "apapi show -f table, CPU time, 10000 nodes", table_form);
    add_merge(table, &step, "apapi show -f merged, CPU time, 10000 nodes", merged_form);
}
