/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/evaluate.h"

#include <math.h>
#include <stddef.h>

#define ROUNDING 1e-15L    /* relative, of a total [J] and of a level: no double is exactly 1e-6 */
#define ROUNDING_MAX 1e-9L /* in levels, at most: 64-bit totals are whole numbers, and exact */

void limit_join(struct limit_watch *watch, struct limit_state *state)
{
    state->next = watch->first;
    watch->first = state;
    watch->least = -INFINITY;
}

void limit_leave(struct limit_watch *watch, struct limit_state *state)
{
    struct limit_state **link = &watch->first;

    while (*link && *link != state) {
        link = &(*link)->next;
    }
    *link = *link ? state->next : NULL;
}

void limit_restart(struct limit_watch *watch)
{
    watch->known = false;
    for (struct limit_state *state = watch->first; state; state = state->next) {
        state->beyond = state->done = false;
        state->told = 0;
        state->earliest_ns = 0;
    }
}

void limit_break(struct limit_watch *watch)
{
    watch->known = false;
    for (struct limit_state *state = watch->first; state; state = state->next) {
        state->beyond &= state->done;
    }
}

/* @return when the value had gone this share of the way from the latest to the new value [ns] */
static uint64_t time_on_line(const struct limit_state *state, const struct limit_watch *watch,
                             long double share)
{
    /* the first power of another component may be of an earlier time than the latest value */
    uint64_t length_ns =
        watch->now.time_ns > watch->now.from_ns ? watch->now.time_ns - watch->now.from_ns : 0;
    uint64_t time_ns = watch->now.from_ns + (uint64_t)((long double)length_ns * share);

    time_ns = time_ns > watch->now.time_ns ? watch->now.time_ns : time_ns;
    return time_ns > state->earliest_ns ? time_ns : state->earliest_ns;
}

/* --- totals ----------------------------------------------------------------------------------- */

static uint64_t reached_ns(const struct limit_state *state, const struct limit_watch *watch,
                           long double at)
{
    return !watch->known || watch->now.value == watch->last || at <= watch->last
               ? watch->now.time_ns
               : time_on_line(state, watch, (at - watch->last) / (watch->now.value - watch->last));
}

/* As count_total() and pass_level(), @return the least value that may cross the limit next. */
static long double count_every(struct limit_state *state, const struct limit_watch *watch)
{
    long double first = state->base + (state->told + 1) * state->level;
    long double total = watch->now.value - state->base, levels = total / state->level;
    long double rounding = fminl(ROUNDING * levels, ROUNDING_MAX);
    long double passed = floorl(levels + rounding); /* rounding alone must not make it one less */

    passed -= passed * state->level > total + rounding * state->level;
    if (passed > state->told) {
        state->crossing.count = (uint64_t)(passed - state->told);
        state->crossing.value = (double)(state->base + passed * state->level);
        state->crossing.first_ns = reached_ns(state, watch, first);
        state->crossing.time_ns = reached_ns(state, watch, state->base + passed * state->level);
        state->told = passed;
    }
    return state->base + (state->told + 1 - ROUNDING_MAX) * state->level;
}

static long double count_total(struct limit_state *state, const struct limit_watch *watch)
{
    long double least = state->level - ROUNDING * fabsl(state->level);

    if (state->told == 0 && watch->now.value >= least) {
        state->crossing.count = 1;
        state->crossing.time_ns = state->crossing.first_ns = reached_ns(state, watch, state->level);
        state->crossing.value =
            (double)(watch->known && watch->last < state->level ? state->level : watch->now.value);
        state->told = 1;
    }
    return state->told > 0 ? INFINITY : least;
}

/* --- levels ----------------------------------------------------------------------------------- */

/* @return how far a value is beyond the level. */
static long double excess(const struct limit_state *state, long double value)
{
    return state->mode == APAPI_OVERFLOW_ABOVE ? value - state->level : state->level - value;
}

/* Note the crossing at the end of `hold_ns`, if the value was beyond the level for so long. */
static void level_is_held(struct limit_state *state, const struct limit_watch *watch)
{
    uint64_t held_ns = state->beyond_ns + state->hold_ns;
    long double at = watch->now.value;

    if (!state->beyond || state->done || watch->now.time_ns < held_ns) {
        return;
    }
    if (watch->known && held_ns >= watch->last_ns && held_ns < watch->now.time_ns) {
        at = watch->last + (watch->now.value - watch->last) *
                               (long double)(held_ns - watch->last_ns) /
                               (long double)(watch->now.time_ns - watch->last_ns);
    }
    state->crossing.count = 1;
    state->crossing.time_ns = state->crossing.first_ns = held_ns;
    state->crossing.value = (double)at;
    state->done = true;
}

static long double pass_level(struct limit_state *state, const struct limit_watch *watch)
{
    long double now = excess(state, watch->now.value);
    long double before = watch->known ? excess(state, watch->last) : now;

    if (!state->beyond && now > 0) {
        state->beyond = true;
        state->beyond_ns = before > 0 || before == now
                               ? watch->now.time_ns
                               : time_on_line(state, watch, before / (before - now));
    }
    now += state->hysteresis;
    before += state->hysteresis;
    if (now < 0) { /* the value is back; it may have been held long enough before */
        if (watch->known && state->beyond && !state->done && before > now &&
            time_on_line(state, watch, before / (before - now)) >=
                state->beyond_ns + state->hold_ns) {
            level_is_held(state, watch);
        }
        state->beyond = state->done = false;
    }
    level_is_held(state, watch);
    return state->beyond || state->mode == APAPI_OVERFLOW_BELOW ? -INFINITY : state->level;
}

bool limit_pass(struct limit_watch *watch, const struct limit_value *value)
{
    bool crossed = false;

    if (value->broken) {
        limit_break(watch);
    }
    watch->now = *value;
    if (value->from_ns == 0 || value->from_ns >= value->time_ns) {
        watch->now.from_ns = watch->last_ns;
    }
    watch->least = INFINITY;
    for (struct limit_state *state = watch->first; state; state = state->next) {
        state->crossing.count = 0;
        if (!watch->known || !state->begun) {
            state->begun = true;
            state->base = value->value;
        }
        if (!watch->known && limit_counts(state->mode)) {
            state->earliest_ns = value->time_ns;
        }
        watch->least =
            fminl(watch->least, state->mode == APAPI_OVERFLOW_EVERY   ? count_every(state, watch)
                                : state->mode == APAPI_OVERFLOW_TOTAL ? count_total(state, watch)
                                                                      : pass_level(state, watch));
        if (state->crossing.count > 0) {
            state->earliest_ns = state->crossing.time_ns;
            crossed = true;
        }
    }
    watch->known = true;
    watch->last = value->value;
    watch->last_ns = value->time_ns;
    return crossed;
}
