/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_SUMS_H
#define MEASURE_FIT_SUMS_H
#include <stddef.h>
#include <stdint.h>

/*
 * Sums of products for a linear fit y = x[0] p[0] + x[1] p[1] + ..., whatever the number of rows:
 * the normal equations, in blocks of successive rows. When all blocks are full, pairs of them
 * become one. The blocks' differences show how much rows that follow each other are alike.
 */

#define FIT_COLUMNS ((size_t)64)
#define FIT_BLOCKS ((size_t)32)
#define FIT_PAIRS (FIT_COLUMNS * (FIT_COLUMNS + 1) / 2)

/** A sum over rows of x[i] x[j], x[i] y and y y. */
struct fit_block {
    uint64_t rows;
    double yy;
    double xy[FIT_COLUMNS];
    double xx[FIT_PAIRS]; /* fit_pair() */
};

struct fit_sums {
    uint64_t rows;
    uint64_t block_rows; /* of a full block */
    size_t used;         /* blocks */
    double y;
    double x[FIT_COLUMNS];
    struct fit_block blocks[FIT_BLOCKS];
};

/** @return the place of x[i] x[j]. */
static inline size_t fit_pair(size_t i, size_t j)
{
    return i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

void fit_sums_clear(struct fit_sums *sums);

/** Add a row: columns from `columns` on are 0. Does not allocate. */
void fit_sums_add(struct fit_sums *sums, const double x[], size_t columns, double y);

/** From now on, and for all rows before, column `from` is a part of column `to`; it becomes 0. */
void fit_sums_join(struct fit_sums *sums, size_t from, size_t to);

/** All blocks together. */
void fit_sums_total(const struct fit_sums *sums, struct fit_block *total);

#endif
