/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_STUDENT_H
#define ATIME_STUDENT_H
#include "atime/print.h"

/* Student's t distribution: how sure the mean of some runs is. Pure functions. */

/** @return probability that |t| is at least `t` with `df` degrees of freedom (> 0), 0..1. */
double student_two_sided(double t, double df);

/** @return the t that |t| exceeds in 5 % of cases, with `df` degrees of freedom. */
double student_t95(double df);

/** @return half of the 95 % confidence interval of the mean; NaN for fewer than two values. */
double student_half_width(const struct spread *spread);

/** Difference of two means, by Welch's t-test. NaN: not known. */
struct difference {
    double mean;       /* other - one */
    double half_width; /* of the 95 % confidence interval of it */
    double p;          /* probability of at least such a difference if there is none */
};

struct difference student_difference(const struct spread *one, const struct spread *other);

#endif
