/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_SOLVE_H
#define MEASURE_FIT_SOLVE_H
#include <stddef.h>

#include "measure/fit_sums.h"

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
