/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_NEAR_H
#define UNIT_NEAR_H
/* Comparison of numbers that are not exact. An unknown number is NaN and equals NaN alone. */
#include "unit/unit.h"

static inline void assert_differs_less(double value, double wanted, double most)
{
    fail_if(isnan(wanted) ? !isnan(value) : !(fabs(value - wanted) <= most), "%.12g is not %.12g",
            value, wanted);
}

/* Equal but for a share of the wanted number. */
static inline void assert_within(double value, double wanted, double share)
{
    assert_differs_less(value, wanted, share * fabs(wanted));
}

/* Equal but for the rounding of sums. */
static inline void assert_near(double value, double wanted)
{
    assert_differs_less(value, wanted, 1e-9 * fmax(1, fabs(wanted)));
}

#endif
