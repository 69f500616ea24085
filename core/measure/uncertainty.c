/* SPDX-License-Identifier: BSD-3-Clause */
/* How docs/uncertainty.md derives it. */
#include "measure/uncertainty.h"

#include <math.h>

#include "measure/extremes.h"

#define EXCESS_LEAST 1.1

/* A counter that was found where it was has a longer period than it seems, learned or not yet. */
static uint64_t longest_update_ns(const struct apapi_meter *meter)
{
    uint64_t update_ns = apapi_meter_update_ns(meter),
             probed_ns = apapi_probe_update_ns(&meter->probe);
    uint64_t seen_ns = meter->counter.update.longest_ns;

    update_ns = seen_ns > update_ns ? seen_ns : update_ns;
    return probed_ns > update_ns ? probed_ns : update_ns;
}

static uint64_t uncovered_ns(const struct apapi_event_result *result, uint64_t whole_ns)
{
    uint64_t covered_ns = result->covered_ns;

    return whole_ns > covered_ns ? whole_ns - covered_ns : covered_ns - whole_ns;
}

/*
 * Each end of the covered time is known to one update of the counter. In uncovered time the power
 * is unknown: it is assumed to be as large as the mean. The same applies to time covered in excess,
 * as a worker of its own may read late. The error of an estimate is unknown.
 */
double apapi_event_uncertainty_j(const struct apapi_event_result *result, uint64_t whole_ns,
                                 uint64_t interval_ns)
{
    const struct apapi_event *event = &result->event;
    uint64_t update_ns = event->update_ns ? event->update_ns : interval_ns;

    if (event->estimated || (event->kind != APAPI_KIND_ENERGY && event->kind != APAPI_KIND_POWER)) {
        return NAN;
    }
    return result->summary.mean * (double)(update_ns + uncovered_ns(result, whole_ns)) / 1e9;
}

/* @return power at the ends [W] */
static double ends_w(const struct apapi_meter *meter, const struct apapi_event_result *result)
{
    return greater(result->summary.mean, greater(meter->rate.first, meter->rate.last));
}

/*
 * @return power of the time that is not covered: any that was seen, and the more the less is
 * covered [W]
 */
static double uncovered_w(const struct apapi_meter *meter, const struct apapi_event_result *result,
                          uint64_t whole_ns)
{
    double update_s = (double)meter->probe.update_ns / 1e9;
    double short_j = meter->probe.most * meter->event->scale;
    double mean_w = result->total / ((double)result->covered_ns / 1e9); /* not that of windows */
    double seen_w = greater(greater(ends_w(meter, result), mean_w), result->summary.max);

    if (uncovered_ns(result, whole_ns) < whole_ns / 8) {
        return seen_w;
    }
    return greater(seen_w, short_j / update_s) * (double)whole_ns / (double)result->covered_ns;
}

/*
 * What the last reading does not show yet and what the first one shows of the time before have
 * opposite signs, and each is no more than one update. Uncovered time is missing.
 */
static double count_uncertainty_j(const struct apapi_meter *meter,
                                  const struct apapi_event_result *result, uint64_t whole_ns)
{
    double update_j = ends_w(meter, result) * (double)longest_update_ns(meter) / 1e9;
    double seen_j = meter->probe.most * meter->event->scale;
    double unit_j = apapi_counts_doubles(meter->event) ? 0 : meter->event->scale;

    return greater(update_j, seen_j) + unit_j +
           uncovered_w(meter, result, whole_ns) * (double)uncovered_ns(result, whole_ns) / 1e9;
}

/* The value is rounded to its unit. */
static double gauge_uncertainty_j(const struct apapi_meter *meter,
                                  const struct apapi_event_result *result, uint64_t whole_ns)
{
    double unit_w = meter->event->type == APAPI_TYPE_FP64 ? 0 : meter->event->scale;

    return apapi_gauge_uncertainty(&meter->gauge) +
           unit_w / 2 * (double)meter->gauge.covered_ns / 1e9 +
           result->summary.max * (double)uncovered_ns(result, whole_ns) / 1e9;
}

/*
 * @return how many times the usual estimate a result has to be to be kept as a number of its own. A
 * small difference is not worth one, unless more time than an update is not covered: a part of what
 * is missing would be left out.
 */
static double worth_a_number(const struct apapi_meter *meter,
                             const struct apapi_event_result *result, uint64_t whole_ns)
{
    return uncovered_ns(result, whole_ns) > apapi_meter_update_ns(meter) ? 1 : EXCESS_LEAST;
}

double apapi_meter_uncertainty_j(const struct apapi_meter *meter,
                                 const struct apapi_event_result *result, uint64_t whole_ns)
{
    double usual_j = apapi_event_uncertainty_j(result, whole_ns, meter->interval_ns);
    double own_j = usual_j;

    if (meter->event->kind == APAPI_KIND_ENERGY && meter->event->accumulates) {
        own_j = count_uncertainty_j(meter, result, whole_ns);
    } else if (meter->event->kind == APAPI_KIND_POWER) {
        return isnan(usual_j) ? NAN : gauge_uncertainty_j(meter, result, whole_ns);
    }
    return own_j > worth_a_number(meter, result, whole_ns) * usual_j ? own_j : usual_j;
}
