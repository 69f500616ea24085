/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define PAIRS_MAX 256
#define YARDSTICK_MIN 1e-9 /* a yardstick below the noise: the row is above every limit */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double relation(const struct bench_row *row, double ours, double bare)
{
    return row->relation == BENCH_RATIO ? ours / bare : ours - bare;
}

void bench_row_measure(struct bench_row *row)
{
    row->value = row->added / fmax(row->yardstick, YARDSTICK_MIN);
}

static void compare(struct bench_row *row, size_t pairs, const struct bench_side *sides,
                    double *yardsticks)
{
    const struct bench_side ours = sides[0], bare = sides[1];
    double our_costs[PAIRS_MAX], bare_costs[PAIRS_MAX], values[PAIRS_MAX], added[PAIRS_MAX];

    ours.run(ours.context); /* caches, page faults and lazy binding are excluded */
    bare.run(bare.context);
    for (size_t i = 0; i < pairs; i++) {
        bool ours_first = i % 2;

        if (ours_first) {
            our_costs[i] = ours.run(ours.context);
        }
        bare_costs[i] = bare.run(bare.context);
        if (!ours_first) {
            our_costs[i] = ours.run(ours.context);
        }
        if (yardsticks) {
            yardsticks[i] = sides[2].run(sides[2].context);
        }
        values[i] = relation(row, our_costs[i], bare_costs[i]);
        added[i] = our_costs[i] - bare_costs[i];
    }
    row->ours = median(our_costs, pairs);
    row->bare = median(bare_costs, pairs);
    row->value = median(values, pairs);
    row->added = median(added, pairs);
}

void bench_compare(struct bench_row *row, size_t pairs, struct bench_side ours,
                   struct bench_side bare)
{
    compare(row, pairs < PAIRS_MAX ? pairs : PAIRS_MAX, (struct bench_side[]){ours, bare}, NULL);
}

void bench_compare_yardstick(struct bench_row *row, size_t pairs, const struct bench_side sides[3])
{
    double yardsticks[PAIRS_MAX];

    pairs = pairs < PAIRS_MAX ? pairs : PAIRS_MAX;
    row->relation = BENCH_YARDSTICK;
    sides[2].run(sides[2].context);
    compare(row, pairs, sides, yardsticks);
    row->yardstick = median(yardsticks, pairs);
    bench_row_measure(row);
}

bool bench_row_within_limit(const struct bench_row *row)
{
    return row->limit == 0 || row->value <= row->limit;
}

void bench_die(const char *what)
{
    fprintf(stderr, "apapi-bench: %s\n", what);
    exit(EXIT_FAILURE);
}
