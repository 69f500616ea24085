/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H
#include <stdbool.h>
#include <stddef.h>

/** How a row's two figures are set against each other. */
enum bench_relation {
    BENCH_RATIO,    /* ours / bare */
    BENCH_ADDED,    /* ours - bare [unit]; no limit, which would depend on the machine */
    BENCH_YARDSTICK /* (ours - bare) / yardstick */
};

/** One line of the table: the cost of APAPI, and of the least code that could do the same. */
struct bench_row {
    char what[64];
    const char *unit;
    enum bench_relation relation;
    double limit; /* what `value` must not be above; 0: none */
    double ours;  /* medians of all repetitions [unit] */
    double bare;
    double yardstick; /* what the machine takes for work of the same character [unit]; 0: none */
    double value;     /* of the relation: the median over all pairs of repetitions */
    double added;     /* ours - bare: the same median, whatever the relation [unit] */
};

/** One side of a comparison: do the work once. @return what it cost, in the row's unit. */
struct bench_side {
    double (*run)(void *context);
    void *context;
};

/**
 * Run both sides `pairs` times in turn and fill in the medians. Whatever else the machine does
 * meanwhile falls on both halves of a pair alike, the shorter they are the more so.
 */
void bench_compare(struct bench_row *row, size_t pairs, struct bench_side ours,
                   struct bench_side bare);

/**
 * The same with a third side that runs in turn with them: the yardstick, work of a known size that
 * gets slower with the machine as ours does. The row's relation is BENCH_YARDSTICK.
 */
void bench_compare_yardstick(struct bench_row *row, size_t pairs, const struct bench_side sides[3]);

/** Set `value` of a row with a yardstick from `added` and `yardstick`. */
void bench_row_measure(struct bench_row *row);

/** @return whether the row has no limit or keeps it. */
bool bench_row_within_limit(const struct bench_row *row);

/** End the program: `what` failed, and without it there is nothing to compare. */
_Noreturn void bench_die(const char *what);

#endif
