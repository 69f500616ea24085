/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels that a course passes, counted once more, from the course as a whole. */
#include <math.h>

#include "apapi/overflow.h"
#include "history/crossings.h"

/* The excursions beyond the level, as lines between values. */
struct crossings_excursion {
    bool known, beyond, done;
    uint64_t since_ns, last_ns;
    double last;
};

static uint64_t crossings_when_ns(const struct crossings_excursion *e, uint64_t now_ns,
                                  double before, double now)
{
    /* where another component begins to feed a domain, its first power may be of an earlier time */
    if (now_ns <= e->last_ns) {
        return now_ns;
    }
    return e->last_ns + (uint64_t)((double)(now_ns - e->last_ns) * (before / (before - now)));
}

/* @return whether the hold time has passed; 2: within the rounding of a time. */
static int crossings_has_held(const struct crossings_excursion *e, uint64_t until_ns,
                              uint64_t hold_ns)
{
    int64_t over_ns = (int64_t)(until_ns - e->since_ns - hold_ns);

    return over_ns > 1000 ? 1 : over_ns < -1000 ? 0 : 2;
}

static void crossings_break(struct crossings_excursion *e)
{
    e->known = false;
    e->beyond &= e->done;
}

static void crossings_go_on(struct crossings_excursion *e, uint64_t at_ns, double excess,
                            const struct crossings_threshold *threshold,
                            struct crossings_levels *levels)
{
    double back = excess + threshold->hysteresis;

    if (!e->beyond && excess > 0) {
        e->beyond = true;
        e->done = false;
        e->since_ns = e->known ? crossings_when_ns(e, at_ns, e->last, excess) : at_ns;
    }
    if (e->beyond && !e->done) {
        uint64_t until_ns =
            back < 0 ? crossings_when_ns(e, at_ns, e->last + threshold->hysteresis, back) : at_ns;
        int held = crossings_has_held(e, until_ns, threshold->hold_ns);

        levels->least += held == 1;
        levels->unsure += held == 2;
        e->done = held > 0;
    }
    e->beyond &= back >= 0;
    e->known = true;
    e->last = excess;
    e->last_ns = at_ns;
}

struct crossings_levels crossings_find_levels(const struct crossings_course *course,
                                              const struct crossings_threshold *threshold)
{
    double sign = threshold->mode == APAPI_OVERFLOW_ABOVE ? 1 : -1;
    struct crossings_excursion e = {.known = false};
    struct crossings_levels levels = {0, 0};

    for (size_t i = 0; i < course->count; i++) {
        const struct crossings_point *point = &course->points[i];

        if (point->failed || point->gap || isnan((double)point->total)) {
            crossings_break(&e);
        }
        if (!point->failed && !isnan((double)point->total)) {
            crossings_go_on(&e, point->at_ns, sign * ((double)point->total - threshold->level),
                            threshold, &levels);
        }
    }
    return levels;
}
