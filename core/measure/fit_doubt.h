/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_DOUBT_H
#define MEASURE_FIT_DOUBT_H
#include "measure/fit_system.h"

/*
 * Columns that the rows cannot tell apart get a power in common. If there are more than two, as a
 * thread that waits while another one is in one of several regions, the powers of the others
 * depend on that choice: all of them may be wrong, but only together.
 */

/** A direction in which powers may be wrong. */
struct fit_doubt {
    double w[FIT_COLUMNS];      /* of each column, if the first one is wrong by 1 W */
    double least_w, greatest_w; /* of the first one, by the rows; infinite: they do not say */
    size_t column;              /* the first one */
};

/** All of them. */
struct fit_doubts {
    size_t count;
    struct fit_doubt list[FIT_COLUMNS];
};

/**
 * Find two columns that have the same power near the middle of what is possible.
 * @param p_w     by column, possible powers [W]
 * @param time_s  by column, of all rows
 * @param pair    result: the columns, the first one before the other
 * @return false: there are none
 */
bool fit_doubt_pair(const struct fit_doubt *doubt, const double p_w[FIT_COLUMNS],
                    const double time_s[FIT_COLUMNS], size_t pair[2]);

/**
 * The bound of each power's error. No power is below 0.
 * @param p_w       by column [W]
 * @param time_s    by column, of all rows
 * @param within_w  result, by column [W]: the sum over all directions
 */
void fit_doubts_within(const struct fit_doubts *doubts, const double p_w[FIT_COLUMNS],
                       const double time_s[FIT_COLUMNS], double within_w[FIT_COLUMNS]);

#endif
