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
 * all others are thread-time. If the number of threads changes, FIT_INSIDE and FIT_OUTSIDE together
 * show the power that does not depend on the threads. If the number does not change, this power
 * cannot be told from that of the threads, and is shared by them.
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
    double least_s;        /* least mean length of a pass so far [s]; 0: not known */
};

/** Sums over all intervals. */
struct fit_sums {
    uint64_t rows;
    double y, x[FIT_COLUMNS], passes[FIT_COLUMNS];
};

struct fit {
    struct fit_sums sums;
    struct fit_length lengths[FIT_COLUMNS];
    double pure_y[FIT_COLUMNS]; /* sums over intervals in which only this column was active */
    double pure_x[FIT_COLUMNS], pure_passes[FIT_COLUMNS];
    uint64_t pure_runs[FIT_COLUMNS]; /* number of series of successive such intervals */
    size_t last_pure;                /* only column of the latest interval; FIT_COLUMNS: several */
    size_t used;                     /* rows in use; when all are, pairs of rows are joined */
    uint64_t whole, last;            /* intervals in a full row; in the latest row so far */
    struct fit_row rows[FIT_ROWS];
};

void fit_clear(struct fit *fit);

/**
 * Add an interval. Does not allocate.
 * @param x       time of each of `columns` columns, at most FIT_COLUMNS [s]
 * @param passes  number of passes of each column that began in the interval; NULL: not known
 * @param y       energy [J]
 */
void fit_add(struct fit *fit, const double x[], const double passes[], size_t columns, double y);

/** Make column `from` a part of column `to`, for all intervals so far. */
void fit_join(struct fit *fit, size_t from, size_t to);

/*
 * The power of parts of a program that are shorter than the time between two readings of a meter.
 * An interval between two readings has an energy, and the time that threads spent in each part. The
 * powers of the parts are those with the least squares of all intervals' differences.
 *
 * The power of a part is not constant. The fit looks in the intervals for what it may depend on:
 * - the length of a pass, as of an exchange that sometimes waits: each pass has an energy, too,
 * - the share of the time, or another thread: pairs of parts have a power, too,
 * - the time: other programs draw another power in each sixteenth of the run,
 * - the moments of the readings: times that vary by no more than these show nothing of powers,
 * - the interval before: a power cap makes up for a high power a little later.
 * A priori all of these are as likely as not. As far as the intervals do not show them, the
 * energies are less certain. The energy of an interval in which only one part was active belongs to
 * this part, whatever its mean power.
 */

/** Noise of a row / energy of an update: an evenly spread part of an update at each of two ends. */
#define FIT_UPDATE_NOISE 0.408

/** The energy of a column, as far as the rows show it. */
struct fit_part {
    double energy_j; /* NaN: nothing is known */
    double within_j; /* the true energy is energy_j +- this in 95 of 100 runs; NaN: not known */
    double pure;     /* share of its time in intervals that it has alone, 0 to 1 */
    size_t with;     /* the column that it cannot be told from; the column itself: none. Of
                        FIT_INSIDE: FIT_OUTSIDE, if the number of threads shows the power that does
                        not depend on them; then FIT_OUTSIDE has the energy of both */
};

/**
 * Share the energy of all intervals among the columns, so that the sum is unchanged.
 * @param noise_j  least standard deviation of the energy of an interval, from the meter's updates
 *                 [J]
 * @return 0; -1 with ENOMEM
 */
int fit_solve(const struct fit *fit, double noise_j, struct fit_part parts[FIT_COLUMNS]);

#endif
