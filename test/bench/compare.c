/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/compare.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define PAIRS_MAX 256

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

void bench_compare(struct bench_row *row, size_t pairs, struct bench_side ours,
                   struct bench_side bare)
{
    double our_costs[PAIRS_MAX], bare_costs[PAIRS_MAX], values[PAIRS_MAX], added[PAIRS_MAX];

    pairs = pairs < PAIRS_MAX ? pairs : PAIRS_MAX;
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
        values[i] = relation(row, our_costs[i], bare_costs[i]);
        added[i] = our_costs[i] - bare_costs[i];
    }
    row->ours = median(our_costs, pairs);
    row->bare = median(bare_costs, pairs);
    row->value = median(values, pairs);
    row->added = median(added, pairs);
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
