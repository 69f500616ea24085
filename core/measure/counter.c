/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/counter.h"

#include <math.h>
#include <string.h>

#define GUARD_READINGS 4.0          /* per shortest possible wrap */
#define UPDATE_UNKNOWN_NS 1000000.0 /* RAPL's counters move once a millisecond */

void apapi_counter_init(struct apapi_counter *counter, const struct apapi_event *event,
                        double max_w)
{
    double update_ns = event->update_ns ? (double)event->update_ns : UPDATE_UNKNOWN_NS;

    memset(counter, 0, sizeof *counter);
    counter->range_max = event->range_max;
    counter->max_per_ns = max_w / event->scale / 1e9;
    counter->slack = counter->max_per_ns * update_ns;
}

void apapi_counter_restart(struct apapi_counter *counter)
{
    counter->total = 0;
    counter->covered_ns = 0;
    memset(&counter->incidents, 0, sizeof counter->incidents);
    counter->last.valid = false;
    counter->doubted.valid = false;
}

static double plausible(const struct apapi_counter *counter, uint64_t dt_ns)
{
    if (isinf(counter->max_per_ns)) {
        return INFINITY;
    }
    return counter->max_per_ns * (double)dt_ns + counter->slack;
}

/* The increment from `from` to `raw`. @return whether it can be true. */
static bool increment_since(const struct apapi_counter *counter,
                            const struct apapi_counter_point *from,
                            const struct apapi_counter_point *now,
                            struct apapi_increment *increment)
{
    bool wrapped = now->raw < from->raw;

    if (!from->valid || (counter->range_max && now->raw > counter->range_max) ||
        (wrapped && counter->range_max == 0)) {
        return false;
    }
    increment->since_ns = now->at_ns - from->at_ns;
    increment->wrapped = wrapped;
    increment->raw = wrapped ? counter->range_max - from->raw + 1 + now->raw : now->raw - from->raw;
    return (double)increment->raw <= plausible(counter, increment->since_ns);
}

static bool whole_wraps_may_hide(const struct apapi_counter *counter, uint64_t dt_ns)
{
    return counter->range_max && !isinf(counter->max_per_ns) &&
           plausible(counter, dt_ns) > (double)counter->range_max;
}

static void count(struct apapi_counter *counter, const struct apapi_increment *increment)
{
    counter->total += increment->raw;
    counter->covered_ns += increment->since_ns;
    counter->incidents.samples++;
    counter->incidents.wraps += increment->wrapped;
    counter->incidents.gaps += whole_wraps_may_hide(counter, increment->since_ns);
}

enum apapi_count apapi_counter_add(struct apapi_counter *counter, uint64_t raw, uint64_t now_ns,
                                   struct apapi_increment *increment)
{
    const struct apapi_counter_point now = {true, raw, now_ns};
    enum apapi_count meaning = APAPI_COUNT_ADDED;

    if (!counter->last.valid) {
        counter->last = now;
        return APAPI_COUNT_BASELINE;
    }
    if (increment_since(counter, &counter->last, &now, increment)) {
        counter->incidents.refused += counter->doubted.valid;
    } else if (increment_since(counter, &counter->doubted, &now, increment)) {
        counter->incidents.resets++;
        meaning = APAPI_COUNT_RESET;
    } else {
        counter->incidents.refused += counter->doubted.valid;
        counter->doubted = now;
        return APAPI_COUNT_DOUBTED;
    }
    counter->doubted.valid = false;
    count(counter, increment);
    counter->last = now;
    return meaning;
}

void apapi_counter_failed(struct apapi_counter *counter)
{
    counter->incidents.failed++;
}

void apapi_counter_finish(struct apapi_counter *counter)
{
    counter->incidents.refused += counter->doubted.valid;
    counter->doubted.valid = false;
}

uint64_t apapi_counter_guard_ns(const struct apapi_event *event, double max_w)
{
    double guard_ns = event->guard_j > 0 ? event->guard_j / max_w / GUARD_READINGS * 1e9 : INFINITY;

    return guard_ns < 9e18 ? (uint64_t)guard_ns : UINT64_MAX;
}
