/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/meter.h"

#include <math.h>
#include <string.h>

#define STUCK_AFTER_NS UINT64_C(1000000000)
#define STUCK_AFTER_SAMPLES 5

bool apapi_event_counts(const struct apapi_event *event)
{
    return event->accumulates && event->type != APAPI_TYPE_FP64;
}

double apapi_event_value(const struct apapi_event *event, uint64_t raw)
{
    double value = (double)raw;

    if (event->type == APAPI_TYPE_FP64) {
        memcpy(&value, &raw, sizeof value);
    } else if (event->type == APAPI_TYPE_INT64) {
        value = (double)(int64_t)raw;
    }
    return value * event->scale;
}

void apapi_meter_init(struct apapi_meter *meter, const struct apapi_event *event,
                      uint64_t interval_ns)
{
    bool energy = event->kind == APAPI_KIND_ENERGY;

    memset(meter, 0, sizeof *meter);
    meter->event = event;
    apapi_counter_init(&meter->counter, event,
                       energy ? apapi_domain_max_w(event->domain) : INFINITY);
    apapi_rate_init(&meter->rate, interval_ns / 2);
    apapi_gauge_restart(&meter->gauge);
}

void apapi_meter_restart(struct apapi_meter *meter)
{
    apapi_counter_restart(&meter->counter);
    apapi_rate_init(&meter->rate, meter->rate.window_ns);
    apapi_gauge_restart(&meter->gauge);
    meter->last_error = 0;
}

static enum apapi_meter_step add_count(struct apapi_meter *meter, uint64_t raw, uint64_t now_ns,
                                       double *energy_j)
{
    struct apapi_increment increment = {0};
    enum apapi_count meaning = apapi_counter_add(&meter->counter, raw, now_ns, &increment);
    double quantity = (double)increment.raw * meter->event->scale;

    if (meaning == APAPI_COUNT_BASELINE || meaning == APAPI_COUNT_DOUBTED) {
        return meaning == APAPI_COUNT_BASELINE ? APAPI_METER_BROKEN : APAPI_METER_WAITING;
    }
    if (meaning == APAPI_COUNT_RESET) {
        apapi_rate_drop(&meter->rate);
    }
    apapi_rate_add(&meter->rate, quantity, increment.since_ns);
    if (meter->event->kind == APAPI_KIND_ENERGY) {
        *energy_j = quantity;
    }
    return meaning == APAPI_COUNT_RESET ? APAPI_METER_BROKEN : APAPI_METER_KNOWN;
}

static enum apapi_meter_step add_value(struct apapi_meter *meter, uint64_t raw, uint64_t now_ns,
                                       double *energy_j)
{
    bool known = meter->gauge.valid;
    double area = apapi_gauge_add(&meter->gauge, apapi_event_value(meter->event, raw), now_ns);

    if (meter->event->kind == APAPI_KIND_POWER) {
        *energy_j = area;
    }
    return known ? APAPI_METER_KNOWN : APAPI_METER_BROKEN;
}

static void add_failure(struct apapi_meter *meter, int error)
{
    meter->last_error = error;
    if (apapi_event_counts(meter->event)) {
        apapi_counter_failed(&meter->counter);
    } else {
        apapi_gauge_failed(&meter->gauge);
    }
}

enum apapi_meter_step apapi_meter_add(struct apapi_meter *meter,
                                      const struct apapi_reading *reading, uint64_t now_ns,
                                      double *energy_j)
{
    *energy_j = 0;
    if (reading->error) {
        add_failure(meter, reading->error);
        return APAPI_METER_WAITING;
    }
    if (apapi_event_counts(meter->event)) {
        return add_count(meter, reading->raw, now_ns, energy_j);
    }
    return add_value(meter, reading->raw, now_ns, energy_j);
}

static bool is_stuck(const struct apapi_counter *counter, uint64_t elapsed_ns)
{
    return counter->total == 0 && elapsed_ns >= STUCK_AFTER_NS &&
           counter->incidents.samples >= STUCK_AFTER_SAMPLES;
}

static double over_seconds(double quantity, uint64_t ns)
{
    return ns ? quantity / ((double)ns / 1e9) : NAN;
}

/* An energy counter that has not moved at all is no measurement, however short the time was. */
static void finish_count(struct apapi_meter *meter, uint64_t elapsed_ns,
                         struct apapi_event_result *result)
{
    struct apapi_counter *counter = &meter->counter;
    bool energy = meter->event->kind == APAPI_KIND_ENERGY;

    apapi_counter_finish(counter);
    apapi_rate_finish(&meter->rate);
    result->incidents = counter->incidents;
    result->covered_ns = counter->covered_ns;
    result->stuck = energy && is_stuck(counter, elapsed_ns);
    if (counter->covered_ns == 0 || (energy && counter->total == 0)) {
        return;
    }
    result->raw_total = counter->total;
    result->total = (double)counter->total * meter->event->scale;
    result->summary.min = meter->rate.min;
    result->summary.mean = over_seconds(result->total, counter->covered_ns);
    result->summary.max = meter->rate.max;
}

static void finish_gauge(const struct apapi_meter *meter, struct apapi_event_result *result)
{
    const struct apapi_gauge *gauge = &meter->gauge;

    result->incidents = gauge->incidents;
    result->covered_ns = gauge->covered_ns;
    result->summary.min = gauge->min;
    result->summary.mean = over_seconds(gauge->integral, gauge->covered_ns);
    result->summary.max = gauge->max;
    if (meter->event->kind == APAPI_KIND_POWER && gauge->covered_ns) {
        result->total = gauge->integral;
    }
}

void apapi_meter_finish(struct apapi_meter *meter, uint64_t elapsed_ns,
                        struct apapi_event_result *result)
{
    memset(result, 0, sizeof *result);
    result->event = *meter->event;
    result->total = NAN;
    result->summary = (struct apapi_summary){NAN, NAN, NAN};
    if (apapi_event_counts(meter->event)) {
        finish_count(meter, elapsed_ns, result);
    } else {
        finish_gauge(meter, result);
    }
}
