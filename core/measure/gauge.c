/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/gauge.h"

#include <math.h>

#include "measure/extremes.h"

#define DEVIATION_VARIANCE 1.5 /* of a reading from the line between its neighbours, to its own */
#define TWO_SIDED 3.0          /* standard deviations of 95 %, and a little more */
#define MOST 5.0               /* the same of a millionth */
#define UNSEEN 2.0             /* a few readings may all miss what happens between them */
#define FEW_READINGS 3.0       /* so much wider is that for one deviation (Student's t) */

void apapi_gauge_restart(struct apapi_gauge *gauge)
{
    *gauge = (struct apapi_gauge){.rectangle = gauge->rectangle, .min = NAN, .max = NAN};
}

static double area_since_last(struct apapi_gauge *gauge, double value, uint64_t now_ns)
{
    uint64_t dt_ns = now_ns - gauge->last_ns;
    double height = gauge->rectangle ? value : (gauge->last + value) / 2;
    double area = height * ((double)dt_ns / 1e9);

    gauge->covered_ns += dt_ns;
    gauge->integral += area;
    gauge->incidents.samples++;
    return area;
}

/* How far the last reading lies from the line between the one before it and `value`. */
static void add_deviation(struct apapi_gauge *gauge, double value, uint64_t now_ns)
{
    double before_s = (double)gauge->step_ns / 1e9;
    double after_s = (double)(now_ns - gauge->last_ns) / 1e9;
    double both_s = before_s + after_s;
    double line = (gauge->before * after_s + value * before_s) / both_s;
    double error = (gauge->last - line) * both_s / 2;

    if (both_s > 0) {
        gauge->deviations++;
        gauge->squares += error * error;
    }
}

static double gauge_go_on(struct apapi_gauge *gauge, double value, uint64_t now_ns)
{
    if (gauge->between) {
        add_deviation(gauge, value, now_ns);
    }
    gauge->between = true;
    gauge->before = gauge->last;
    gauge->step_ns = now_ns - gauge->last_ns;
    return area_since_last(gauge, value, now_ns);
}

double apapi_gauge_add(struct apapi_gauge *gauge, double value, uint64_t now_ns)
{
    double area = 0;

    if (!isfinite(value)) {
        gauge->incidents.refused++;
        gauge->valid = false;
        return 0;
    }
    if (gauge->valid) {
        area = gauge_go_on(gauge, value, now_ns);
    } else {
        gauge->between = false;
    }
    gauge->min = lesser(gauge->min, value);
    gauge->max = greater(gauge->max, value);
    gauge->last = value;
    gauge->last_ns = now_ns;
    gauge->valid = true;
    if (gauge->length_ns > gauge->longest_ns) {
        gauge->longest_ns = gauge->length_ns;
    }
    return area;
}

/*
 * @return standard deviation of the integral as far as the course of the value and the moments of
 * the readings make it [value x s]
 */
static double gauge_deviation(const struct apapi_gauge *gauge)
{
    return (1 + FEW_READINGS / (double)gauge->deviations) *
           sqrt(gauge->squares / DEVIATION_VARIANCE);
}

/*
 * Nobody knows when in a reading its value was taken. If it was always at the beginning, or always
 * at the end, that moves the whole course: what counts is the difference of both its ends.
 */
static double shift(const struct apapi_gauge *gauge)
{
    return (gauge->max - gauge->min) * (double)gauge->longest_ns / 1e9;
}

double apapi_gauge_uncertainty(const struct apapi_gauge *gauge)
{
    double count = (double)gauge->deviations;

    if (gauge->deviations == 0) {
        return fabs(gauge->integral);
    }
    return TWO_SIDED * gauge_deviation(gauge) + shift(gauge) +
           fabs(gauge->integral) * UNSEEN / (count * count);
}

double apapi_gauge_bound(const struct apapi_gauge *gauge)
{
    return gauge->deviations ? MOST * gauge_deviation(gauge) : INFINITY;
}

void apapi_gauge_failed(struct apapi_gauge *gauge)
{
    gauge->incidents.failed++;
    gauge->valid = false;
}
