/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/meter.h"

#include <math.h>
#include <string.h>

/* The uncertainty, as docs/uncertainty.md derives it. */

#define RISEN_SHARE 10  /* a rise of the power begins before the last tenth of a time */
#define FEW_UPDATES 1.5 /* / updates: by how much the last one may exceed the greatest seen one */
#define LOWEST_SHARE 1.001 /* times the least power: a power below this is as low as any */
#define ALLOWED_SHARE                                                                              \
    (0.01 / 1.01) /* of the energy: 1 % of the truth, an error beyond U that needs no flag */
#define GREATEST_TO_MEAN 30 /* times its mean power, the most that a device uses */
#define SERVER_TO_LEAST 10  /* times the lowest power of its meter, the most that a server uses */
#define PART_TO_LEAST 30    /* times the lowest power of its meter, the most that a part uses */
#define MOST_SHARE 2.5      /* power that is refused / more than any device has today */
#define BEYOND_MOST 1.1     /* times the known greatest power: a reading above shows it is wrong */
#define LEAST_SAMPLES 30    /* with fewer, the last one may lack too large a part of the run */
#define FEW_WINDOWS 100     /* with fewer, their greatest power says little of powers not seen */

/*
 * @return time without a reading, for which a power has to be assumed [ns]. Time that is covered in
 * excess, as a worker of its own may read late, counts in the same way.
 */
static uint64_t uncovered_ns(const struct apapi_event_result *result, uint64_t whole_ns)
{
    uint64_t covered_ns = result->covered_ns;

    return whole_ns > covered_ns ? whole_ns - covered_ns : covered_ns - whole_ns;
}

/* @return the power at the ends of the run [W] */
static double ends_w(const struct apapi_meter *meter, const struct apapi_event_result *result)
{
    return fmax(result->summary.mean, fmax(meter->rate.first, meter->rate.last));
}

/*
 * @return the power of the time that is not covered [W]: the greatest that was seen; more, if less
 * of the run is covered
 */
static double uncovered_w(const struct apapi_meter *meter, const struct apapi_event_result *result,
                          uint64_t whole_ns)
{
    double update_s = (double)apapi_probe_update_ns(&meter->probe) / 1e9;
    double short_j = meter->probe.most * meter->event->scale;
    double mean_w = result->total / ((double)result->covered_ns / 1e9); /* not that of windows */
    double seen_w = fmax(fmax(ends_w(meter, result), mean_w), result->summary.max);

    if (uncovered_ns(result, whole_ns) < whole_ns / 8) {
        return seen_w;
    }
    return fmax(seen_w, short_j / update_s) * (double)whole_ns / (double)result->covered_ns;
}

/*
 * The energy of a counter's last move and its time, in a part of which the counter may have stood
 * still. Zeros, if it began with a dense reading whose moment must not be revealed.
 */
static struct last_move {
    double energy_j, length_s;
} last_move_of(const struct apapi_meter *meter)
{
    const struct apapi_last last = apapi_meter_last(meter);

    if (meter->coarse && last.ran_ns <= meter->dense_ns) {
        return (struct last_move){0, 0};
    }
    return (struct last_move){last.increment * meter->event->scale,
                              (double)(last.at_ns - last.ran_ns) / 1e9};
}

/*
 * If the power of the last move is the lowest of all, the counter may have stopped in this move.
 * @return the energy that it then missed, at the mean power, if that matters beside `ends_j` [J]
 */
static double suspected_j(const struct apapi_meter *meter, const struct apapi_event_result *result,
                          double ends_j)
{
    const struct last_move last = last_move_of(meter);
    double missed_j = result->summary.mean * last.length_s - last.energy_j;
    bool lowest = last.energy_j <= result->summary.min * last.length_s * LOWEST_SHARE;

    return meter->life != APAPI_LIFE_SEEN && lowest &&
                   missed_j > ends_j + ALLOWED_SHARE * result->total
               ? missed_j
               : 0;
}

/* @return the energy of one update at the end, if a risen power shows as `excess_j` before [J] */
static double risen_share_j(double excess_j, double updates)
{
    return excess_j > 0 ? excess_j * fmin(1, RISEN_SHARE / updates) : 0;
}

/*
 * The energy since the latest probe may show that the power has risen since: that power may be the
 * power at the end. The power of a probe that took long is known to a range only; the mean power is
 * taken if it is in the range.
 * @return the energy of one update at that power [J]; 0: no such power is seen
 */
static double risen_since_probe_j(const struct apapi_meter *meter, double mean_w)
{
    const struct apapi_probe *probe = &meter->probe;
    const struct apapi_last last = apapi_meter_last(meter);
    double since_ns = (double)last.at_ns - (double)probe->latest_when.begin_ns;
    double update_ns = (double)apapi_probe_update_ns(probe), updates = since_ns / update_ns;
    double mean = mean_w * update_ns / 1e9 / meter->event->scale;
    double recent = fmax(probe->recent_least, fmin(probe->recent_most, mean));
    double excess = last.raw - probe->latest - recent * updates;
    double most =
        (meter->counter.max_per_ns * since_ns + meter->counter.slack) * meter->counter.unit;

    if (recent == 0 || !(since_ns > 0) || since_ns > (double)meter->interval_ns || excess > most) {
        return 0;
    }
    return risen_share_j(excess * meter->event->scale, updates);
}

/* @return the energy of one update, if the last move's power is greater than all before [J] */
static double risen_at_last_j(const struct apapi_meter *meter)
{
    const struct last_move last = last_move_of(meter);

    return risen_share_j(last.energy_j - meter->rate.most_before * last.length_s,
                         last.length_s * 1e9 / (double)apapi_probe_update_ns(&meter->probe));
}

/*
 * The energy that the last reading does not show yet, and the energy from before the first reading,
 * have opposite signs; each is at most one update. The energy of uncovered time is missing.
 */
static double count_uncertainty_j(const struct apapi_meter *meter,
                                  const struct apapi_event_result *result, uint64_t whole_ns)
{
    double update_ns = (double)apapi_meter_longest_update_ns(meter);
    double update_j = ends_w(meter, result) * update_ns / 1e9;
    double seen_j = fmax(update_j, meter->probe.most * meter->event->scale);
    double risen_j = fmax(risen_at_last_j(meter), risen_since_probe_j(meter, result->summary.mean));
    double few = apapi_meter_shows_update(meter) ? FEW_UPDATES * update_ns / (double)whole_ns : 0;
    double ends_j = fmax(seen_j, risen_j) * (1 + few);
    double unit_j = meter->counter.unit * meter->event->scale;
    double uncovered_j =
        uncovered_w(meter, result, whole_ns) * (double)uncovered_ns(result, whole_ns) / 1e9;

    return ends_j + unit_j + fmax(uncovered_j, suspected_j(meter, result, ends_j)) +
           meter->counter.hidden * meter->event->scale;
}

/* @return the power of a time that no reading shows: the greatest that the device may use [W] */
static double unseen_w(const struct apapi_event_result *result)
{
    const struct apapi_event *event = &result->event;
    const struct apapi_summary *seen = &result->summary;
    double limit_w = apapi_domain_max_w(event->domain), times = GREATEST_TO_MEAN * seen->mean;
    double known_w = fmin((double)event->most_w, limit_w);

    if (known_w > 0 && seen->max <= known_w * BEYOND_MOST) {
        return known_w;
    }
    limit_w /= event->accumulates ? 1 : MOST_SHARE;
    if (!event->accumulates && seen->min > 0) {
        bool server = event->domain == APAPI_DOMAIN_NODE || event->domain == APAPI_DOMAIN_PSYS;

        times = (server ? SERVER_TO_LEAST : PART_TO_LEAST) * seen->min;
    }
    return fmax(fmin(limit_w, times), seen->max * BEYOND_MOST);
}

/* A gauge's value is rounded to its unit, which adds half a unit. */
static double gauge_uncertainty_j(const struct apapi_meter *meter,
                                  const struct apapi_event_result *result, uint64_t whole_ns)
{
    double unit_w = meter->event->type == APAPI_TYPE_FP64 ? 0 : meter->event->scale;

    return apapi_gauge_uncertainty(&meter->gauge, unseen_w(result), whole_ns) +
           unit_w / 2 * (double)meter->gauge.covered_ns / 1e9 +
           result->summary.max * (double)uncovered_ns(result, whole_ns) / 1e9;
}

/* @return the uncertainty by what the readings show [J]; NaN: not known, as of an estimate */
static double meter_uncertainty_j(const struct apapi_meter *meter,
                                  const struct apapi_event_result *result, uint64_t whole_ns)
{
    const struct apapi_event *event = &result->event;
    uint64_t update_ns = event->update_ns ? event->update_ns : meter->interval_ns;
    double usual_j =
        result->summary.mean * (double)(update_ns + uncovered_ns(result, whole_ns)) / 1e9;

    if (event->estimated || event->kind > APAPI_KIND_POWER || isnan(usual_j)) {
        return NAN;
    }
    if (event->kind == APAPI_KIND_POWER) {
        return gauge_uncertainty_j(meter, result, whole_ns);
    }
    return event->accumulates ? count_uncertainty_j(meter, result, whole_ns) : usual_j;
}

/* @return whether the last move differs from all before by more than an update: a new power. */
static bool has_changed(const struct apapi_meter *meter, struct last_move last)
{
    double update_s = (double)apapi_meter_longest_update_ns(meter) / 1e9;

    return last.energy_j > meter->rate.most_before * (last.length_s + update_s) ||
           last.energy_j < meter->rate.least_before * (last.length_s - update_s);
}

/*
 * The counter shows the energy until the last reading up to one update later. If the power has just
 * changed, earlier powers show nothing.
 * @return how much more the last move would have counted, if the counter has stopped in it [J]
 */
static double stopped_j(const struct apapi_meter *meter, const struct apapi_event_result *result)
{
    const struct last_move last = last_move_of(meter);
    double seen_w = fmax(ends_w(meter, result), result->summary.max);
    double update_s = (double)apapi_probe_update_ns(&meter->probe) / 1e9;
    double short_w = meter->probe.most * meter->event->scale / update_s;

    if (meter->rate.windows < FEW_WINDOWS) {
        seen_w = has_changed(meter, last) ? unseen_w(result) : fmax(seen_w, short_w);
    }
    return seen_w * (last.length_s + (double)apapi_meter_longest_update_ns(meter) / 1e9) -
           last.energy_j;
}

/* A reset may look like a wrap, or like a small increment of a low counter. @return [J] */
static double hidden_reset_j(const struct apapi_meter *meter,
                             const struct apapi_event_result *result)
{
    double above_w = result->summary.max - result->summary.min;

    return fmax((double)meter->counter.to_wrap * meter->event->scale,
                above_w * (double)meter->counter.low_ns / 1e9);
}

/* @return the greatest error that the readings of a counter leave possible [J] */
static double count_bound_j(const struct apapi_meter *meter,
                            const struct apapi_event_result *result, uint64_t whole_ns)
{
    uint64_t unseen_ns = apapi_meter_longest_update_ns(meter) + uncovered_ns(result, whole_ns);
    double bound_j =
        fmax(unseen_w(result) * (double)unseen_ns / 1e9, hidden_reset_j(meter, result));

    if (meter->life == APAPI_LIFE_SEEN) {
        return bound_j;
    }
    return result->incidents.samples < LEAST_SAMPLES ? INFINITY
                                                     : fmax(bound_j, stopped_j(meter, result));
}

/* @return whether the energy may be wrong by more than its uncertainty and 1 %. */
static bool is_rough(const struct apapi_meter *meter, const struct apapi_event_result *result,
                     uint64_t whole_ns)
{
    double allowed_j = result->uncertainty_j + ALLOWED_SHARE * result->total;

    if (isnan(allowed_j)) {
        return false;
    }
    if (meter->event->kind == APAPI_KIND_POWER) {
        return apapi_gauge_bound(&meter->gauge, unseen_w(result), whole_ns) +
                   unseen_w(result) * (double)uncovered_ns(result, whole_ns) / 1e9 >
               allowed_j;
    }
    return count_bound_j(meter, result, whole_ns) > allowed_j;
}

#define STUCK_AFTER_NS UINT64_C(1000000000)
#define STUCK_AFTER_SAMPLES 5

static double over_seconds(double quantity, uint64_t ns)
{
    return ns ? quantity / ((double)ns / 1e9) : NAN;
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
    /* within these: the energy includes both readings at the ends, the covered time does not */
    result->summary.mean =
        fmax(result->summary.min,
             fmin(result->summary.max, over_seconds(result->total, result->covered_ns)));
    result->summary.p95 = apapi_histogram_within(meter->rate.histogram, &result->summary);
}

/* @return whether the covered time ends with the last reading: no segment begins, no standstill. */
static bool ends_with_last(const struct apapi_counter *counter)
{
    const struct apapi_counter_point *last = &counter->last;

    return last->valid && counter->covered_ns > 0 && last->begin_ns >= counter->segment_ns &&
           last->at_ns - last->moved_ns < counter->stall_ns;
}

/*
 * A worker of its own may read after the end of the run. @return the length of the last reading, to
 * be covered as well [ns], if the run ended nearer to the reading's beginning than to its end.
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
    bool stopped = meter->life == APAPI_LIFE_ENDED;
    uint64_t beyond_ns = stopped ? 0 : beyond_end_ns(&meter->counter, span->end_ns);

    apapi_counter_finish(&meter->counter);
    apapi_rate_finish(&meter->rate);
    result->incidents = meter->counter.incidents;
    result->covered_ns = meter->counter.covered_ns + beyond_ns;
    finish_total(meter, span->elapsed_ns, result);
    if (!meter->counter.of_doubles && !isnan(result->total)) {
        result->raw_total = meter->counter.total;
    }
}

static void finish_gauge(const struct apapi_meter *meter, struct apapi_event_result *result)
{
    const struct apapi_gauge *gauge = &meter->gauge;

    result->incidents = gauge->incidents;
    result->incidents.refused += gauge->doubted;
    result->covered_ns = gauge->covered_ns;
    if (apapi_gauge_is_dead(meter)) {
        result->stuck = true;
        return;
    }
    result->summary.min = gauge->min;
    result->summary.mean = over_seconds(gauge->integral, gauge->covered_ns);
    result->summary.max = gauge->max;
    result->summary.p95 = apapi_histogram_within(meter->histogram, &result->summary);
    result->total = apapi_meter_total(meter);
}

/* A rate has the extremes of windows: a shorter time shows when the counter was updated. */
static void take_windows(const struct apapi_meter *meter, const struct apapi_summary *windows,
                         struct apapi_value_result *rate)
{
    double unit = meter->event->scale * 1e9 * rate->factor; /* the operation's time is in ns */

    rate->min = (unit < 0 ? windows->max : windows->min) / unit;
    rate->max = (unit < 0 ? windows->min : windows->max) / unit;
    rate->avg = fmax(rate->min, fmin(rate->max, rate->avg));
}

void apapi_meter_finish(struct apapi_meter *meter, const struct apapi_span *span,
                        struct apapi_event_result *result)
{
    uint64_t whole_ns = span->late_ns + span->elapsed_ns;

    memset(result, 0, sizeof *result);
    result->event = *meter->event;
    if (meter->counter.update.learned) {
        result->event.update_ns = meter->counter.update.period_ns;
    } else if (!result->event.update_ns && apapi_meter_knows_update(meter)) {
        result->event.update_ns = apapi_meter_longest_update_ns(meter);
    }
    result->total = NAN;
    result->summary = (struct apapi_summary){NAN, NAN, NAN, NAN};
    if (meter->event->accumulates) {
        finish_count(meter, span, result);
    } else {
        apapi_meter_show_rest(meter);
        finish_gauge(meter, result);
    }
    result->uncertainty_j = meter_uncertainty_j(meter, result, whole_ns);
    result->incidents.rough = is_rough(meter, result, whole_ns);
    apapi_rate_hide(&meter->rate, &result->summary);
    for (int i = 0; i < 2; i++) {
        struct apapi_value_result *value = &result->values[i];

        *value = meter->wanted[i];
        apapi_value_result(&meter->values.stats[i], value);
        if (i == 1 && meter->event->accumulates &&
            meter->values.operation == APAPI_OP1_DIV_DIFF_TIME) {
            take_windows(meter, &result->summary, value);
        }
        if (result->stuck || result->still) { /* nothing is counted: unknown, not 0 */
            value->min = value->max = value->avg = value->acc = NAN;
        }
    }
}

double apapi_meter_uncertainty_j(const struct apapi_meter *meter, const struct apapi_span *span)
{
    struct apapi_meter copy = *meter;
    struct apapi_event_result result;

    if (meter->event->kind > APAPI_KIND_POWER || isnan(apapi_meter_total(meter))) {
        return NAN;
    }
    copy.histogram = copy.rate.histogram = NULL;
    apapi_meter_finish(&copy, span, &result);
    return result.uncertainty_j;
}

void incidents_add(struct apapi_incidents *sum, const struct apapi_incidents *one)
{
    sum->samples = one->samples > sum->samples ? one->samples : sum->samples;
    sum->failed += one->failed;
    sum->wraps += one->wraps;
    sum->resets += one->resets;
    sum->refused += one->refused;
    sum->gaps += one->gaps;
    sum->stalls += one->stalls;
    sum->rough += one->rough;
}

/* @return the greater one of each count. */
static struct apapi_incidents incidents_greater(const struct apapi_incidents *a,
                                                const struct apapi_incidents *b)
{
    return (struct apapi_incidents){.samples = greater_count(a->samples, b->samples),
                                    .failed = greater_count(a->failed, b->failed),
                                    .wraps = greater_count(a->wraps, b->wraps),
                                    .resets = greater_count(a->resets, b->resets),
                                    .refused = greater_count(a->refused, b->refused),
                                    .gaps = greater_count(a->gaps, b->gaps),
                                    .stalls = greater_count(a->stalls, b->stalls),
                                    .rough = greater_count(a->rough, b->rough)};
}

struct apapi_incidents apapi_measurement_incidents(const struct apapi_measurement *m)
{
    struct apapi_incidents sum = {0};

    for (size_t i = 0; i < m->component_count; i++) {
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            incidents_add(&sum, &m->components[i].events[k].incidents);
        }
    }
    return incidents_greater(&sum, &m->incidents);
}
