/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_BOUNDS_H
#define VERIFY_BOUNDS_H
#include <math.h>
#include <stdint.h>

#define BOUNDS_95 1.959964 /* half width of a 95 % interval [standard deviations] */

/** Between which shares the true share of `count` among `all` lies (Wilson); 0..1. */
struct bounds {
    double least, greatest;
};

static inline struct bounds bounds_of(uint64_t count, uint64_t all, double deviations)
{
    double n = (double)all, share = (double)count / n, z2 = deviations * deviations;
    double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = deviations / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));

    /* exact at the ends, where rounding would make it a little more than 0 */
    return (struct bounds){.least = count == 0 ? 0 : middle - half,
                           .greatest = count == all ? 1 : middle + half};
}

#endif
