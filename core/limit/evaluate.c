/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/evaluate.h"

#include <math.h>
#include <stddef.h>

#define ROUNDING 1e-15L    /* of a total in joules and of a level, relative: 1e-6 is no double */
#define ROUNDING_MAX 1e-9L /* of levels: totals of 64 bits are whole numbers, and exact */

void limit_join(struct limit_watch *watch, struct limit_state *state)
{
    state->next = watch->first;
    watch->first = state;
    watch->least = -INFINITY;
}

void limit_leave(struct limit_watch *watch, struct limit_state *state)
{
    for (struct limit_state **link = &watch->first; *link; link = &(*link)->next) {
        if (*link == state) {
            *link = state->next;
            return;
        }
    }
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

/* The latest value, and a new one. */
struct value_pair {
    bool known; /* there is a latest one */
    long double last, value;
    uint64_t last_ns, now_ns;
    uint64_t from_ns; /* a total: from when it has grown */
};

/* When the value had gone this share of the way from the latest one to the new one. */
static uint64_t time_on_line(const struct limit_state *state, const struct value_pair *pair,
                             long double share)
{
    /* the first power of another component may be of an earlier time than the latest one */
    uint64_t length_ns = pair->now_ns > pair->from_ns ? pair->now_ns - pair->from_ns : 0;
    uint64_t time_ns = pair->from_ns + (uint64_t)((long double)length_ns * share);

    time_ns = time_ns > pair->now_ns ? pair->now_ns : time_ns;
    return time_ns > state->earliest_ns ? time_ns : state->earliest_ns;
}

/* --- totals ----------------------------------------------------------------------------------- */

static uint64_t reached_ns(const struct limit_state *state, const struct value_pair *pair,
                           long double at)
{
    return !pair->known || pair->value == pair->last || at <= pair->last
               ? pair->now_ns
               : time_on_line(state, pair, (at - pair->last) / (pair->value - pair->last));
}

static void count_every(struct limit_state *state, const struct value_pair *pair)
{
    long double first = state->base + (state->told + 1) * state->level;
    long double total = pair->value - state->base, levels = total / state->level;
    long double rounding = fminl(ROUNDING * levels, ROUNDING_MAX);
    long double passed = floorl(levels + rounding); /* rounding alone makes it not one less */

    passed -= passed * state->level > total + rounding * state->level;
    if (passed <= state->told) {
        return;
    }
    state->crossing.count = (uint64_t)(passed - state->told);
    state->crossing.value = (double)(state->base + passed * state->level);
    state->crossing.first_ns = reached_ns(state, pair, first);
    state->crossing.time_ns = reached_ns(state, pair, state->base + passed * state->level);
    state->told = passed;
}

static void count_total(struct limit_state *state, const struct value_pair *pair)
{
    if (state->told > 0 || pair->value < state->level - ROUNDING * fabsl(state->level)) {
        return;
    }
    state->crossing.count = 1;
    state->crossing.time_ns = state->crossing.first_ns = reached_ns(state, pair, state->level);
    state->crossing.value =
        (double)(pair->known && pair->last < state->level ? state->level : pair->value);
    state->told = 1;
}

/* --- levels ----------------------------------------------------------------------------------- */

/* How far a value is beyond the level. */
static long double excess(const struct limit_state *state, long double value)
{
    return state->mode == APAPI_OVERFLOW_ABOVE ? value - state->level : state->level - value;
}

/* It has been beyond the level for long enough: the crossing is at the end of that time. */
static void level_is_held(struct limit_state *state, const struct value_pair *pair)
{
    uint64_t held_ns = state->beyond_ns + state->hold_ns;
    long double at = pair->value;

    if (!state->beyond || state->done || pair->now_ns < held_ns) {
        return;
    }
    if (pair->known && held_ns == pair->last_ns) {
        at = pair->last;
    } else if (pair->known && held_ns > pair->last_ns && held_ns < pair->now_ns) {
        at = pair->last + (pair->value - pair->last) * (long double)(held_ns - pair->last_ns) /
                              (long double)(pair->now_ns - pair->last_ns);
    }
    state->crossing.count = 1;
    state->crossing.time_ns = state->crossing.first_ns = held_ns;
    state->crossing.value = (double)at;
    state->done = true;
}

static void pass_level(struct limit_state *state, const struct value_pair *pair)
{
    long double now = excess(state, pair->value), before;

    if (!state->beyond && now <= 0) {
        return;
    }
    before = pair->known ? excess(state, pair->last) : now;
    if (!state->beyond) {
        state->beyond = true;
        state->beyond_ns = before > 0 || before == now
                               ? pair->now_ns
                               : time_on_line(state, pair, before / (before - now));
    }
    now += state->hysteresis;
    before = excess(state, pair->last) + state->hysteresis;
    if (now < 0) { /* it is back: what was held until then, was held */
        if (pair->known && state->beyond && !state->done && before > now &&
            time_on_line(state, pair, before / (before - now)) >=
                state->beyond_ns + state->hold_ns) {
            level_is_held(state, pair);
        }
        state->beyond = state->done = false;
    }
    level_is_held(state, pair);
}

/* Rounding is on the safe side. */
static long double least_of(const struct limit_state *state)
{
    switch (state->mode) {
    case APAPI_OVERFLOW_EVERY:
        return state->base + (state->told + 1 - ROUNDING_MAX) * state->level;
    case APAPI_OVERFLOW_TOTAL:
        return state->told > 0 ? INFINITY : state->level - ROUNDING * fabsl(state->level);
    case APAPI_OVERFLOW_ABOVE:
        return state->beyond ? -INFINITY : state->level;
    default:
        return -INFINITY;
    }
}

/* @return the least value that may cross it next. */
static long double pass_one(struct limit_state *state, const struct value_pair *pair)
{
    state->crossing.count = 0;
    if (!pair->known && limit_counts(state->mode)) {
        state->base = pair->value;
        state->earliest_ns = pair->now_ns;
    }
    switch (state->mode) {
    case APAPI_OVERFLOW_EVERY:
        count_every(state, pair);
        break;
    case APAPI_OVERFLOW_TOTAL:
        count_total(state, pair);
        break;
    default:
        pass_level(state, pair);
    }
    if (state->crossing.count > 0) {
        state->earliest_ns = state->crossing.time_ns;
    }
    return least_of(state);
}

bool limit_pass(struct limit_watch *watch, const struct limit_value *value)
{
    struct value_pair pair = {.known = watch->known && !value->broken,
                              .last = watch->last,
                              .last_ns = watch->last_ns,
                              .value = value->value,
                              .now_ns = value->time_ns,
                              .from_ns = watch->last_ns};
    bool crossed = false;

    if (value->broken) {
        limit_break(watch);
    }
    if (value->from_ns && value->from_ns < value->time_ns) {
        pair.from_ns = value->from_ns;
    }
    watch->least = INFINITY;
    for (struct limit_state *state = watch->first; state; state = state->next) {
        watch->least = fminl(watch->least, pass_one(state, &pair));
        crossed |= state->crossing.count > 0;
    }
    watch->known = true;
    watch->last = value->value;
    watch->last_ns = value->time_ns;
    return crossed;
}
