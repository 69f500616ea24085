/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit_system.h"

#include <math.h>
#include <string.h>

#define SINGULAR 1e-12 /* share of a diagonal element: if less is left of it, that is rounding */

void fit_system_factor(struct fit_system *system)
{
    for (size_t i = 0; i < system->size; i++) {
        double *row = system->a[i], whole = row[i];

        for (size_t j = 0; j <= i; j++) {
            const double *other = system->a[j];

            for (size_t k = 0; k < j; k++) {
                row[j] -= row[k] * other[k];
            }
            row[j] = j < i ? row[j] / other[j] : sqrt(fmax(row[j], fmax(whole * SINGULAR, 1e-300)));
        }
    }
}

void fit_system_solve(const struct fit_system *system, double right[])
{
    size_t size = system->size;

    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; k < i; k++) {
            right[i] -= system->a[i][k] * right[k];
        }
        right[i] /= system->a[i][i];
    }
    for (size_t i = size; i-- > 0;) {
        for (size_t k = i + 1; k < size; k++) {
            right[i] -= system->a[k][i] * right[k];
        }
        right[i] /= system->a[i][i];
    }
}

void fit_system_invert(const struct fit_system *system, struct fit_system *inverse)
{
    inverse->size = system->size;
    for (size_t i = 0; i < system->size; i++) {
        memset(inverse->a[i], 0, sizeof(inverse->a[i]));
        inverse->a[i][i] = 1;
        fit_system_solve(system, inverse->a[i]);
    }
}

/* Expand the quantile by the series of Cornish and Fisher. */
double fit_student(double freedom)
{
    const double z = FIT_NORMAL, z2 = z * z;
    const double first = z * (z2 + 1) / 4;
    const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;

    return freedom >= 1 ? z + (first + (second + third / freedom) / freedom) / freedom : 12.7;
}
