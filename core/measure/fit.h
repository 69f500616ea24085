/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_H
#define MEASURE_FIT_H
#include "measure/fit_rows.h"

/*
 * The power of parts of a program that are shorter than the time between two readings of a meter.
 * An interval between two readings has an energy, and the time that threads spent in each part. A
 * part's power is the one with which the squares of all intervals' differences are least.
 *
 * No part has one power only, so the intervals are asked for what it may depend on:
 * - the length of a pass, as of an exchange that sometimes waits: passes have an energy besides,
 * - the share of the time, or another thread: pairs of parts have a power besides,
 * - the time: others draw another power in each sixteenth of the run,
 * - anything else: parts of the run are left out.
 * Each is as likely as anything before the intervals are looked at. As far as these say nothing,
 * the energies are that much less sure. The energy of an interval in which only one part was active
 * is that part's, whatever its mean power.
 */

/** The noise of a row, of an update's energy: two times the evenly spread rest of one. */
#define FIT_UPDATE_NOISE 0.408

/** The energy of a column, as far as the rows show it. */
struct fit_part {
    double energy_j; /* NaN: nothing is known */
    double within_j; /* in 95 of 100 runs the true energy is within this of it; NaN: not known */
    double pure;     /* share of its time in rows of its own, 0 to 1 */
    size_t with;     /* the column that it is not told apart from; itself: it is. Of FIT_INSIDE:
                        FIT_OUTSIDE if the number of threads shows what does not depend on it; that
                        part has the energy of both */
};

/**
 * Share the energy of all intervals among the columns: their sum is that of the intervals.
 * @param noise_j  standard deviation that the energy of an interval has at least, of the meter's
 *                 updates
 * @return 0; -1 with ENOMEM
 */
int fit_solve(const struct fit *fit, double noise_j, struct fit_part parts[FIT_COLUMNS]);

#endif
