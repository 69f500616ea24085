/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/crossings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/overflow.h"
#include "history/play.h"
#include "session/overflow.h"
#include "session/session.h"

#define ROUNDING 1e-9L /* relative rounding of a sum of doubles */

uint64_t crossings_told, crossings_counted, crossings_levels_judged;

/* --- choosing --------------------------------------------------------------------------------- */

static void crossings_choose_what(struct crossings_threshold *threshold,
                                  const struct history *history, struct random *random)
{
    size_t component = random_below(random, history->component_count);
    size_t event = random_below(random, history->components[component].event_count);
    const struct history_meter *meter = &history->components[component].meters[event];

    threshold->of = (enum crossings_of)random_below(random, 3);
    threshold->scale = 1;
    switch (threshold->of) {
    case CROSSINGS_EVENT:
        threshold->component = component;
        threshold->number = event;
        threshold->gauge = meter->gauge;
        threshold->scale = meter->gauge ? 1 : meter->scale;
        snprintf(threshold->event, sizeof threshold->event, "c%zu:::E%zu", component, event);
        break;
    case CROSSINGS_DOMAIN:
        threshold->number = meter->domain;
        strcpy(threshold->event, apapi_domain_name(meter->domain));
        break;
    case CROSSINGS_NODE:
        strcpy(threshold->event, "total");
        break;
    }
}

/* Choose an amount that is used in about one to a hundred intervals, or a power that is likely. */
static void crossings_choose_level(struct crossings_threshold *threshold,
                                   const struct history *history, struct random *random)
{
    double interval_s = (double)history->components[threshold->component].interval_ns / 1e9;

    threshold->mode = (unsigned)random_below(random, 4);
    if (threshold->mode == APAPI_OVERFLOW_EVERY || threshold->mode == APAPI_OVERFLOW_TOTAL) {
        threshold->level = interval_s * 1e-3 * (double)random_scale(random, 1e3, 1e7);
        threshold->level += 2e-3; /* coarser than any counter */
    } else {
        threshold->level = random_between(random, 1, 400);
        threshold->level += 3e-3 / interval_s;
        threshold->hysteresis =
            random_once_in(random, 2) ? threshold->level * random_share(random) * 0.9 : 0;
        threshold->hold_ns =
            random_once_in(random, 2) ? random_scale(random, 1e6, 20 * interval_s * 1e9 + 2e6) : 0;
    }
}

void crossings_generate(struct crossings *crossings, struct play *play)
{
    const struct history *history = &play->history;

    memset(crossings->thresholds, 0, sizeof crossings->thresholds);
    crossings->play = play;
    crossings->random.state = history->seed * UINT64_C(0xd1342543de82ef95) + 3;
    crossings->count = random_below(&crossings->random, CROSSINGS_MAX + 1);
    crossings->tell_once_in =
        random_once_in(&crossings->random, 3) ? random_below(&crossings->random, 50) : 1;
    for (size_t i = 0; i < crossings->count; i++) {
        struct crossings_threshold *threshold = &crossings->thresholds[i];

        threshold->id = -1;
        crossings_choose_what(threshold, history, &crossings->random);
        crossings_choose_level(threshold, history, &crossings->random);
    }
}

/* --- what is told ----------------------------------------------------------------------------- */

static bool crossings_counts(const struct crossings_threshold *threshold)
{
    return threshold->mode == APAPI_OVERFLOW_EVERY || threshold->mode == APAPI_OVERFLOW_TOTAL;
}

static void crossings_fail(const struct crossings *crossings,
                           const struct crossings_threshold *threshold, const char *what, double is,
                           double shall)
{
    static const char *const modes[] = {"every", "total", "above", "below"};

    play_fail(crossings->play,
              "threshold %s %s %.12g (hysteresis %g, hold %g s): %s: %.15g, not %.15g",
              threshold->event, modes[threshold->mode], threshold->level, threshold->hysteresis,
              (double)threshold->hold_ns / 1e9, what, is, shall);
}

/* Check that the time is between the reading that shows it and the last one with another total. */
static void crossings_check_time(const struct crossings *crossings,
                                 const struct crossings_threshold *threshold,
                                 const struct apapi_overflow_crossing *crossing)
{
    const struct crossings_course *course =
        &crossings->courses[threshold->component][threshold->number];
    long double value = crossing->value / (long double)threshold->scale;
    uint64_t before_ns = 0;
    long double before = -1;

    for (size_t i = 0; i < course->count; i++) {
        const struct crossings_point *point = &course->points[i];

        if (point->failed) {
            continue;
        }
        if (point->total >= value * (1 - ROUNDING)) {
            if (crossing->time_ns < before_ns || crossing->time_ns > point->most_ns) {
                crossings_fail(crossings, threshold, "time of crossing",
                               (double)crossing->time_ns / 1e9, (double)point->most_ns / 1e9);
            }
            return;
        }
        if (point->total > before) {
            before = point->total;
            before_ns = point->least_ns;
        }
    }
    if (!course->overrun) {
        crossings_fail(crossings, threshold, "nothing has reached", crossing->value,
                       (double)before * threshold->scale);
    }
}

static void crossings_check_level(const struct crossings *crossings,
                                  const struct crossings_threshold *threshold,
                                  const struct apapi_overflow_crossing *crossing)
{
    double excess = crossing->seen_value - threshold->level;

    excess = threshold->mode == APAPI_OVERFLOW_ABOVE ? excess : -excess;
    if (excess <= 0 && threshold->hold_ns == 0) {
        crossings_fail(crossings, threshold, "the reading does not show it", crossing->seen_value,
                       threshold->level);
    }
}

static void crossings_tell(const struct apapi_overflow_crossing *crossing, void *user)
{
    struct crossings *crossings = user;
    struct crossings_threshold *threshold = NULL;

    for (size_t i = 0; i < crossings->count; i++) {
        if (crossings->thresholds[i].id == crossing->overflow) {
            threshold = &crossings->thresholds[i];
        }
    }
    if (!threshold || strcmp(threshold->event, crossing->event) != 0 || crossing->count == 0 ||
        !(crossing->vector >> crossing->overflow & 1)) {
        play_fail(crossings->play, "a crossing of nothing: %s", crossing->event);
        return;
    }
    crossings_told++;
    crossings_counted += crossing->count;
    threshold->count += crossing->count;
    if (crossing->first_ns < threshold->latest_ns || crossing->time_ns < crossing->first_ns ||
        crossing->time_ns > crossing->seen_ns) {
        crossings_fail(crossings, threshold, "crossings are not in order",
                       (double)crossing->first_ns / 1e9, (double)threshold->latest_ns / 1e9);
    }
    threshold->latest_ns = crossing->time_ns;
    if (threshold->changed) {
        return; /* it may be a crossing of the threshold before the change */
    }
    if (!crossings_counts(threshold)) {
        crossings_check_level(crossings, threshold, crossing);
    } else if (threshold->of == CROSSINGS_EVENT && !threshold->gauge) {
        crossings_check_time(crossings, threshold, crossing);
    }
}

/* --- setting ---------------------------------------------------------------------------------- */

static void crossings_set_one(struct crossings *crossings, struct crossings_threshold *threshold)
{
    const struct apapi_overflow what = {.event = threshold->event,
                                        .threshold = threshold->level,
                                        .mode = threshold->mode,
                                        .handler = crossings_tell,
                                        .user = crossings,
                                        .hold_ns = threshold->hold_ns,
                                        .hysteresis = threshold->hysteresis};
    struct apapi_error err = {""};

    threshold->id = apapi_overflow_add(crossings->play->session, &what, &err);
    threshold->changed = true;
    if (threshold->id < 0 && errno != EAGAIN && errno != ENOENT) {
        play_fail(crossings->play, "threshold %s: %s", threshold->event, err.text);
    }
}

void crossings_set(struct crossings *crossings)
{
    for (size_t i = 0; i < crossings->count; i++) {
        if (crossings->thresholds[i].id < 0) {
            crossings_set_one(crossings, &crossings->thresholds[i]);
        }
    }
}

void crossings_disturb(struct crossings *crossings)
{
    struct apapi_session *session = crossings->play->session;
    size_t which = random_below(&crossings->random, CROSSINGS_MAX);
    struct crossings_threshold *threshold = &crossings->thresholds[which];
    bool leaves = random_once_in(&crossings->random, 2);

    crossings_set(crossings);
    if (which >= crossings->count || threshold->id < 0) {
        return;
    }
    threshold->changed = true;
    threshold->level *= 1.5;
    if (leaves ? apapi_overflow_remove(session, threshold->id)
               : apapi_overflow_change(session, threshold->id, threshold->level, NULL)) {
        play_fail(crossings->play, "it is not changed: %s", strerror(errno));
    }
    threshold->latest_ns = 0;
    threshold->id = leaves ? -1 : threshold->id;
}

void crossings_start(struct crossings *crossings)
{
    for (size_t i = 0; i < crossings->count; i++) {
        crossings->thresholds[i].count = 0;
        crossings->thresholds[i].latest_ns = 0;
        crossings->thresholds[i].changed = false;
    }
    for (size_t i = 0; i < HISTORY_COMPONENTS; i++) {
        for (size_t k = 0; k < HISTORY_EVENTS; k++) {
            crossings->courses[i][k].count = 0;
            crossings->courses[i][k].overrun = false;
        }
    }
    for (size_t i = 0; i < APAPI_DOMAINS; i++) {
        crossings->powers[i].count = 0;
        crossings->powers[i].overrun = false;
        crossings->windows[i] = 0;
    }
}

/* --- what was measured ------------------------------------------------------------------------ */

static void crossings_add_point(struct crossings_course *course, struct crossings_point point)
{
    if (course->count < CROSSINGS_POINTS) {
        course->points[course->count++] = point;
    } else {
        course->points[course->count - 1] = point;
        course->overrun = true;
    }
}

/* Add up the session's values of a reading. Other tests judge these values. */
static void crossings_add_value(struct crossings *crossings, size_t component, size_t event,
                                double value, struct crossings_point point)
{
    const struct history_meter *meter =
        &crossings->play->history.components[component].meters[event];
    struct crossings_course *course = &crossings->courses[component][event];
    long double units = (long double)value / meter->scale;

    if (meter->gauge) {
        point.total = value;
    } else {
        point.total = course->count ? course->points[course->count - 1].total : 0;
        if (!isnan(value)) {
            point.total += meter->doubles ? units : roundl(units);
        }
    }
    crossings_add_point(course, point);
}

/* Note the session's powers, which other tests judge; here, only the crossings are judged. */
static void crossings_add_powers(struct crossings *crossings)
{
    for (int d = APAPI_DOMAIN_NONE; d < APAPI_DOMAINS; d++) {
        const struct overflow_sum *sum =
            session_sum(crossings->play->session, (enum apapi_domain)d);
        const struct crossings_point point = {
            .at_ns = sum->end_ns - sum->length_ns / 2, .total = sum->power_w, .gap = sum->gap};

        if (sum->windows != crossings->windows[d] && sum->windows > 0) {
            crossings_add_point(&crossings->powers[d], point);
        }
        crossings->windows[d] = sum->windows;
    }
}

void crossings_sample(struct crossings *crossings, size_t component,
                      const struct apapi_sample *sample)
{
    const struct play *play = crossings->play;

    for (size_t i = 0; i < sample->event_count; i++) {
        const struct crossings_point point = {
            .at_ns = sample->time_ns,
            .least_ns = play->source.components[component].end_ns + play->source.origin_ns,
            .most_ns = play->clock.running->now_ns,
            .failed = sample->readings[i].error != 0};

        crossings_add_value(crossings, component, sim_source_number(&sample->events[i]),
                            sample->values[i], point);
    }
    crossings_add_powers(crossings);
    if (crossings->tell_once_in && random_once_in(&crossings->random, crossings->tell_once_in)) {
        session_tell(crossings->play->session);
    }
}

/* --- the levels that a course passes, counted once more, from the course as a whole ----------- */

/* How often a course passes a threshold's level. */
struct crossings_levels {
    uint64_t least, unsure; /* unsure: within the rounding of times */
};

/* An excursion beyond the level; the course is a line between each two values. */
struct crossings_excursion {
    bool known, beyond, done;
    uint64_t since_ns, last_ns;
    double last;
};

static uint64_t crossings_when_ns(const struct crossings_excursion *e, uint64_t now_ns,
                                  double before, double now)
{
    /* when another component begins to feed a domain, its first power may have an earlier time */
    if (now_ns <= e->last_ns) {
        return now_ns;
    }
    return e->last_ns + (uint64_t)((double)(now_ns - e->last_ns) * (before / (before - now)));
}

/* @return 1: the hold time has passed; 0: it has not; 2: within the rounding of times. */
static int crossings_has_held(const struct crossings_excursion *e, uint64_t until_ns,
                              uint64_t hold_ns)
{
    int64_t over_ns = (int64_t)(until_ns - e->since_ns - hold_ns);

    return over_ns > 1000 ? 1 : over_ns < -1000 ? 0 : 2;
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

static struct crossings_levels crossings_find_levels(const struct crossings_course *course,
                                                     const struct crossings_threshold *threshold)
{
    double sign = threshold->mode == APAPI_OVERFLOW_ABOVE ? 1 : -1;
    struct crossings_excursion e = {.known = false};
    struct crossings_levels levels = {0, 0};

    for (size_t i = 0; i < course->count; i++) {
        const struct crossings_point *point = &course->points[i];

        if (point->failed || point->gap || isnan((double)point->total)) {
            e.known = false;
            e.beyond &= e.done;
        }
        if (!point->failed && !isnan((double)point->total)) {
            crossings_go_on(&e, point->at_ns, sign * ((double)point->total - threshold->level),
                            threshold, &levels);
        }
    }
    return levels;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* @return the total of a counter at the end [J]; 0: there was no reading, or it is a gauge. */
static long double crossings_total(const struct crossings *crossings, size_t component,
                                   size_t event)
{
    const struct crossings_course *course = &crossings->courses[component][event];
    const struct history_meter *meter =
        &crossings->play->history.components[component].meters[event];

    return course->count && !meter->gauge ? course->points[course->count - 1].total * meter->scale
                                          : 0;
}

/* @param exact  the meters have counted total_j; else, at most that much */
static void crossings_judge_total(struct crossings *crossings,
                                  const struct crossings_threshold *threshold, long double total_j,
                                  bool exact)
{
    long double limit = threshold->mode == APAPI_OVERFLOW_TOTAL ? 1 : INFINITY;
    long double times = total_j / threshold->level;
    long double least = exact ? fminl(times * (1 - ROUNDING), limit) : 0;
    long double most = fminl(times * (1 + ROUNDING), limit);

    if ((long double)threshold->count < floorl(least) ||
        (long double)threshold->count > floorl(most)) {
        crossings_fail(crossings, threshold, "crossings", (double)threshold->count, (double)most);
    }
}

/* Judge the values of a gauge, or the powers of a domain. */
static void crossings_judge_course(struct crossings *crossings,
                                   const struct crossings_threshold *threshold,
                                   const struct crossings_course *course)
{
    struct crossings_levels levels;

    if (course->overrun) {
        return;
    }
    levels = crossings_find_levels(course, threshold);
    if (threshold->count < levels.least || threshold->count > levels.least + levels.unsure) {
        crossings_fail(crossings, threshold, "crossings of a level", (double)threshold->count,
                       (double)levels.least);
    }
    crossings_levels_judged += levels.least;
}

static bool crossings_is_part(const struct crossings_threshold *threshold,
                              const struct history_meter *meter)
{
    return threshold->of == CROSSINGS_NODE ? apapi_domain_adds_up(meter->domain)
                                           : meter->domain == threshold->number;
}

/*
 * The sum of all meters of the domains is the most. Results lack what came after the latest moment
 * at which all meters were known, so a result is compared only if there is one meter.
 */
static void crossings_judge_sum(struct crossings *crossings,
                                const struct crossings_threshold *threshold)
{
    const struct history *history = &crossings->play->history;
    long double most_j = 0;
    size_t meters = 0;

    for (size_t i = 0; i < history->component_count; i++) {
        for (size_t k = 0; k < history->components[i].event_count; k++) {
            const struct history_meter *meter = &history->components[i].meters[k];

            if (crossings_is_part(threshold, meter)) {
                if (meter->gauge) {
                    return; /* areas are judged with the uncertainty of gauges */
                }
                most_j += crossings_total(crossings, i, k);
                meters++;
            }
        }
    }
    crossings_judge_total(crossings, threshold, most_j, meters == 1);
}

static void crossings_judge_one(struct crossings *crossings,
                                const struct crossings_threshold *threshold)
{
    bool counts = crossings_counts(threshold);

    if (threshold->of == CROSSINGS_EVENT && threshold->gauge && !counts) {
        crossings_judge_course(crossings, threshold,
                               &crossings->courses[threshold->component][threshold->number]);
    } else if (threshold->of == CROSSINGS_EVENT && !threshold->gauge && counts) {
        crossings_judge_total(crossings, threshold,
                              crossings_total(crossings, threshold->component, threshold->number),
                              true);
    } else if (threshold->of != CROSSINGS_EVENT && counts) {
        crossings_judge_sum(crossings, threshold);
    } else if (threshold->of != CROSSINGS_EVENT) {
        crossings_judge_course(
            crossings, threshold,
            &crossings->powers[threshold->of == CROSSINGS_NODE ? 0 : threshold->number]);
    }
}

void crossings_judge(struct crossings *crossings)
{
    for (size_t i = 0; i < crossings->count; i++) {
        const struct crossings_threshold *threshold = &crossings->thresholds[i];

        if (threshold->id >= 0 && !threshold->changed) {
            crossings_judge_one(crossings, threshold);
        }
    }
}
