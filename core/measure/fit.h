/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_H
#define MEASURE_FIT_H
#include "measure/fit_system.h"

/*
 * The power of parts of a program that are shorter than the time between two readings of a meter.
 * A row is an interval between two readings: the energy, and the time that threads spent in each
 * part. The part's power is the one with which the squares of all rows' differences are least, and
 * no power is below 0.
 *
 * Column FIT_OUTSIDE is time without any of these threads, FIT_INSIDE the interval's other time,
 * all others are thread-time. Where the number of threads changes, FIT_INSIDE and FIT_OUTSIDE
 * together are the power that does not depend on the threads. Where it does not, that power cannot
 * be told from the threads', and is shared by them.
 *
 * The power of a part may depend on how long a pass of it is: an exchange that sometimes waits
 * draws less then. So a pass has, beside that power, an energy of its own, above or below 0. It is
 * small beside that of a short pass unless the rows say more; as far as they do not, the energies
 * are that much less sure.
 *
 * Columns that the rows cannot tell from others have a power in common. The energy of an interval
 * in which only one part was active is that part's, whatever its mean power.
 */

enum { FIT_OUTSIDE, FIT_INSIDE, FIT_PARTS };

/** The length of a column's passes. */
struct fit_length {
    double time_s, passes; /* since the latest mean length was taken */
    double least_s;        /* the least of these means; 0: there is none */
};

struct fit {
    struct fit_sums sums;
    struct fit_length lengths[FIT_COLUMNS];
    double pure_y[FIT_COLUMNS]; /* of rows in which only this column was active */
    double pure_x[FIT_COLUMNS], pure_passes[FIT_COLUMNS];
    uint64_t pure_runs[FIT_COLUMNS]; /* of successive rows of this kind */
    size_t last_pure;                /* column of the row before; FIT_COLUMNS: none */
};

/** The energy of a column, as far as the rows show it. */
struct fit_part {
    double energy_j; /* NaN: nothing is known */
    double within_j; /* in 95 of 100 runs the true energy is within this of it; NaN: not known */
    double pure;     /* share of its time in rows of its own, 0 to 1 */
    size_t with;     /* a column with which it has its power in common; itself: with none. Of
                        FIT_INSIDE: FIT_OUTSIDE if the number of threads shows what does not depend
                        on it; that part has the energy of both */
};

void fit_clear(struct fit *fit);

/**
 * Add an interval. Does not allocate.
 * @param x       [s] of `columns` columns, at most FIT_COLUMNS
 * @param passes  that began in it, of as many columns; NULL: not known
 * @param y       [J]
 */
void fit_add(struct fit *fit, const double x[], const double passes[], size_t columns, double y);

/** @return the same fit with column `from` as a part of `to`, for its past, too. */
void fit_join(struct fit *fit, size_t from, size_t to);

/**
 * Share the energy of all rows among the columns: their sum is that of the rows.
 * @param noise_j  standard deviation that the energy of a row has at least, of the meter's updates
 * @return 0; -1 with ENOMEM
 */
int fit_solve(const struct fit *fit, double noise_j, struct fit_part parts[FIT_COLUMNS]);

#endif
