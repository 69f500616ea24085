/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/evaluate.h"

#include <stdlib.h>

#include "base/array.h"

#define NEARLY_WHOLE 1e-12L /* scales such as 1e-6 are no doubles: so far a quotient may be off */
#define ROUNDING 1e-15L     /* of a total in joules and of a level, relative */
#define ROUNDING_MAX 1e-9L  /* of levels: totals of 64 bits are whole numbers, and exact */

long double limit_level(double level, double scale)
{
    long double units = (long double)level / scale;
    long double whole = roundl(units);

    return fabsl(units - whole) <= NEARLY_WHOLE * whole ? whole : units;
}

void limit_restart(struct limit_state *state)
{
    state->known = state->beyond = state->done = false;
    state->base = state->told = 0;
    state->earliest_ns = 0;
}

void limit_break(struct limit_state *state)
{
    state->known = false;
    state->beyond &= state->done;
}

/* When the value had gone this share of the way from the latest one to the new one. */
static uint64_t time_on_line(const struct limit_state *state, const struct limit_value *value,
                             long double share)
{
    uint64_t now_ns = value->time_ns;
    uint64_t begin_ns = value->from_ns && value->from_ns < now_ns ? value->from_ns : state->last_ns;
    /* the first power of another component may be of an earlier time than the latest one */
    uint64_t length_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
    uint64_t time_ns = begin_ns + (uint64_t)((long double)length_ns * share);

    time_ns = time_ns > now_ns ? now_ns : time_ns;
    return time_ns > state->earliest_ns ? time_ns : state->earliest_ns;
}

/* --- totals ----------------------------------------------------------------------------------- */

static uint64_t reached_ns(const struct limit_state *state, const struct limit_value *value,
                           long double at)
{
    return !state->known || value->value == state->last || at <= state->last
               ? value->time_ns
               : time_on_line(state, value, (at - state->last) / (value->value - state->last));
}

static bool count_every(struct limit_state *state, const struct limit_value *value,
                        struct limit_crossing *crossing)
{
    long double first = state->base + (state->told + 1) * state->level;
    long double total = value->value - state->base, levels = total / state->level;
    long double rounding = fminl(ROUNDING * levels, ROUNDING_MAX);
    long double passed = floorl(levels + rounding); /* rounding alone makes it not one less */

    passed -= passed * state->level > total + rounding * state->level;
    if (passed <= state->told) {
        return false;
    }
    crossing->count = (uint64_t)(passed - state->told);
    crossing->value = (double)(state->base + passed * state->level);
    crossing->first_ns = reached_ns(state, value, first);
    crossing->time_ns = reached_ns(state, value, state->base + passed * state->level);
    state->told = passed;
    return true;
}

static bool count_total(struct limit_state *state, const struct limit_value *value,
                        struct limit_crossing *crossing)
{
    if (state->told > 0 || value->value < state->level - ROUNDING * fabsl(state->level)) {
        return false;
    }
    crossing->count = 1;
    crossing->time_ns = crossing->first_ns = reached_ns(state, value, state->level);
    crossing->value =
        (double)(state->known && state->last < state->level ? state->level : value->value);
    state->told = 1;
    return true;
}

/* --- levels ----------------------------------------------------------------------------------- */

/* How far a value is beyond the level. */
static long double excess(const struct limit_state *state, long double value)
{
    return state->mode == APAPI_OVERFLOW_ABOVE ? value - state->level : state->level - value;
}

/* It has been beyond the level for long enough: the crossing is at the end of that time. */
static bool level_is_held(struct limit_state *state, const struct limit_value *value,
                          struct limit_crossing *crossing)
{
    uint64_t held_ns = state->beyond_ns + state->hold_ns;
    long double at = value->value;

    if (!state->beyond || state->done || value->time_ns < held_ns) {
        return false;
    }
    if (state->known && held_ns == state->last_ns) {
        at = state->last;
    } else if (state->known && held_ns > state->last_ns && held_ns < value->time_ns) {
        at = state->last + (value->value - state->last) * (long double)(held_ns - state->last_ns) /
                               (long double)(value->time_ns - state->last_ns);
    }
    crossing->count = 1;
    crossing->time_ns = crossing->first_ns = state->earliest_ns = held_ns;
    crossing->value = (double)at;
    state->done = true;
    return true;
}

static bool pass_level(struct limit_state *state, const struct limit_value *value,
                       struct limit_crossing *crossing)
{
    long double now = excess(state, value->value), before;
    bool crossed = false;

    if (!state->beyond && now <= 0) {
        return false;
    }
    before = state->known ? excess(state, state->last) : now;
    if (!state->beyond) {
        state->beyond = true;
        state->beyond_ns = before > 0 || before == now
                               ? value->time_ns
                               : time_on_line(state, value, before / (before - now));
    }
    now += state->hysteresis;
    before = excess(state, state->last) + state->hysteresis;
    if (now < 0) { /* it is back: what was held until then, was held */
        if (state->known && state->beyond && !state->done && before > now &&
            time_on_line(state, value, before / (before - now)) >=
                state->beyond_ns + state->hold_ns) {
            crossed = level_is_held(state, value, crossing);
        }
        state->beyond = state->done = false;
    }
    return crossed || level_is_held(state, value, crossing);
}

/* Rounding is on the safe side. */
static long double next_of(const struct limit_state *state)
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

bool limit_pass(struct limit_state *state, const struct limit_value *value,
                struct limit_crossing *crossing)
{
    bool crossed;

    if (value->broken) {
        limit_break(state);
    }
    if (limit_counts(state->mode) && !state->known) {
        state->base = value->value;
        state->earliest_ns = value->time_ns;
    }
    crossed = state->mode == APAPI_OVERFLOW_EVERY   ? count_every(state, value, crossing)
              : state->mode == APAPI_OVERFLOW_TOTAL ? count_total(state, value, crossing)
                                                    : pass_level(state, value, crossing);
    if (crossed && limit_counts(state->mode)) {
        state->earliest_ns = crossing->time_ns;
    }
    state->known = true;
    state->last = value->value;
    state->last_ns = value->time_ns;
    state->next = next_of(state);
    return crossed;
}

/* --- the limits of a sum ---------------------------------------------------------------------- */

static int compare_crossed(const void *left, const void *right)
{
    return COMPARE(((const struct limit_crossed *)left)->level_j,
                   ((const struct limit_crossed *)right)->level_j);
}

size_t limit_watch_look(struct limit_watch *watch, double sum_j, uint64_t now_ns,
                        struct limit_crossed crossed[LIMITS_ROOM])
{
    const struct limit_value value = {.value = sum_j, .time_ns = now_ns};
    size_t count = 0;

    for (size_t i = 0; i < watch->limits->count; i++) {
        const struct limit *limit = &watch->limits->limits[i];
        struct limit_crossed *found = &crossed[count];

        watch->states[i].mode = (enum apapi_overflow_mode)limit->condition;
        watch->states[i].level = limit->amount;
        if (limit->scope != watch->scope ||
            !limit_evaluate(&watch->states[i], &value, &found->crossing)) {
            continue;
        }
        if (limit->warning && watch->counts[i - 1] > 0) {
            continue; /* its budget is reached */
        }
        watch->counts[i] += found->crossing.count;
        found->limit = i;
        found->level_j = limit->condition == LIMIT_EVERY ? found->crossing.value : limit->amount;
        count++;
    }
    qsort(crossed, count, sizeof *crossed, compare_crossed);
    return count;
}
