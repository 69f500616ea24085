/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/meter.h"

#include <math.h>
#include <string.h>

#include "measure/extremes.h"

#define EXCESS_LEAST 1.1
#define STUCK_AFTER_NS UINT64_C(1000000000)
#define STUCK_AFTER_SAMPLES 5

static bool counts_doubles(const struct apapi_event *event)
{
    return event->accumulates && event->type == APAPI_TYPE_FP64;
}

static uint64_t meter_update_ns(const struct apapi_meter *meter)
{
    const struct apapi_update *update = &meter->counter.update;

    if (update->learned) {
        return update->period_ns;
    }
    return update->stated_ns ? update->stated_ns : meter->interval_ns;
}

/* A counter that was found where it was has a longer period than it seems, learned or not yet. */
static uint64_t longest_update_ns(const struct apapi_meter *meter)
{
    uint64_t update_ns = meter_update_ns(meter), probed_ns = apapi_probe_update_ns(&meter->probe);
    uint64_t seen_ns = meter->counter.update.longest_ns;

    update_ns = seen_ns > update_ns ? seen_ns : update_ns;
    return probed_ns > update_ns ? probed_ns : update_ns;
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
    apapi_probe_init(&meter->probe, meter_update_ns(meter));
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
    if (counts_doubles(meter->event)) {
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
    if (counts_doubles(meter->event)) {
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

    if (!counts_doubles(meter->event)) {
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

static double over_seconds(double quantity, uint64_t ns)
{
    return ns ? quantity / ((double)ns / 1e9) : NAN;
}

/* An energy counter that never moved has measured nothing, however short the time was. */
static double count_total(const struct apapi_meter *meter)
{
    bool whole = !counts_doubles(meter->event);
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
    if (counts_doubles(meter->event)) {
        return rests ? meter->doubles.last.at_ns : meter->doubles.last.moved_ns;
    }
    return meter->counter.last.valid
               ? (rests ? meter->counter.last.at_ns : meter->counter.last.moved_ns)
               : 0;
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
    bool whole = !counts_doubles(meter->event);

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
    double seen_w = greater(ends_w(meter, result), result->summary.max);

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
    double unit_j = counts_doubles(meter->event) ? 0 : meter->event->scale;

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

/* A small difference from the usual estimate is not worth a number in the record. */
static double meter_uncertainty_j(const struct apapi_meter *meter,
                                  const struct apapi_event_result *result, uint64_t whole_ns)
{
    double usual_j = apapi_event_uncertainty_j(result, whole_ns, meter->interval_ns);
    double own_j = usual_j;

    if (meter->event->kind == APAPI_KIND_ENERGY && meter->event->accumulates) {
        own_j = count_uncertainty_j(meter, result, whole_ns);
    } else if (meter->event->kind == APAPI_KIND_POWER) {
        return isnan(usual_j) ? NAN : gauge_uncertainty_j(meter, result, whole_ns);
    }
    return own_j > EXCESS_LEAST * usual_j ? own_j : usual_j;
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
    result->uncertainty_j = meter_uncertainty_j(meter, result, span->late_ns + span->elapsed_ns);
    for (int i = 0; i < 2; i++) {
        result->values[i] = meter->wanted[i];
        apapi_value_result(&meter->values.stats[i], &result->values[i]);
    }
    if (result->stuck || result->still) {
        forget_values(result);
    }
}
