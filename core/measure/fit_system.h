/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_SYSTEM_H
#define MEASURE_FIT_SYSTEM_H
#include <stdbool.h>
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

/** A sum over rows of x[i] x[j], x[i] y and y y, and of x, passes and y as such. */
struct fit_block {
    uint64_t rows;
    double y, x[FIT_COLUMNS], passes[FIT_COLUMNS];
    double yy;
    double xy[FIT_COLUMNS];
    double xx[FIT_PAIRS]; /* fit_pair() */
};

struct fit_sums {
    uint64_t rows;
    uint64_t block_rows; /* of a full block */
    size_t used;         /* blocks */
    double y;
    double x[FIT_COLUMNS], passes[FIT_COLUMNS];
    double x_passes[FIT_COLUMNS][FIT_COLUMNS]; /* of each x with the passes of each column */
    struct fit_block blocks[FIT_BLOCKS];
};

/** @return the place of x[i] x[j]. */
static inline size_t fit_pair(size_t i, size_t j)
{
    return i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

void fit_sums_clear(struct fit_sums *sums);

/** Add a row: columns from `columns` on are 0. Does not allocate. @param passes  NULL: all are 0 */
void fit_sums_add(struct fit_sums *sums, const double x[], const double passes[], size_t columns,
                  double y);

/** From now on, and for all rows before, column `from` is a part of column `to`; it becomes 0. */
void fit_sums_join(struct fit_sums *sums, size_t from, size_t to);

/** All blocks together. */
void fit_sums_total(const struct fit_sums *sums, struct fit_block *total);

/** Symmetric equations xx p = xy of `size` unknowns, the diagonal of xx scaled to 1. */
struct fit_system {
    size_t size;
    double scale[FIT_COLUMNS]; /* unknown i in the caller's unit = p[i] * scale[i] */
    double xy[FIT_COLUMNS];
    double xx[FIT_COLUMNS][FIT_COLUMNS];
};

/** A part of a unit diagonal below which a column is the sum of others. */
#define FIT_SINGULAR 1e-9

/** Scale a system that has been filled with the caller's sums. A column of zeros stays 0. */
void fit_system_scale(struct fit_system *system);

/** Invert xx. @return `size`; the index of a column that is the sum of columns before it. */
size_t fit_system_invert(const struct fit_system *system, double inverse[FIT_COLUMNS][FIT_COLUMNS]);

/** Replace the right side by the solution. @return as fit_system_invert(): below `size` it stays.
 */
size_t fit_system_solve_free(const struct fit_system *system, double right[FIT_COLUMNS]);

/**
 * A column that is the sum of columns before it, as fit_system_invert() finds it.
 * @param factors  result: 1 for the column, less what it is of each of the others
 */
void fit_system_depend(const struct fit_system *system, size_t column, double factors[FIT_COLUMNS]);

/** @return the part of the last column that the others do not explain, 0 to 1. */
double fit_system_tolerance(const struct fit_system *system);

/** The least squares with all p >= 0 (Lawson and Hanson). */
void fit_system_solve(const struct fit_system *system, double p[FIT_COLUMNS]);

#endif
