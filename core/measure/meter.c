/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/meter.h"

#include <math.h>
#include <string.h>

uint64_t apapi_meter_update_ns(const struct apapi_meter *meter)
{
    const struct apapi_update *update = &meter->counter.update;

    if (update->learned) {
        return update->period_ns;
    }
    return update->stated_ns ? update->stated_ns : meter->interval_ns;
}

/* Only an energy shows its update period. */
static uint64_t window_ns(const struct apapi_meter *meter)
{
    const struct apapi_update *update = &meter->counter.update;
    bool known = update->learned || update->stated_ns;

    return apapi_window_ns(meter->interval_ns,
                           !meter->counter.rests && known ? update->period_ns : 0);
}

void apapi_meter_init(struct apapi_meter *meter, const struct apapi_event *event,
                      uint64_t interval_ns, struct apapi_histogram *histogram)
{
    bool energy = event->kind == APAPI_KIND_ENERGY;

    memset(meter, 0, sizeof *meter);
    meter->event = event;
    apapi_counter_init(&meter->counter, event,
                       energy ? apapi_domain_max_w(event->domain) : INFINITY);
    meter->doubles.max_per_ns = meter->counter.max_per_ns;
    meter->interval_ns = interval_ns;
    meter->wanted[0].factor = 1;
    meter->wanted[1].factor = 1;
    meter->histogram = histogram;
    apapi_meter_restart(meter);
}

void apapi_meter_restart(struct apapi_meter *meter)
{
    apapi_counter_restart(&meter->counter);
    apapi_rate_init(&meter->rate, window_ns(meter), meter->histogram);
    apapi_probe_init(&meter->probe, apapi_meter_update_ns(meter));
    apapi_float_counter_restart(&meter->doubles);
    apapi_gauge_restart(&meter->gauge);
    apapi_values_restart(&meter->values, meter->values.operation);
    meter->last_error = 0;
    meter->value = NAN;
}

void apapi_meter_reopened(struct apapi_meter *meter)
{
    apapi_counter_reopened(&meter->counter);
    meter->doubles.reopened = true;
}

/* value0 is in raw units: exact as far as a double is. */
static inline void add_values(struct apapi_meter *meter, double value0, uint64_t dt_ns)
{
    meter->value = value0 * meter->event->scale;
    if (dt_ns > 0) {
        apapi_values_add(&meter->values, value0, dt_ns);
    } else {
        apapi_values_first(&meter->values, value0);
    }
}

/*
 * Every device draws power, so an energy counter that has not moved was not updated yet. The power
 * of that time is known after its next move.
 */
static inline enum apapi_meter_step meter_add_energy(struct apapi_meter *meter, double quantity_j,
                                                     uint64_t since_ns, double *energy_j)
{
    *energy_j = quantity_j;
    if (quantity_j == 0 && apapi_counter_never_rests(meter->event)) {
        apapi_rate_hold(&meter->rate, 0, since_ns);
        return APAPI_METER_WAITING;
    }
    apapi_rate_add(&meter->rate, quantity_j, since_ns);
    return APAPI_METER_KNOWN;
}

/* Add what a counter has counted [raw units]. */
static inline enum apapi_meter_step add_increment(struct apapi_meter *meter, double raw,
                                                  uint64_t since_ns, double *energy_j)
{
    double quantity = raw * meter->event->scale;

    add_values(meter, raw, since_ns);
    if (meter->event->kind == APAPI_KIND_ENERGY) {
        apapi_probe_note(&meter->probe, raw, meter->rate.held_ns + since_ns);
        return meter_add_energy(meter, quantity, since_ns, energy_j);
    }
    apapi_rate_add(&meter->rate, quantity, since_ns);
    return APAPI_METER_KNOWN;
}

static void lose_part(struct apapi_meter *meter)
{
    apapi_rate_drop(&meter->rate);
    apapi_values_break(&meter->values);
}

/* A first reading, doubted or after a break: what it adds is lost, or does not continue anything.
 */
static enum apapi_meter_step add_meaning(struct apapi_meter *meter, enum apapi_count meaning,
                                         double raw, uint64_t since_ns, double *energy_j)
{
    enum apapi_meter_step step;

    if (meaning == APAPI_COUNT_DOUBTED) {
        return APAPI_METER_WAITING;
    }
    if (meaning == APAPI_COUNT_BASELINE || meaning == APAPI_COUNT_RESET) {
        lose_part(meter);
    }
    if (meaning == APAPI_COUNT_BASELINE) {
        return APAPI_METER_BROKEN;
    }
    step = add_increment(meter, raw, since_ns, energy_j);
    return meaning == APAPI_COUNT_RESET ? APAPI_METER_BROKEN : step;
}

static enum apapi_meter_step add_count(struct apapi_meter *meter, uint64_t raw,
                                       struct apapi_moment when, double *energy_j)
{
    struct apapi_increment increment = {0};
    enum apapi_count meaning = apapi_counter_add(&meter->counter, raw, when, &increment);

    if (meter->counter.update.learned) {
        meter->rate.window_ns = window_ns(meter);
        apapi_probe_learn(&meter->probe, meter->counter.update.period_ns);
    }
    return add_meaning(meter, meaning, (double)increment.raw, increment.since_ns, energy_j);
}

static enum apapi_meter_step add_double_count(struct apapi_meter *meter, uint64_t raw,
                                              struct apapi_moment when, double *energy_j)
{
    double value, increment = 0;
    uint64_t since_ns = 0;
    enum apapi_count meaning;

    memcpy(&value, &raw, sizeof value);
    meaning = apapi_float_counter_add(&meter->doubles, value, when, &increment, &since_ns);
    return add_meaning(meter, meaning, increment, since_ns, energy_j);
}

static enum apapi_meter_step meter_add_value(struct apapi_meter *meter, uint64_t raw,
                                             uint64_t now_ns, double *energy_j)
{
    bool known = meter->gauge.valid;
    uint64_t dt_ns = known ? now_ns - meter->gauge.last_ns : 0;
    double value = apapi_event_value(meter->event, raw);
    double area = apapi_gauge_add(&meter->gauge, value, now_ns);

    if (!meter->gauge.valid) {
        return APAPI_METER_WAITING;
    }
    add_values(meter, value / meter->event->scale, dt_ns);
    if (meter->event->kind == APAPI_KIND_POWER) {
        *energy_j = area;
    }
    if (meter->histogram && dt_ns > 0) {
        apapi_histogram_add(meter->histogram, area / ((double)dt_ns / 1e9), dt_ns);
    }
    return known ? APAPI_METER_KNOWN : APAPI_METER_BROKEN;
}

static void meter_add_failure(struct apapi_meter *meter, int error)
{
    meter->last_error = error;
    apapi_values_break(&meter->values);
    if (apapi_counts_doubles(meter->event)) {
        meter->doubles.incidents.failed++;
    } else if (meter->event->accumulates) {
        apapi_counter_failed(&meter->counter);
    } else {
        apapi_gauge_failed(&meter->gauge);
    }
}

enum apapi_meter_step apapi_meter_add(struct apapi_meter *meter,
                                      const struct apapi_reading *reading, struct apapi_moment when,
                                      double *energy_j)
{
    *energy_j = 0;
    meter->value = NAN;
    if (reading->error) {
        meter_add_failure(meter, reading->error);
        return APAPI_METER_WAITING;
    }
    meter->rate.blur_ns = when.end_ns - when.begin_ns;
    if (apapi_counts_doubles(meter->event)) {
        return add_double_count(meter, reading->raw, when, energy_j);
    }
    if (meter->event->accumulates) {
        return add_count(meter, reading->raw, when, energy_j);
    }
    meter->gauge.length_ns = when.end_ns - when.begin_ns;
    return meter_add_value(meter, reading->raw, when.end_ns, energy_j);
}

static double counter_value(const struct apapi_meter *meter, uint64_t raw)
{
    double value;

    if (!apapi_counts_doubles(meter->event)) {
        return (double)raw;
    }
    memcpy(&value, &raw, sizeof value);
    return value;
}

void apapi_meter_probe(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when, bool second)
{
    double value = counter_value(meter, reading->raw);
    uint64_t length_ns = when.end_ns - meter->probe.first_ns;
    double most = meter->counter.max_per_ns * (double)length_ns + meter->counter.slack;

    if (meter->event->kind != APAPI_KIND_ENERGY || !meter->event->accumulates || reading->error) {
        meter->probe.open = false;
    } else if (second) {
        apapi_probe_close(&meter->probe, value, when, most);
    } else {
        apapi_probe_open(&meter->probe, value, when);
    }
}

bool apapi_meter_stands_still(const struct apapi_meter *meter)
{
    return meter->probe.open;
}

/* An energy counter that never moved has measured nothing, however short the time was. */
static double count_total(const struct apapi_meter *meter)
{
    bool whole = !apapi_counts_doubles(meter->event);
    double raw = whole ? (double)meter->counter.total : meter->doubles.total;
    uint64_t covered_ns = whole ? meter->counter.covered_ns : meter->doubles.covered_ns;
    bool still = apapi_counter_never_rests(meter->event) && raw == 0;

    return covered_ns == 0 || still ? NAN : raw * meter->event->scale;
}

double apapi_meter_total(const struct apapi_meter *meter)
{
    const struct apapi_gauge *gauge = &meter->gauge;

    if (meter->event->accumulates) {
        return count_total(meter);
    }
    return meter->event->kind == APAPI_KIND_POWER && gauge->covered_ns ? gauge->integral : NAN;
}

double apapi_meter_rate(const struct apapi_meter *meter)
{
    if (meter->event->accumulates) {
        return meter->rate.last;
    }
    return isnan(meter->gauge.min) ? NAN : meter->gauge.last;
}

uint64_t apapi_meter_known_ns(const struct apapi_meter *meter)
{
    bool rests = !apapi_counter_never_rests(meter->event);

    if (!meter->event->accumulates) {
        return meter->gauge.last_ns;
    }
    if (apapi_counts_doubles(meter->event)) {
        return rests ? meter->doubles.last.at_ns : meter->doubles.last.moved_ns;
    }
    return meter->counter.last.valid
               ? (rests ? meter->counter.last.at_ns : meter->counter.last.moved_ns)
               : 0;
}
