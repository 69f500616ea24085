/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/course.h"

void course_add(struct course *course, double value, uint64_t now_ns)
{
    uint64_t dt_ns = course->last_ns ? now_ns - course->last_ns : 0;

    course->integral += (course->last + value) / 2 * (double)dt_ns;
    course->covered_ns += dt_ns;
    course->max = course->last_ns == 0 || value > course->max ? value : course->max;
    course->last = value;
    course->last_ns = now_ns;
}

double course_mean(const struct course *course)
{
    return course->covered_ns ? course->integral / (double)course->covered_ns : course->last;
}
