/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/meter_result.h"

#include <math.h>
#include <string.h>

#include "measure/uncertainty.h"

#define STUCK_AFTER_NS UINT64_C(1000000000)
#define STUCK_AFTER_SAMPLES 5

static double over_seconds(double quantity, uint64_t ns)
{
    return ns ? quantity / ((double)ns / 1e9) : NAN;
}

/* The energy includes both readings at the ends, the covered time does not. */
double apapi_meter_mean(const struct apapi_event_result *result)
{
    double mean = over_seconds(result->total, result->covered_ns);

    if (mean > result->summary.max) {
        return result->summary.max;
    }
    return mean < result->summary.min ? result->summary.min : mean;
}

static void finish_total(const struct apapi_meter *meter, uint64_t elapsed_ns,
                         struct apapi_event_result *result)
{
    result->total = apapi_meter_total(meter);
    if (isnan(result->total)) {
        bool still = apapi_counter_never_rests(meter->event) && result->incidents.samples > 0;

        result->stuck = still && elapsed_ns >= STUCK_AFTER_NS &&
                        result->incidents.samples >= STUCK_AFTER_SAMPLES;
        result->still = still && !result->stuck && result->incidents.resets == 0;
        return;
    }
    result->summary.min = meter->rate.min;
    result->summary.max = meter->rate.max;
    result->summary.mean = apapi_meter_mean(result);
    result->summary.p95 = apapi_rate_p95(&meter->rate);
}

/* The covered time ends with the beginning of the last reading: it neither began nor stalled. */
static bool ends_with_last(const struct apapi_counter *counter)
{
    const struct apapi_counter_point *last = &counter->last;

    return last->valid && counter->covered_ns > 0 && last->begin_ns >= counter->segment_ns &&
           last->at_ns - last->moved_ns < counter->stall_ns;
}

/*
 * A worker of its own may read after the end. @return how much longer the last reading was than the
 * covered time, if its end is farther from the end than its beginning [ns].
 */
static uint64_t beyond_end_ns(const struct apapi_counter *counter, uint64_t end_ns)
{
    const struct apapi_counter_point *last = &counter->last;

    if (!end_ns || !ends_with_last(counter) || last->at_ns <= end_ns ||
        (last->begin_ns < end_ns && end_ns - last->begin_ns > last->at_ns - end_ns)) {
        return 0;
    }
    return last->at_ns - last->begin_ns;
}

static void finish_count(struct apapi_meter *meter, const struct apapi_span *span,
                         struct apapi_event_result *result)
{
    uint64_t beyond_ns = beyond_end_ns(&meter->counter, span->end_ns);
    struct apapi_float_counter *doubles = &meter->doubles;
    bool whole = !apapi_counts_doubles(meter->event);

    apapi_counter_finish(&meter->counter);
    apapi_float_counter_finish(doubles);
    apapi_rate_finish(&meter->rate);
    result->incidents = whole ? meter->counter.incidents : doubles->incidents;
    result->covered_ns = whole ? meter->counter.covered_ns + beyond_ns : doubles->covered_ns;
    finish_total(meter, span->elapsed_ns, result);
    if (whole && !isnan(result->total)) {
        result->raw_total = meter->counter.total;
    }
}

static void finish_gauge(const struct apapi_meter *meter, struct apapi_event_result *result)
{
    const struct apapi_gauge *gauge = &meter->gauge;

    result->incidents = gauge->incidents;
    result->covered_ns = gauge->covered_ns;
    result->summary.min = gauge->min;
    result->summary.mean = over_seconds(gauge->integral, gauge->covered_ns);
    result->summary.max = gauge->max;
    if (meter->histogram) {
        double p95 = apapi_histogram_p95(meter->histogram);

        result->summary.p95 = isnan(p95) ? NAN : fmax(gauge->min, fmin(gauge->max, p95));
    }
    result->total = apapi_meter_total(meter);
}

/* What a counter that did not move has not counted is not known: it is not 0. */
static void forget_values(struct apapi_event_result *result)
{
    for (int i = 0; i < 2; i++) {
        struct apapi_value_result *value = &result->values[i];

        value->min = value->max = value->avg = value->acc = NAN;
    }
}

void apapi_meter_finish(struct apapi_meter *meter, const struct apapi_span *span,
                        struct apapi_event_result *result)
{
    uint64_t whole_ns = span->late_ns + span->elapsed_ns;

    memset(result, 0, sizeof *result);
    result->event = *meter->event;
    if (meter->counter.update.learned) {
        result->event.update_ns = meter->counter.update.period_ns;
    }
    result->total = NAN;
    result->summary = (struct apapi_summary){NAN, NAN, NAN, NAN};
    if (meter->event->accumulates) {
        finish_count(meter, span, result);
    } else {
        finish_gauge(meter, result);
    }
    result->uncertainty_j = apapi_meter_uncertainty_j(meter, result, whole_ns);
    result->incidents.rough = apapi_meter_is_rough(meter, result, whole_ns);
    for (int i = 0; i < 2; i++) {
        result->values[i] = meter->wanted[i];
        apapi_value_result(&meter->values.stats[i], &result->values[i]);
    }
    if (result->stuck || result->still) {
        forget_values(result);
    }
}
