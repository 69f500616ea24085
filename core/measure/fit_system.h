/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_SYSTEM_H
#define MEASURE_FIT_SYSTEM_H
#include <stddef.h>

#define FIT_UNKNOWNS ((size_t)76)
#define FIT_NORMAL 1.959964 /* half of a normal 95 % interval [standard errors] */

/** Symmetric equations A p = b of few unknowns, A positive. */
struct fit_system {
    size_t size;
    double a[FIT_UNKNOWNS][FIT_UNKNOWNS];
};

/** Replace A by its triangle (Cholesky). What a row has beyond a sum of others may be rounding. */
void fit_system_factor(struct fit_system *system);

/** Replace the right side b by the solution p. @param system  after fit_system_factor() */
void fit_system_solve(const struct fit_system *system, double right[]);

/** Invert A. @param system  after fit_system_factor(). @param inverse  result */
void fit_system_invert(const struct fit_system *system, struct fit_system *inverse);

/** @return half of a 95 % interval of Student's t distribution [standard errors]. */
double fit_student(double freedom);

#endif
