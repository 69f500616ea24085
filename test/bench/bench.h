/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

/** A row of the table: the cost of APAPI, and of the least code that could do the same. */
struct bench_row {
    const char *what;
    const char *unit;
    size_t pairs, quick_pairs; /* how often both sides are run; with --quick: quick_pairs */
    double limit;              /* greatest allowed ratio; 0: no limit */
};

/** One side of a comparison: do the work once. @return its cost in the row's unit. */
typedef double (*bench_side_f)(void *context);

/** End a side: do `work` `times` times. @return the time of one by this clock, in units. */
#define BENCH_TIMED(clock, times, unit_ns, work)                                                   \
    uint64_t start_ns = clock();                                                                   \
    for (size_t turn = 0; turn < (size_t)(times); turn++) {                                        \
        work;                                                                                      \
    }                                                                                              \
    return (double)(clock() - start_ns) / (double)(unit_ns) / (double)(times)

struct bench_table {
    bool quick;  /* only check that it works, without measuring */
    bool excess; /* a ratio is above its limit */
};

/**
 * Run the sides in turn, and print a row of medians over all pairs with the ratio ours / bare
 * ("x"). What else the machine does slows both halves of a pair alike, the more so the shorter they
 * are. A yardstick is work of a known size that gets slower with the machine, as ours does: then
 * the ratio is (ours - bare) / yardstick ("y"). Without both, it is the cost of ours. NULL: there
 * is no such side.
 */
void bench_compare(struct bench_table *table, struct bench_row row, void *context,
                   bench_side_f ours, bench_side_f bare, bench_side_f yardstick);

/** Sleep by CLOCK_MONOTONIC; `flags`: TIMER_ABSTIME or 0. */
void bench_sleep(uint64_t ns, int flags);

/** Run a program without its output. @return wall time [ms]; `usage` gets what else it used */
double bench_spawn(char *const argv[], struct rusage *usage);

/** End the program because `what` failed: without it, there is nothing to compare. */
_Noreturn void bench_die(const char *what);

/** @return the output of test/bench/make_records, for pclose(): the records of one step on `count`
 * nodes, or of `count` jobs. */
FILE *bench_open_records(size_t count, bool one_step);

/** Read a line with jansson. If that fails, end the program. */
void bench_read_json(const char *line, size_t size);

/** A part of the benchmark, which adds its rows to the table. */
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
