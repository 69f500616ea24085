/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

/** A line of the table: the cost of APAPI, and of the least code that could do the same. */
struct bench_row {
    const char *what;
    const char *unit;
    size_t pairs, quick_pairs; /* how often both sides are run; with --quick */
    double limit;              /* what the ratio must not be above; 0: none */
};

/** One side of a comparison: do the work once. @return what it cost, in the row's unit. */
typedef double (*bench_side_f)(void *context);

/** The end of a side: do `work` so many times. @return what one took on this clock, in units. */
#define BENCH_TIMED(clock, times, unit_ns, work)                                                   \
    uint64_t start_ns = clock();                                                                   \
    for (size_t turn = 0; turn < (size_t)(times); turn++) {                                        \
        work;                                                                                      \
    }                                                                                              \
    return (double)(clock() - start_ns) / (double)(unit_ns) / (double)(times)

struct bench_table {
    bool quick;  /* check that it works, do not measure */
    bool excess; /* a figure is above its limit */
};

/**
 * Run the sides in turn and print a row of medians over all pairs, with ours / bare ("x"). Whatever
 * else the machine does meanwhile falls on all halves of a pair alike, the shorter they are the
 * more so. A yardstick is work of a known size that gets slower with the machine as ours does: then
 * it is (ours - bare) / yardstick ("y"). Without both it is what ours costs. NULL: there is no such
 * side.
 */
void bench_compare(struct bench_table *table, struct bench_row row, void *context,
                   bench_side_f ours, bench_side_f bare, bench_side_f yardstick);

/** Sleep on CLOCK_MONOTONIC; `flags`: TIMER_ABSTIME or 0. */
void bench_sleep(uint64_t ns, int flags);

/** Run a program without its output. @return wall time [ms], and what else it used */
double bench_spawn(char *const argv[], struct rusage *usage);

/** End the program: `what` failed, and without it there is nothing to compare. */
_Noreturn void bench_die(const char *what);

/** @return the lines of test/bench/make_records: of one step on as many nodes, or of as many jobs;
 * to be closed by pclose(). */
FILE *bench_open_records(size_t count, bool one_step);

/** jansson reads a line. Ends the program where it cannot. */
void bench_read_json(const char *line, size_t size);

/** A part of the benchmark adds its rows. */
typedef void (*bench_part_f)(struct bench_table *table);

void bench_tick(struct bench_table *table);
void bench_limits(struct bench_table *table);
void bench_session(struct bench_table *table);
void bench_period(struct bench_table *table);
void bench_startup(struct bench_table *table);
void bench_collect(struct bench_table *table);
void bench_regions(struct bench_table *table);
void bench_observe(struct bench_table *table);
void bench_records(struct bench_table *table);

#endif
