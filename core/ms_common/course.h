/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_COURSE_H
#define MS_COMMON_COURSE_H
#include <stdint.h>

/** The values of a gauge since a start. Empty: all zeros. */
struct course {
    double last, max;
    double integral;  /* value x time [ns] */
    uint64_t last_ns; /* 0: no value yet */
    uint64_t covered_ns;
};

/** @param now_ns  CLOCK_MONOTONIC, later than that of the value before [ns] */
void course_add(struct course *course, double value, uint64_t now_ns);

/** @return the mean over time. */
double course_mean(const struct course *course);

#endif
