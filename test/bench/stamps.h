/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_STAMPS_H
#define BENCH_STAMPS_H
#include <stddef.h>
#include <stdint.h>

#define STAMPS_MAX 1024

/** When something happened, again and again (CLOCK_MONOTONIC) [ns]. */
struct stamps {
    size_t count;
    uint64_t at_ns[STAMPS_MAX];
};

/** Note the present time; ignored when there is no room. */
void stamps_add(struct stamps *stamps);

/** @return the standard deviation of the periods between `first` and the last stamp [us]. */
double stamps_spread_us(const struct stamps *stamps, size_t first);

#endif
