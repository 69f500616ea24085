/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_COURSE_H
#define MS_COMMON_COURSE_H
#include <stdbool.h>
#include <stdint.h>

#include "ms_common/map.h"

/** The values of a gauge, or the rate of a counter, since a start. Empty: all zeros. */
struct course {
    double last, max;
    double integral;  /* value x time [ns] */
    uint64_t last_ns; /* 0: what comes next has nothing before it */
    uint64_t covered_ns;
    bool known; /* there has been a value */
};

/** A gauge's value. @param now_ns  CLOCK_MONOTONIC, later than that of the value before [ns] */
void course_add(struct course *course, double value, uint64_t now_ns);

/** What a counter has counted since the call before; NaN: not known. */
void course_count(struct course *course, double amount, uint64_t now_ns);

/** Nothing is known between the value before and the next one. */
void course_break(struct course *course);

/** @return all that is known so far; without the sum of raw values. */
struct figure course_figure(const struct course *course);

#endif
