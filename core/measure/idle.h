/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_IDLE_H
#define MEASURE_IDLE_H

/*
 * Idle power: the 10th percentile of the power while no step runs, of about the last week of such
 * time. A histogram with 64 bins for each power of two; each knows the mean of its values.
 */

enum {
    IDLE_LEAST = -10, /* power of two of the first bin: 0.001 W; less counts as that */
    IDLE_OCTAVES = 30,
    IDLE_BINS_PER_OCTAVE = 64,
    IDLE_BINS = IDLE_OCTAVES * IDLE_BINS_PER_OCTAVE
};

#define IDLE_ENOUGH_S 30       /* of idle time; with less the percentile is not known */
#define IDLE_MEMORY_S 604800.0 /* when there is so much, all weights are halved */

struct idle_bin {
    float seconds, energy_j;
};

struct idle_power {
    struct idle_bin bins[IDLE_BINS];
    double sum_s;
};

/** Add the mean power of an interval in which no step ran. What is not positive does not count. */
void idle_add(struct idle_power *idle, double power_w, double seconds);

/** @return the 10th percentile [W]; NaN: too little is known. */
double idle_power_w(const struct idle_power *idle);

#endif
