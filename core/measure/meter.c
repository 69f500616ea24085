/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/meter.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* Gauges. */

#define DEVIATION_VARIANCE 1.5 /* variance of a deviation / variance of one reading */
#define TWO_SIDED 2.5          /* standard deviations for 95 %, and a little more */
#define MOST 5.0               /* standard deviations that one run in a million exceeds */
#define FEW_READINGS 3.0       /* relative widening for one deviation (Student's t); n: 1 / n */
#define UNSEEN 3.0             /* n readings all miss this / n of the time in one of 20 runs */
#define UNSEEN_MOST 14.0       /* n readings all miss this / n of the time once in a million runs */
#define LIVELY_PCT 90 /* fewer readings with changes [%]: the meter's looks may follow the load */
#define HELD_NS 1e9   /* time for which a value is held, if nothing shows it [ns] */

void apapi_gauge_restart(struct apapi_gauge *gauge)
{
    *gauge = (struct apapi_gauge){.rectangle = gauge->rectangle,
                                  .stated_ns = gauge->stated_ns,
                                  .lively_ns = INFINITY,
                                  .min = NAN,
                                  .max = NAN};
}

/*
 * Note a change. The time of the latest 1, 2, 4 ... changes, divided by their number, shows how
 * long a value is held; the least counts. A change may be seen late: the mean interval is added.
 */
static void note_change(struct apapi_gauge *gauge, uint64_t now_ns)
{
    uint64_t late_ns = gauge->covered_ns / gauge->incidents.samples;

    for (uint64_t n = 1; n <= GAUGE_CHANGES && n <= gauge->changes; n *= 2) {
        uint64_t since_ns = now_ns - gauge->changed_ns[(gauge->changes - n) % GAUGE_CHANGES];

        gauge->lively_ns = fmin(gauge->lively_ns, (double)(since_ns + late_ns) / (double)n);
    }
    gauge->changed_ns[gauge->changes++ % GAUGE_CHANGES] = now_ns;
}

/* Add the distance of the last reading from the line between the reading before it and `value`. */
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

/* @return the area since the last reading [value x s] */
static double gauge_go_on(struct apapi_gauge *gauge, double value, uint64_t now_ns)
{
    uint64_t dt_ns = now_ns - gauge->last_ns;
    double height = gauge->rectangle ? value : (gauge->last + value) / 2;
    double area = height * ((double)dt_ns / 1e9);

    if (gauge->between) {
        add_deviation(gauge, value, now_ns);
    }
    gauge->between = true;
    gauge->before = gauge->last;
    gauge->step_ns = dt_ns;
    gauge->covered_ns += dt_ns;
    gauge->squares_s2 += duration(dt_ns) / 1e9 * duration(dt_ns) / 1e9;
    gauge->integral += area;
    gauge->incidents.samples++;
    if (value != gauge->before) {
        note_change(gauge, now_ns);
    }
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

/* @return for how many readings a value is held, >= 1: by its changes, else as stated or usual */
static double gauge_held(const struct apapi_gauge *gauge)
{
    double assumed_ns = fmax(HELD_NS, (double)gauge->stated_ns);
    double held_ns = isinf(gauge->lively_ns) ? assumed_ns : gauge->lively_ns;
    double samples = (double)gauge->incidents.samples;

    return fmax(1, fmin(samples, held_ns * samples / (double)gauge->covered_ns));
}

/*
 * If readings show each value n times, two of n readings deviate from the line, by half the step.
 * @return standard deviation of the integral, from the course of the value and the moments of the
 * readings [value x s]
 */
static double gauge_deviation(const struct apapi_gauge *gauge)
{
    double held = gauge_held(gauge), more = (held * held - 1) * DEVIATION_VARIANCE;

    return gauge->deviations ? (1 + FEW_READINGS * held / (double)gauge->deviations) *
                                   sqrt(gauge->squares * (1 / DEVIATION_VARIANCE + more))
                             : 0;
}

/*
 * A value may be of any moment of its reading, or of the time for which it is held. If it is always
 * of the beginning, or always of the end, the whole course is shifted in time. The error is the
 * difference of the values at both ends, times the shift. @return the greatest one [value x s]
 */
static double shift(const struct apapi_gauge *gauge)
{
    double readings = (double)gauge->incidents.samples, held = gauge_held(gauge) - 1;
    double held_ns = held > 0 ? held * (double)gauge->covered_ns / readings : 0;

    return (gauge->max - gauge->min) * ((double)gauge->longest_ns + held_ns) / 1e9;
}

/*
 * @return what all readings may have missed: bursts of the greatest value, or pauses [value x s].
 * If intervals differ, or values are held, the readings count as fewer. If the meter looked only
 * once, perhaps before the run, all of the time may be missed.
 * @param unseen  number of readings times the share of the time that all of them may miss
 */
static double missed(const struct apapi_gauge *gauge, double most, uint64_t whole_ns, double unseen)
{
    double covered_s = (double)gauge->covered_ns / 1e9, mean = gauge->integral / covered_s;
    double held_share = gauge_held(gauge) / (double)gauge->incidents.samples;
    double unequal_share = gauge->squares_s2 / (covered_s * covered_s);
    double look_share = fmax(unequal_share, held_share);
    double unseen_s =
        duration(whole_ns) / 1e9 * (look_share < 1 ? -expm1(-unseen * look_share) : 1);

    return covered_s > 0 ? fmax(most - mean, mean) * unseen_s : 0;
}

double apapi_gauge_uncertainty(const struct apapi_gauge *gauge, double most, uint64_t whole_ns)
{
    return hypot(TWO_SIDED * gauge_deviation(gauge), missed(gauge, most, whole_ns, UNSEEN)) +
           shift(gauge);
}

double apapi_gauge_bound(const struct apapi_gauge *gauge, double most, uint64_t whole_ns)
{
    if (gauge->changes < gauge->incidents.samples * LIVELY_PCT / 100) {
        return INFINITY;
    }
    return MOST * gauge_deviation(gauge) + missed(gauge, most, whole_ns, UNSEEN_MOST) +
           most * (double)gauge->longest_ns / 1e9;
}

/* Probes. */

#define LEARN_SHARE 4 /* a change of the update period by less than a quarter does not matter */
#define FEW_WAITS 2   /* the longest of n waits counts as longer by 2 / n: few may all be short */
#define RULED_OUT 2.3 /* a likelihood below e^-2.3 (a tenth) of the greatest is ruled out */

void apapi_probe_init(struct apapi_probe *probe, uint64_t update_ns)
{
    *probe = (struct apapi_probe){.update_ns = update_ns, .known_ns = update_ns};
}

/* Convert `most` to another update period. */
static void probe_rescale(struct apapi_probe *probe, uint64_t update_ns)
{
    double updates = greater(1, probe->updates * (double)probe->update_ns / (double)update_ns);

    probe->most *= probe->updates / updates;
    probe->updates = updates;
    probe->update_ns = update_ns;
}

void apapi_probe_learn(struct apapi_probe *probe, uint64_t update_ns)
{
    uint64_t known_ns = probe->known_ns;
    uint64_t change_ns = update_ns > known_ns ? update_ns - known_ns : known_ns - update_ns;

    if (change_ns > known_ns / LEARN_SHARE) {
        probe_rescale(probe, update_ns);
        *probe = (struct apapi_probe){.update_ns = update_ns,
                                      .known_ns = update_ns,
                                      .most = probe->most,
                                      .updates = probe->updates};
    }
}

uint64_t apapi_probe_update_ns(const struct apapi_probe *probe)
{
    uint64_t waits_ns = probe->longest_ns;

    if (waits_ns > probe->known_ns) {
        waits_ns += waits_ns * FEW_WAITS / probe->moves;
    }
    return waits_ns > probe->update_ns ? waits_ns : probe->update_ns;
}

/* Note an increment of so many updates, if it is the greatest. @return the part of one update */
static double probe_see(struct apapi_probe *probe, double increment, double updates)
{
    updates = greater(1, updates);
    if (increment / updates > probe->most) {
        probe->most = increment / updates;
        probe->updates = updates;
    }
    return increment / updates;
}

/*
 * Usual readings may be less than an update apart, and the period may be an assumption: the number
 * of updates follows from the time. An increment of 0 shows nothing: the next one is looked at.
 */
void apapi_probe_note(struct apapi_probe *probe, double increment, uint64_t since_ns)
{
    if (++probe->increments >= probe->next && increment > 0) {
        probe_see(probe, increment, (double)since_ns / (double)probe->update_ns);
        probe->next = probe->increments + probe->increments / 2 + 1;
    }
}

static double probe_period(const struct apapi_probe *probe, int number)
{
    return (double)probe->known_ns * exp2(-number / 2.0);
}

/*
 * The first reading of a probe is at a random moment of an update period, and the counter's next
 * move at a random time after it. If probes see moves sooner, the period is shorter than known: the
 * longest period that the waits do not rule out is taken.
 * @param still_ns, within_ns  time of the latest look without a move, and of the first with one
 */
static void probe_fit(struct apapi_probe *probe, uint64_t still_ns, uint64_t within_ns)
{
    double best = -INFINITY, still = (double)still_ns, within = (double)within_ns;
    int longest = 0;

    for (int i = 0; i < APAPI_PROBE_PERIODS; i++) {
        double period = probe_period(probe, i);

        probe->fit[i] += log(greater(0, lesser(within, period) - still) / period);
        best = greater(best, probe->fit[i]);
    }
    while (longest < APAPI_PROBE_PERIODS - 1 && probe->fit[longest] < best - RULED_OUT) {
        longest++;
    }
    probe_rescale(probe, (uint64_t)probe_period(probe, longest));
}

void apapi_probe_open(struct apapi_probe *probe, double value, struct apapi_moment when)
{
    if (probe->open) {
        probe_fit(probe, probe->still_ns, UINT64_MAX);
    }
    probe->open = true;
    probe->first = probe->latest = value;
    probe->first_when = probe->latest_when = when;
    probe->still_ns = 0;
}

/*
 * Note a wait between two readings of a probe. A move at the end of a long wait may have come early
 * in it: the wait counts for no more than all waits of the probe before. A counter without a move
 * at the end of a probe stands still, which shows no update period.
 */
static void probe_wait(struct apapi_probe *probe, bool moved, struct apapi_moment when)
{
    uint64_t waited_ns = when.begin_ns - probe->latest_when.end_ns;
    uint64_t most_ns = probe->still_ns > probe->update_ns ? probe->still_ns : probe->update_ns;
    uint64_t still_ns = probe->still_ns;
    bool longer = still_ns > probe->known_ns;

    probe->latest_when = when;
    if (!moved) {
        probe->still_ns += waited_ns;
        return;
    }
    probe->moves++;
    if (longer) {
        probe->still_ns += waited_ns < most_ns ? waited_ns : most_ns;
    }
    probe->longest_ns = probe->still_ns > probe->longest_ns ? probe->still_ns : probe->longest_ns;
    probe_fit(probe, still_ns, when.end_ns - probe->first_when.begin_ns);
}

void apapi_probe_close(struct apapi_probe *probe, double value, struct apapi_moment when,
                       double most)
{
    double increment = value - probe->first;

    if (probe->open && increment >= 0 && increment <= most) {
        probe->latest = value;
    }
    if (probe->open && increment >= 0) {
        probe_wait(probe, increment > 0, when);
    }
    if (probe->open && increment > 0 && increment <= most) {
        uint64_t update_ns = apapi_probe_update_ns(probe);
        uint64_t longest = (when.end_ns - probe->first_when.begin_ns) / update_ns;
        uint64_t shortest = (when.begin_ns - probe->first_when.end_ns) / update_ns;

        probe->recent_least = probe_see(probe, increment, (double)longest);
        probe->recent_most = increment / greater(1, (double)shortest);
    }
    probe->open &= increment == 0;
}

/* Values. */

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
    static const struct apapi_value_stats none = {.last = NAN, .min = NAN, .max = NAN};

    *values = (struct apapi_values){.operation = operation, .stats = {none, none}};
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

void apapi_value_result(const struct apapi_value_stats *stats, struct apapi_value_result *result)
{
    double factor = result->factor;

    result->last = stats->last / factor;
    result->min = (factor < 0 ? stats->max : stats->min) / factor;
    result->max = (factor < 0 ? stats->min : stats->max) / factor;
    result->avg = stats->count ? stats->weighted / stats->time / factor : NAN;
    result->acc = stats->count ? stats->acc / factor : NAN;
}

/* Meters. */

#define ENOUGH_WAITS 4 /* so many probes with a move show a period that is not stated */

bool apapi_meter_knows_update(const struct apapi_meter *meter)
{
    return apapi_meter_shows_update(meter) || meter->probe.moves >= ENOUGH_WAITS;
}

/* A standstill that readings found shows a longer period, whether one was learned or not. */
uint64_t apapi_meter_longest_update_ns(const struct apapi_meter *meter)
{
    const struct apapi_update *update = &meter->counter.update;
    uint64_t seen_ns = update->longest_ns, probed_ns = apapi_probe_update_ns(&meter->probe);

    if (!apapi_meter_knows_update(meter) && meter->interval_ns > probed_ns) {
        probed_ns = meter->interval_ns;
    }
    return seen_ns > probed_ns ? seen_ns : probed_ns;
}

/* Only a counter of energy shows its update period. */
static uint64_t window_ns(const struct apapi_meter *meter)
{
    bool known = !meter->counter.rests && apapi_meter_shows_update(meter);

    return apapi_window_ns(meter->interval_ns, known ? meter->counter.update.period_ns : 0);
}

void apapi_meter_init(struct apapi_meter *meter, const struct apapi_event *event,
                      uint64_t interval_ns, struct apapi_histogram *histogram)
{
    bool energy = event->kind == APAPI_KIND_ENERGY;

    memset(meter, 0, sizeof *meter);
    meter->event = event;
    apapi_counter_init(&meter->counter, event, energy ? apapi_counter_most_w(event) : INFINITY);
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
    apapi_probe_init(&meter->probe, meter->counter.update.period_ns);
    meter->gauge.stated_ns = meter->event->update_ns;
    apapi_gauge_restart(&meter->gauge);
    apapi_values_restart(&meter->values, meter->values.operation);
    meter->unshown = (struct apapi_unshown){0};
    meter->life = APAPI_LIFE_UNKNOWN;
    meter->known_ns = meter->dense_ns = 0;
    meter->last_error = 0;
    meter->value = NAN;
}

/* Add value0 in raw units, which a double holds exactly as far as possible. */
static inline void add_values(struct apapi_meter *meter, double value0, uint64_t dt_ns)
{
    meter->value = value0 * meter->event->scale;
    meter->value_ns = dt_ns;
    if (dt_ns > 0) {
        apapi_values_add(&meter->values, value0, dt_ns);
    } else {
        apapi_values_first(&meter->values, value0);
    }
}

/*
 * Add the increment of a counter [raw units]. Every device draws power, so an energy counter
 * without a move was not updated yet. The power of that time is known after the next move.
 */
static inline enum apapi_meter_step add_increment(struct apapi_meter *meter, double raw,
                                                  uint64_t since_ns, double *energy_j)
{
    double quantity = raw * meter->event->scale;

    add_values(meter, raw, since_ns);
    if (meter->event->kind == APAPI_KIND_ENERGY) {
        apapi_probe_note(&meter->probe, raw, meter->rate.held_ns + since_ns);
        *energy_j = quantity;
    }
    if (quantity == 0 && apapi_counter_never_rests(meter->event)) {
        apapi_rate_hold(&meter->rate, 0, since_ns);
        if (apapi_counter_stands_still(&meter->counter)) {
            meter->rate.open_lapse = APAPI_LAPSE_STILL;
        }
        return APAPI_METER_WAITING;
    }
    apapi_rate_add(&meter->rate, quantity, since_ns);
    return APAPI_METER_KNOWN;
}

/* The increment of a counter by a reading [raw units]. */
struct counted {
    enum apapi_count meaning;
    double raw;
    uint64_t since_ns;
};

/* Take what was added since the latest shown reading. */
static inline struct apapi_unshown take_unshown(struct apapi_meter *meter)
{
    const struct apapi_unshown unshown = meter->unshown;

    meter->unshown = (struct apapi_unshown){0};
    return unshown;
}

/* A doubted reading adds nothing. A first reading, also after a break, continues no earlier one. */
static inline enum apapi_meter_step add_counted(struct apapi_meter *meter, struct counted counted,
                                                uint64_t now_ns, bool shown, double *energy_j)
{
    enum apapi_meter_step step = APAPI_METER_WAITING;
    struct apapi_unshown all;

    if (counted.meaning == APAPI_COUNT_DOUBTED) {
        return APAPI_METER_WAITING;
    }
    if (counted.meaning != APAPI_COUNT_ADDED) {
        apapi_rate_drop(&meter->rate);
        meter->values.has_last = false;
        meter->unshown.broken = true;
        meter->unshown.since_ns = meter->unshown.quantity > 0 ? meter->unshown.since_ns : 0;
    }
    meter->unshown.quantity += counted.raw;
    meter->unshown.since_ns += counted.since_ns;
    if (!shown) {
        return APAPI_METER_WAITING;
    }
    all = take_unshown(meter);
    if (all.quantity > 0 || all.broken || meter->counter.rests) {
        meter->known_ns = now_ns;
    }
    if (all.since_ns > 0 || !all.broken) {
        step = add_increment(meter, all.quantity, all.since_ns, energy_j);
    }
    return all.broken ? APAPI_METER_BROKEN : step;
}

static inline struct counted meter_count(struct apapi_meter *meter, uint64_t raw,
                                         struct apapi_moment when)
{
    struct apapi_increment increment = {0};
    enum apapi_count meaning = apapi_counter_add(&meter->counter, raw, when, &increment);

    if (meter->counter.update.learned) {
        meter->rate.window_ns = window_ns(meter);
        apapi_probe_learn(&meter->probe, meter->counter.update.period_ns);
    }
    if (meaning == APAPI_COUNT_BASELINE) {
        return (struct counted){.meaning = meaning};
    }
    return (struct counted){meaning, (double)increment.raw * meter->counter.unit,
                            increment.since_ns};
}

/* @return the counter's value [raw units]; NaN: `raw` cannot be a count */
static double counter_value(const struct apapi_meter *meter, uint64_t raw)
{
    uint64_t count;

    return apapi_counter_counts(&meter->counter, raw, &count)
               ? apapi_counter_value(&meter->counter, count)
               : NAN;
}

/* @return the greatest plausible increment of a counter in a time [raw units] */
static double most_in(const struct apapi_counter *counter, uint64_t length_ns)
{
    return (counter->max_per_ns * (double)length_ns + counter->slack) * counter->unit;
}

#define ROUNDING 1e-9 /* relative: a mean that is nearer to the latest value is equal to it */

/* Count values that are not shown by the mean of their time, which is also in the extremes. */
static double gauge_show_mean(struct apapi_gauge *gauge, struct apapi_unshown all)
{
    double mean = all.quantity / (duration(all.since_ns) / 1e9);

    if (fabs(mean - gauge->last) <= ROUNDING * fabs(mean)) {
        mean = gauge->last; /* the value was constant */
    }
    gauge->min = lesser(gauge->min, mean);
    gauge->max = greater(gauge->max, mean);
    return mean;
}

void apapi_meter_show_rest(struct apapi_meter *meter)
{
    const struct apapi_unshown rest = take_unshown(meter);

    if (!meter->event->accumulates && rest.since_ns > 0) {
        gauge_show_mean(&meter->gauge, rest);
    }
}

#define SERVER_TO_LOWEST 25 /* times the lowest power of its meter, which no server reaches */

/* @return whether no device has such a power. */
static bool is_beyond_any(const struct apapi_meter *meter, double value)
{
    enum apapi_domain domain = meter->event->domain;
    bool server = domain == APAPI_DOMAIN_NODE || domain == APAPI_DOMAIN_PSYS;

    return meter->event->kind == APAPI_KIND_POWER && isfinite(value) &&
           (value > apapi_domain_max_w(domain) ||
            (server && meter->gauge.min > 0 && value > SERVER_TO_LOWEST * meter->gauge.min));
}

/*
 * A power that no device has waits for the next reading, as an increment of a counter does. If that
 * is as high, both count, and those that follow; otherwise it was wrong.
 * @return whether the reading waits
 */
static bool gauge_doubts(struct apapi_meter *meter, double value, uint64_t now_ns)
{
    struct apapi_gauge *gauge = &meter->gauge;
    bool beyond = is_beyond_any(meter, value);

    if (gauge->doubted) {
        gauge->doubted = false;
        if (beyond) {
            apapi_gauge_add(gauge, gauge->doubt, gauge->doubt_ns);
        } else {
            gauge->incidents.refused++;
        }
    } else if (beyond && !(gauge->valid && is_beyond_any(meter, gauge->last))) {
        meter->values.has_last = false;
        meter->unshown.broken = true;
        gauge->valid = false;
        gauge->doubted = true;
        gauge->doubt = value;
        gauge->doubt_ns = now_ns;
    }
    return gauge->doubted;
}

static enum apapi_meter_step meter_add_value(struct apapi_meter *meter, uint64_t raw,
                                             uint64_t now_ns, bool shown, double *energy_j)
{
    double value = apapi_event_value(meter->event, raw), mean;
    bool doubted = gauge_doubts(meter, value, now_ns);
    const struct apapi_gauge before = meter->gauge;
    struct apapi_unshown all;

    if (doubted) {
        return APAPI_METER_WAITING;
    }
    meter->unshown.quantity += apapi_gauge_add(&meter->gauge, value, now_ns);
    if (!meter->gauge.valid) {
        return APAPI_METER_WAITING;
    }
    meter->unshown.since_ns += before.valid ? now_ns - before.last_ns : 0;
    meter->unshown.broken |= !before.valid;
    if (!shown) {
        meter->gauge.min = before.min;
        meter->gauge.max = before.max;
        return APAPI_METER_WAITING;
    }
    all = take_unshown(meter);
    meter->known_ns = now_ns;
    add_values(meter, value / meter->event->scale, all.since_ns);
    if (meter->event->kind == APAPI_KIND_POWER) {
        *energy_j = all.quantity;
    }
    mean = all.since_ns > 0 ? gauge_show_mean(&meter->gauge, all) : NAN;
    if (meter->histogram && all.since_ns > 0) {
        apapi_histogram_add(meter->histogram, mean, all.since_ns);
    }
    return all.broken ? APAPI_METER_BROKEN : APAPI_METER_KNOWN;
}

static void meter_add_failure(struct apapi_meter *meter, int error)
{
    meter->last_error = error;
    meter->values.has_last = false;
    if (meter->event->accumulates) {
        meter->counter.incidents.failed++;
        if (meter->rate.open_lapse == APAPI_LAPSE_NONE) {
            meter->rate.open_lapse = APAPI_LAPSE_FAILED;
        }
    } else { /* the time until the next good reading is not covered */
        meter->gauge.incidents.failed++;
        meter->gauge.incidents.refused += meter->gauge.doubted;
        meter->gauge.valid = meter->gauge.doubted = false;
    }
}

static inline enum apapi_meter_step meter_take(struct apapi_meter *meter,
                                               const struct apapi_reading *reading,
                                               struct apapi_moment when, bool shown,
                                               double *energy_j)
{
    uint64_t length_ns = when.end_ns - when.begin_ns;

    if (reading->error) {
        meter_add_failure(meter, reading->error);
        return APAPI_METER_WAITING;
    }
    if (!meter->event->accumulates) {
        meter->gauge.length_ns = length_ns;
        return meter_add_value(meter, reading->raw, when.end_ns, shown, energy_j);
    }
    if (shown) {
        meter->rate.blur_ns = length_ns;
    }
    return add_counted(meter, meter_count(meter, reading->raw, when), when.end_ns, shown, energy_j);
}

enum apapi_meter_step apapi_meter_add(struct apapi_meter *meter,
                                      const struct apapi_reading *reading, struct apapi_moment when,
                                      double *energy_j)
{
    double unshown_j;

    if (!energy_j) {
        meter->dense_ns = when.begin_ns;
        return meter_take(meter, reading, when, false, &unshown_j);
    }
    *energy_j = 0;
    meter->value = NAN;
    return meter_take(meter, reading, when, true, energy_j);
}

void apapi_meter_probe(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when, bool second)
{
    double value = counter_value(meter, reading->raw);
    uint64_t length_ns = when.end_ns - meter->probe.first_when.begin_ns;
    double most = most_in(&meter->counter, length_ns);

    if (meter->event->kind != APAPI_KIND_ENERGY || !meter->event->accumulates || reading->error) {
        meter->probe.open = false;
    } else if (second) {
        apapi_probe_close(&meter->probe, value, when, most);
    } else {
        apapi_probe_open(&meter->probe, value, when);
    }
}

#define CHECK_MOST_NS UINT64_C(1000000) /* a check is at most so late [ns] */

/* A check rarely finds a counter with long periods moving. Its longest standstill is no period. */
uint64_t apapi_meter_check_ns(const struct apapi_meter *meter)
{
    uint64_t update_ns =
        apapi_meter_shows_update(meter) ? meter->counter.update.period_ns : CHECK_MOST_NS;

    if (!meter->event->accumulates || !apapi_counter_never_rests(meter->event) ||
        update_ns > 2 * CHECK_MOST_NS) {
        return 0;
    }
    return update_ns < CHECK_MOST_NS ? update_ns : CHECK_MOST_NS;
}

struct apapi_last apapi_meter_last(const struct apapi_meter *meter)
{
    const struct apapi_counter *counter = &meter->counter;
    const struct apapi_counter_point *last = &counter->last;

    return (struct apapi_last){apapi_counter_value(counter, last->raw),
                               (double)last->increment * counter->unit,
                               last->begin_ns,
                               last->at_ns,
                               last->moved_ns,
                               last->ran_ns,
                               last->valid && !counter->doubted.valid};
}

bool apapi_meter_check(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when)
{
    const struct apapi_last last = apapi_meter_last(meter);
    double moved = counter_value(meter, reading->raw) - last.raw;
    double most = most_in(&meter->counter, when.end_ns - last.begin_ns);

    if (reading->error || !last.good || apapi_meter_check_ns(meter) == 0) {
        return false;
    }
    if (moved > 0 && moved <= most) {
        meter->life = APAPI_LIFE_SEEN;
    } else if (moved == 0 && apapi_meter_shows_update(meter) &&
               when.begin_ns - last.moved_ns >= apapi_meter_longest_update_ns(meter)) {
        meter->life = meter->life == APAPI_LIFE_DOUBTED ? APAPI_LIFE_ENDED : APAPI_LIFE_DOUBTED;
        meter->counter.stopped = meter->life == APAPI_LIFE_ENDED;
    }
    return meter->life == APAPI_LIFE_DOUBTED;
}

/* An energy counter that never moved has measured nothing, however short the time was. */
static double count_total(const struct apapi_meter *meter)
{
    const struct apapi_counter *counter = &meter->counter;
    bool still = apapi_counter_never_rests(meter->event) && counter->total == 0;

    return counter->covered_ns == 0 || still
               ? NAN
               : (double)counter->total * counter->unit * meter->event->scale;
}

/* Cores and graphics may use so little that a gauge shows 0 W; a part of no domain may be off. */
bool apapi_gauge_is_dead(const struct apapi_meter *meter)
{
    enum apapi_domain domain = meter->event->domain;

    return meter->event->kind == APAPI_KIND_POWER && meter->gauge.max <= 0 &&
           domain != APAPI_DOMAIN_NONE && domain != APAPI_DOMAIN_CORE &&
           domain != APAPI_DOMAIN_UNCORE;
}

double apapi_meter_total(const struct apapi_meter *meter)
{
    const struct apapi_gauge *gauge = &meter->gauge;

    if (meter->event->accumulates) {
        return count_total(meter);
    }
    return meter->event->kind == APAPI_KIND_POWER && gauge->covered_ns &&
                   !apapi_gauge_is_dead(meter)
               ? gauge->integral
               : NAN;
}

double apapi_meter_rate(const struct apapi_meter *meter)
{
    if (meter->event->accumulates) {
        return meter->rate.last;
    }
    return isnan(meter->gauge.min) ? NAN : meter->gauge.last;
}
