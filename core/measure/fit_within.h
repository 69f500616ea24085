/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_WITHIN_H
#define MEASURE_FIT_WITHIN_H
#include <stddef.h>

#include "measure/fit_solve.h"
#include "measure/fit_sums.h"

/** Columns that have one unknown in common. */
struct fit_groups {
    size_t count;
    size_t of[FIT_COLUMNS]; /* by column; FIT_COLUMNS: it is left out */
};

/** The equations of the groups' unknowns, not scaled. */
void fit_groups_fill(const struct fit_groups *groups, const struct fit_block *block,
                     struct fit_system *system);

/** How sure the unknowns are. */
struct fit_within {
    double noise_j;             /* standard deviation of a row, at least; set by the caller */
    double half_w[FIT_COLUMNS]; /* by group: in 95 of 100 runs the true one is within this [W] */
    double inverse[FIT_COLUMNS][FIT_COLUMNS];
    double p[FIT_COLUMNS];      /* the unknowns without bounds, scaled */
    struct fit_system of_block; /* to work with */
};

/**
 * Find out how sure they are: from what the rows differ by, and from what the blocks of successive
 * rows differ by, whichever says more. The second one is right also where rows resemble those
 * before them, and where some of them vary more than others.
 * @return fit_system_invert() of the scaled system; below its size nothing else is set
 */
size_t fit_within_make(struct fit_within *within, const struct fit_sums *sums,
                       const struct fit_block *total, const struct fit_groups *groups,
                       const struct fit_system *system);

/** @return the half-width of a 95 % interval in standard errors: Student's t. */
double fit_student(double freedom);

#endif
