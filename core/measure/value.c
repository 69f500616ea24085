/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/value.h"

#include <math.h>
#include <string.h>

#include "base/duration.h"
#include "measure/extremes.h"

static void stats_clear(struct apapi_value_stats *stats)
{
    *stats = (struct apapi_value_stats){.last = NAN, .min = NAN, .max = NAN};
}

static void stats_add(struct apapi_value_stats *stats, double value, double dt_ns)
{
    stats->count++;
    stats->last = value;
    stats->min = lesser(stats->min, value);
    stats->max = greater(stats->max, value);
    stats->weighted += value * dt_ns;
    stats->time += dt_ns;
    stats->acc += value;
}

void apapi_values_restart(struct apapi_values *values, enum apapi_operation operation)
{
    memset(values, 0, sizeof *values);
    values->operation = operation;
    stats_clear(&values->stats[0]);
    stats_clear(&values->stats[1]);
}

/* @return value1; NaN if it needs a predecessor that does not exist. */
static double value_derive(const struct apapi_values *values, double value0, double dt_ns)
{
    double last0 = values->has_last ? values->last0 : NAN;

    switch (values->operation) {
    case APAPI_OP1_SAMPLE_DIFF:
        return value0 - last0;
    case APAPI_OP1_DIV_DIFF_TIME:
        return value0 / dt_ns;
    case APAPI_OP1_SAMPLE1_MUL_DIFF_TIME:
        return value0 * dt_ns;
    case APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME:
        return (last0 + value0) / 2 * dt_ns;
    default:
        return NAN;
    }
}

void apapi_values_first(struct apapi_values *values, double value0)
{
    values->last0 = value0;
    values->has_last = true;
}

void apapi_values_add(struct apapi_values *values, double value0, uint64_t dt_ns)
{
    double dt = duration(dt_ns);
    double value1 = value_derive(values, value0, dt);

    stats_add(&values->stats[0], value0, dt);
    if (!isnan(value1)) {
        stats_add(&values->stats[1], value1, dt);
    }
    apapi_values_first(values, value0);
}

void apapi_values_break(struct apapi_values *values)
{
    values->has_last = false;
}

void apapi_value_result(const struct apapi_value_stats *stats, struct apapi_value_result *result)
{
    double factor = result->factor;

    result->last = stats->last / factor;
    result->min = stats->min / factor;
    result->max = stats->max / factor;
    result->avg = stats->count ? stats->weighted / stats->time / factor : NAN;
    result->acc = stats->count ? stats->acc / factor : NAN;
}
