/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/gauge.h"

#include <math.h>

#include "measure/extremes.h"

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

double apapi_gauge_add(struct apapi_gauge *gauge, double value, uint64_t now_ns)
{
    double area = 0;

    if (!isfinite(value)) {
        gauge->incidents.refused++;
        gauge->valid = false;
        return 0;
    }
    if (gauge->valid) {
        area = area_since_last(gauge, value, now_ns);
    }
    gauge->min = lesser(gauge->min, value);
    gauge->max = greater(gauge->max, value);
    gauge->last = value;
    gauge->last_ns = now_ns;
    gauge->valid = true;
    return area;
}

void apapi_gauge_failed(struct apapi_gauge *gauge)
{
    gauge->incidents.failed++;
    gauge->valid = false;
}
