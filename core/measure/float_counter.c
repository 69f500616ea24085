/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/float_counter.h"

#include <math.h>

void apapi_float_counter_restart(struct apapi_float_counter *counter)
{
    *counter = (struct apapi_float_counter){.max_per_ns = counter->max_per_ns};
}

static struct apapi_float_point float_counter_point(double raw, struct apapi_moment when)
{
    return (struct apapi_float_point){.valid = true,
                                      .raw = raw,
                                      .begin_ns = when.begin_ns,
                                      .at_ns = when.end_ns,
                                      .moved_ns = when.end_ns,
                                      .ran_ns = when.begin_ns};
}

static bool is_plausible(const struct apapi_float_counter *counter, double increment,
                         uint64_t dt_ns)
{
    return increment >= 0 &&
           (isinf(counter->max_per_ns) || increment <= counter->max_per_ns * (double)dt_ns);
}

static bool float_counter_continues(const struct apapi_float_counter *counter,
                                    const struct apapi_float_point *from,
                                    const struct apapi_float_point *now)
{
    return from->valid && is_plausible(counter, now->raw - from->raw, now->at_ns - from->begin_ns);
}

/* After an outage: whether it is certainly the same counter. */
static bool float_counter_goes_on(const struct apapi_float_counter *counter,
                                  const struct apapi_float_point *now)
{
    return float_counter_continues(counter, &counter->last, now) &&
           (now->raw > counter->last.raw || isinf(counter->max_per_ns));
}

/*
 * Nothing is counted from the last reading on. The time until its beginning is covered, unless a
 * counter of energy has not moved in it: who knows what that shows?
 */
static void float_counter_close_segment(struct apapi_float_counter *counter, uint64_t until_ns)
{
    const struct apapi_float_point *last = &counter->last;
    bool moved = isinf(counter->max_per_ns) || last->moved_ns != counter->segment_ns;

    if (last->valid) {
        counter->covered_ns -=
            last->at_ns -
            (moved && until_ns > counter->segment_ns ? until_ns : counter->segment_ns);
    }
}

static void float_counter_begin(struct apapi_float_counter *counter,
                                const struct apapi_float_point *first, uint64_t until_ns)
{
    counter->incidents.resets += counter->last.valid;
    float_counter_close_segment(counter, until_ns);
    counter->segment_ns = first->at_ns;
    counter->last = *first;
}

static void float_counter_believe(struct apapi_float_counter *counter,
                                  const struct apapi_float_point *now, double increment,
                                  uint64_t since_ns)
{
    struct apapi_float_point *last = &counter->last;
    struct apapi_float_point before = *last;

    counter->total += increment;
    counter->covered_ns += since_ns;
    counter->incidents.samples++;
    *last = *now;
    last->ran_ns = increment > 0 ? before.begin_ns : before.ran_ns;
    last->moved_ns = increment > 0 ? now->at_ns : before.moved_ns;
    last->increment = increment > 0 ? increment : before.increment;
}

/*
 * The counter goes on from the doubted reading. If readings had found it standing still, that shows
 * what it had missed. If the latest one had found it moved, nobody knows.
 */
static enum apapi_count float_counter_explain(struct apapi_float_counter *counter)
{
    const struct apapi_float_point doubted = counter->doubted, last = counter->last;
    bool possible = is_plausible(counter, doubted.raw - last.raw, doubted.at_ns - last.ran_ns);

    counter->doubted.valid = false;
    if (possible && last.at_ns != last.moved_ns) {
        return APAPI_COUNT_ADDED;
    }
    float_counter_begin(counter, &doubted, possible ? last.ran_ns : last.begin_ns);
    return APAPI_COUNT_RESET;
}

/* A doubted reading between the last one and this one was not wrong, see counter.c. */
static void float_counter_settle_doubt(struct apapi_float_counter *counter, double raw)
{
    counter->incidents.refused += counter->doubted.valid && counter->doubted.raw > raw;
    counter->doubted.valid = false;
}

/* The doubted value once more: of a counter of energy that shows nothing until it moves. */
static bool float_counter_repeats(const struct apapi_float_counter *counter,
                                  const struct apapi_float_point *now)
{
    return counter->doubted.valid && now->raw == counter->doubted.raw &&
           !isinf(counter->max_per_ns);
}

/* @return what the reading means for the segment: it goes on, begins again, or is doubted. */
static enum apapi_count float_counter_examine(struct apapi_float_counter *counter,
                                              const struct apapi_float_point *now, bool reopened)
{
    bool goes_on = reopened ? float_counter_goes_on(counter, now)
                            : float_counter_continues(counter, &counter->last, now);

    if (goes_on) {
        float_counter_settle_doubt(counter, now->raw);
        return APAPI_COUNT_ADDED;
    }
    if (!counter->last.valid || reopened || now->raw < counter->last.raw) {
        counter->incidents.refused += counter->doubted.valid;
        counter->doubted.valid = false;
        float_counter_begin(counter, now, counter->last.begin_ns);
        return APAPI_COUNT_BASELINE;
    }
    if (float_counter_repeats(counter, now)) {
        return APAPI_COUNT_DOUBTED;
    }
    if (float_counter_continues(counter, &counter->doubted, now)) {
        return float_counter_explain(counter);
    }
    counter->incidents.refused += counter->doubted.valid;
    counter->doubted = *now;
    return APAPI_COUNT_DOUBTED;
}

enum apapi_count apapi_float_counter_add(struct apapi_float_counter *counter, double raw,
                                         struct apapi_moment when, double *increment,
                                         uint64_t *since_ns)
{
    const struct apapi_float_point now = float_counter_point(raw, when);
    bool reopened = counter->reopened;
    enum apapi_count meaning;

    if (!isfinite(raw)) {
        counter->incidents.refused++;
        return APAPI_COUNT_DOUBTED;
    }
    counter->reopened = false;
    meaning = float_counter_examine(counter, &now, reopened);
    if (meaning == APAPI_COUNT_ADDED || meaning == APAPI_COUNT_RESET) {
        *increment = raw - counter->last.raw;
        *since_ns = when.end_ns - counter->last.at_ns;
        float_counter_believe(counter, &now, *increment, *since_ns);
    }
    return meaning;
}

/* A second call changes nothing. */
void apapi_float_counter_finish(struct apapi_float_counter *counter)
{
    counter->incidents.refused += counter->doubted.valid;
    counter->doubted.valid = false;
    float_counter_close_segment(counter, counter->last.begin_ns);
    counter->last.begin_ns = counter->segment_ns = counter->last.at_ns;
}
