/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/stamps.h"

#include <math.h>

#include "base/clock.h"

void stamps_add(struct stamps *stamps)
{
    if (stamps->count < STAMPS_MAX) {
        stamps->at_ns[stamps->count++] = clock_monotonic_ns();
    }
}

static double period_us(const struct stamps *stamps, size_t index)
{
    return (double)(stamps->at_ns[index + 1] - stamps->at_ns[index]) / 1e3;
}

double stamps_spread_us(const struct stamps *stamps, size_t first)
{
    size_t end = stamps->count ? stamps->count - 1 : 0;
    double sum = 0, squares = 0, mean;

    if (end < first + 2) {
        return NAN;
    }
    for (size_t i = first; i < end; i++) {
        sum += period_us(stamps, i);
    }
    mean = sum / (double)(end - first);
    for (size_t i = first; i < end; i++) {
        squares += pow(period_us(stamps, i) - mean, 2);
    }
    return sqrt(squares / (double)(end - first - 1));
}
