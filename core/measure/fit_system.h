/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FIT_SYSTEM_H
#define MEASURE_FIT_SYSTEM_H
#include <stddef.h>

#define FIT_UNKNOWNS ((size_t)76)
#define FIT_NORMAL 1.959964 /* standard errors in half of a 95 % interval */

/** Symmetric equations A p = b of few unknowns, A positive. */
struct fit_system {
    size_t size;
    double a[FIT_UNKNOWNS][FIT_UNKNOWNS];
};

/** Replace A by its triangle (Cholesky). A row that is the sum of others counts as rounding. */
void fit_system_factor(struct fit_system *system);

/** Replace the right side by the solution. @param system  after fit_system_factor() */
void fit_system_solve(const struct fit_system *system, double right[]);

/** @param inverse  result. @param system  after fit_system_factor() */
void fit_system_invert(const struct fit_system *system, struct fit_system *inverse);

/** @return standard errors in half of a 95 % interval: Student's t. */
double fit_student(double freedom);

#endif
