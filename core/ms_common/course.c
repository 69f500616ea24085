/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/course.h"

#include <math.h>

static void course_go_on(struct course *course, double area, uint64_t dt_ns, double value)
{
    course->integral += area;
    course->covered_ns += dt_ns;
    course->max = !course->known || value > course->max ? value : course->max;
    course->last = value;
    course->known = true;
}

void course_add(struct course *course, double value, uint64_t now_ns)
{
    uint64_t dt_ns = course->last_ns ? now_ns - course->last_ns : 0;

    course_go_on(course, (course->last + value) / 2 * (double)dt_ns, dt_ns, value);
    course->last_ns = now_ns;
}

void course_count(struct course *course, double amount, uint64_t now_ns)
{
    uint64_t dt_ns = course->last_ns ? now_ns - course->last_ns : 0;

    if (dt_ns > 0 && !isnan(amount)) {
        course_go_on(course, amount * 1e9, dt_ns, amount * 1e9 / (double)dt_ns);
    }
    course->last_ns = now_ns;
}

void course_break(struct course *course)
{
    course->last_ns = 0;
}

struct figure course_figure(const struct course *course)
{
    if (!course->known) {
        return (struct figure){NAN, NAN, NAN, NAN, NAN};
    }
    return (struct figure){
        .total = course->integral / 1e9,
        .mean = course->covered_ns ? course->integral / (double)course->covered_ns : course->last,
        .max = course->max,
        .sum = NAN,
        .now = course->last};
}
