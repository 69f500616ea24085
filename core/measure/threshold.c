/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/threshold.h"

#include <math.h>

#define NEARLY_WHOLE 1e-12L /* scales such as 1e-6 are no doubles: so far a quotient may be off */
#define ROUNDING 1e-15L     /* of a total in joules and of a level, relative */
#define ROUNDING_MAX 1e-9L  /* of levels: totals of 64 bits are whole numbers, and exact */

long double apapi_threshold_units(double threshold, double scale)
{
    long double units = (long double)threshold / scale;
    long double whole = roundl(units);

    return fabsl(units - whole) <= NEARLY_WHOLE * whole ? whole : units;
}

void apapi_threshold_restart(struct apapi_threshold *threshold)
{
    threshold->known = threshold->beyond = threshold->done = false;
    threshold->base = threshold->told = 0;
    threshold->earliest_ns = 0;
}

/* When the value was `at`, on the line to the new one. */
static uint64_t threshold_time_ns(const struct apapi_threshold *threshold, uint64_t from_ns,
                                  uint64_t now_ns, long double share)
{
    uint64_t begin_ns = from_ns && from_ns < now_ns ? from_ns : threshold->last_ns;
    /* the first power of another component may be of an earlier time than the latest one */
    uint64_t length_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
    uint64_t time_ns = begin_ns + (uint64_t)((long double)length_ns * share);

    time_ns = time_ns > now_ns ? now_ns : time_ns;
    return time_ns > threshold->earliest_ns ? time_ns : threshold->earliest_ns;
}

static uint64_t threshold_reached_ns(const struct apapi_threshold *threshold, uint64_t from_ns,
                                     uint64_t now_ns, long double at, long double value)
{
    if (!threshold->known || value == threshold->last || at <= threshold->last) {
        return now_ns;
    }
    return threshold_time_ns(threshold, from_ns, now_ns,
                             (at - threshold->last) / (value - threshold->last));
}

/* @return how many levels a total has reached, where rounding alone does not make it one less. */
static long double threshold_levels(const struct apapi_threshold *threshold, long double total)
{
    long double levels = total / threshold->level;
    long double rounding = fminl(ROUNDING * levels, ROUNDING_MAX);
    long double whole = floorl(levels + rounding);

    return whole * threshold->level > total + rounding * threshold->level ? whole - 1 : whole;
}

static bool threshold_count_every(struct apapi_threshold *threshold, uint64_t from_ns,
                                  uint64_t now_ns, long double total,
                                  struct apapi_threshold_crossing *crossing)
{
    long double first = threshold->base + (threshold->told + 1) * threshold->level;
    long double passed = threshold_levels(threshold, total - threshold->base), latest;

    if (passed <= threshold->told) {
        return false;
    }
    latest = threshold->base + passed * threshold->level;
    crossing->count = (uint64_t)(passed - threshold->told);
    crossing->first_ns = threshold_reached_ns(threshold, from_ns, now_ns, first, total);
    crossing->time_ns = threshold_reached_ns(threshold, from_ns, now_ns, latest, total);
    crossing->value = (double)latest;
    threshold->told = passed;
    return true;
}

static bool threshold_count_total(struct apapi_threshold *threshold, uint64_t from_ns,
                                  uint64_t now_ns, long double total,
                                  struct apapi_threshold_crossing *crossing)
{
    if (threshold->told > 0 || total < threshold->level - ROUNDING * fabsl(threshold->level)) {
        return false;
    }
    crossing->count = 1;
    crossing->time_ns = crossing->first_ns =
        threshold_reached_ns(threshold, from_ns, now_ns, threshold->level, total);
    crossing->value =
        (double)(threshold->known && threshold->last < threshold->level ? threshold->level : total);
    threshold->told = 1;
    return true;
}

bool apapi_threshold_count(struct apapi_threshold *threshold, uint64_t from_ns, uint64_t now_ns,
                           long double total, struct apapi_threshold_crossing *crossing)
{
    bool every = threshold->mode == APAPI_OVERFLOW_EVERY;
    bool crossed;

    if (!threshold->known) {
        threshold->base = total;
        threshold->earliest_ns = now_ns;
    }
    crossed = every ? threshold_count_every(threshold, from_ns, now_ns, total, crossing)
                    : threshold_count_total(threshold, from_ns, now_ns, total, crossing);
    if (crossed) {
        threshold->earliest_ns = crossing->time_ns;
    }
    threshold->known = true;
    threshold->last = total;
    threshold->last_ns = now_ns;
    return crossed;
}

/* How far the value is above the level, or below it. */
static long double threshold_excess(const struct apapi_threshold *threshold, long double value)
{
    return threshold->mode == APAPI_OVERFLOW_ABOVE ? value - threshold->level
                                                   : threshold->level - value;
}

/* Since when the value is beyond the level: on the line from the latest one, if that was not. */
static uint64_t threshold_since_ns(const struct apapi_threshold *threshold, uint64_t now_ns,
                                   long double excess)
{
    long double before = threshold->known ? threshold_excess(threshold, threshold->last) : excess;

    return before > 0 || before == excess
               ? now_ns
               : threshold_time_ns(threshold, 0, now_ns, before / (before - excess));
}

/* On the line from the latest value to this one. */
static double threshold_value_at(const struct apapi_threshold *threshold, uint64_t at_ns,
                                 uint64_t now_ns, long double value)
{
    if (!threshold->known || at_ns >= now_ns || at_ns <= threshold->last_ns) {
        return (double)(threshold->known && at_ns == threshold->last_ns ? threshold->last : value);
    }
    return (double)(threshold->last + (value - threshold->last) *
                                          (long double)(at_ns - threshold->last_ns) /
                                          (long double)(now_ns - threshold->last_ns));
}

static bool threshold_is_held(struct apapi_threshold *threshold, uint64_t now_ns, double value,
                              struct apapi_threshold_crossing *crossing)
{
    uint64_t held_ns = threshold->beyond_ns + threshold->hold_ns;

    if (!threshold->beyond || threshold->done || now_ns < held_ns) {
        return false;
    }
    crossing->count = 1;
    crossing->time_ns = crossing->first_ns = held_ns;
    crossing->value = threshold_value_at(threshold, held_ns, now_ns, value);
    threshold->earliest_ns = held_ns;
    threshold->done = true;
    return true;
}

/* When the value went back over the level less hysteresis: what was held until then, was held. */
static bool threshold_is_over(struct apapi_threshold *threshold, uint64_t now_ns, double value,
                              struct apapi_threshold_crossing *crossing)
{
    long double before = threshold_excess(threshold, threshold->last) + threshold->hysteresis;
    long double now = threshold_excess(threshold, value) + threshold->hysteresis;
    bool crossed = false;

    if (now >= 0) {
        return false;
    }
    if (threshold->known && threshold->beyond && !threshold->done && before > now) {
        uint64_t left_ns = threshold_time_ns(threshold, 0, now_ns, before / (before - now));

        if (left_ns >= threshold->beyond_ns + threshold->hold_ns) {
            crossed = threshold_is_held(threshold, now_ns, value, crossing);
        }
    }
    threshold->beyond = threshold->done = false;
    return crossed;
}

bool apapi_threshold_level(struct apapi_threshold *threshold, uint64_t now_ns, double value,
                           struct apapi_threshold_crossing *crossing)
{
    long double excess = threshold_excess(threshold, value);
    bool crossed = false;

    if (!threshold->beyond && excess > 0) {
        threshold->beyond = true;
        threshold->beyond_ns = threshold_since_ns(threshold, now_ns, excess);
    }
    crossed = threshold_is_over(threshold, now_ns, value, crossing) ||
              threshold_is_held(threshold, now_ns, value, crossing);
    threshold->known = true;
    threshold->last = value;
    threshold->last_ns = now_ns;
    return crossed;
}

void apapi_threshold_break(struct apapi_threshold *threshold)
{
    threshold->known = false;
    threshold->beyond &= threshold->done;
}
