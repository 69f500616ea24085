/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/float_counter.h"

#include <math.h>

void apapi_float_counter_restart(struct apapi_float_counter *counter)
{
    *counter = (struct apapi_float_counter){.max_per_ns = counter->max_per_ns};
}

static void float_counter_believe(struct apapi_float_counter *counter, double raw,
                                  struct apapi_moment when)
{
    if (!counter->valid || raw != counter->last) {
        counter->moved_ns = when.end_ns;
    }
    counter->valid = true;
    counter->last = raw;
    counter->begin_ns = when.begin_ns;
    counter->last_ns = when.end_ns;
}

static bool is_plausible(const struct apapi_float_counter *counter, double raw, uint64_t now_ns)
{
    return isinf(counter->max_per_ns) ||
           raw - counter->last <= counter->max_per_ns * (double)(now_ns - counter->begin_ns);
}

/* After an outage: whether it is certainly the same counter. */
static bool float_counter_goes_on(const struct apapi_float_counter *counter, double raw,
                                  uint64_t now_ns)
{
    return is_plausible(counter, raw, now_ns) &&
           (raw > counter->last || isinf(counter->max_per_ns));
}

/* Nothing is counted from the last reading on. The time until its beginning is covered. */
static void float_counter_close_segment(struct apapi_float_counter *counter)
{
    uint64_t until_ns =
        counter->begin_ns > counter->segment_ns ? counter->begin_ns : counter->segment_ns;

    if (counter->valid) {
        counter->covered_ns -= counter->last_ns - until_ns;
    }
}

bool apapi_float_counter_add(struct apapi_float_counter *counter, double raw,
                             struct apapi_moment when, double *increment, uint64_t *since_ns)
{
    bool reopened = counter->reopened;
    uint64_t now_ns = when.end_ns;

    counter->reopened = false;
    if (!isfinite(raw) || (counter->valid && !reopened && !is_plausible(counter, raw, now_ns))) {
        counter->incidents.refused++;
        return false;
    }
    if (!counter->valid || raw < counter->last ||
        (reopened && !float_counter_goes_on(counter, raw, now_ns))) {
        counter->incidents.resets += counter->valid;
        float_counter_close_segment(counter);
        counter->segment_ns = now_ns;
        float_counter_believe(counter, raw, when);
        return false;
    }
    *increment = raw - counter->last;
    *since_ns = now_ns - counter->last_ns;
    counter->total += *increment;
    counter->covered_ns += *since_ns;
    counter->incidents.samples++;
    float_counter_believe(counter, raw, when);
    return true;
}

void apapi_float_counter_finish(struct apapi_float_counter *counter)
{
    float_counter_close_segment(counter);
    counter->begin_ns = counter->last_ns;
}
