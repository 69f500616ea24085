/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_H
#define MEASURE_FIT_H
#include <stddef.h>
#include <stdint.h>

/*
 * The input of a fit of powers: intervals between two readings of a meter, each with its
 * energy and the time that threads spent in each part of their program.
 *
 * Column FIT_OUTSIDE is time without any of these threads, FIT_INSIDE the interval's other time,
 * all others are thread-time. Where the number of threads changes, FIT_INSIDE and FIT_OUTSIDE
 * together are the power that does not depend on the threads. Where it does not, that power cannot
 * be told from the threads', and is shared by them.
 */

enum { FIT_OUTSIDE, FIT_INSIDE, FIT_PARTS };

#define FIT_COLUMNS ((size_t)64)
#define FIT_ROWS ((size_t)1024)

/** Successive intervals added up. */
struct fit_row {
    double y;
    float x[FIT_COLUMNS], passes[FIT_COLUMNS];
};

/** The length of a column's passes. */
struct fit_length {
    double time_s, passes; /* since the latest mean length was taken */
    double least_s;        /* the least of these means; 0: there is none */
};

/** Of all intervals. */
struct fit_sums {
    uint64_t rows;
    double y, x[FIT_COLUMNS], passes[FIT_COLUMNS];
};

struct fit {
    struct fit_sums sums;
    struct fit_length lengths[FIT_COLUMNS];
    double pure_y[FIT_COLUMNS]; /* of intervals in which only this column was active */
    double pure_x[FIT_COLUMNS], pure_passes[FIT_COLUMNS];
    uint64_t pure_runs[FIT_COLUMNS]; /* of successive intervals of this kind */
    size_t last_pure;                /* column of the interval before; FIT_COLUMNS: none */
    size_t used;                     /* rows; when all are used, pairs of them become one */
    uint64_t whole, last;            /* intervals of a row, and of the latest one so far */
    struct fit_row rows[FIT_ROWS];
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

/*
 * The power of parts of a program that are shorter than the time between two readings of a meter.
 * An interval between two readings has an energy, and the time that threads spent in each part. A
 * part's power is the one with which the squares of all intervals' differences are least.
 *
 * No part has one power only, so the intervals are asked for what it may depend on:
 * - the length of a pass, as of an exchange that sometimes waits: passes have an energy besides,
 * - the share of the time, or another thread: pairs of parts have a power besides,
 * - the time: others draw another power in each sixteenth of the run,
 * - the moments at which readings fall: times that vary by no more say nothing of powers,
 * - the interval before: a power cap makes up for a high power a little later.
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
