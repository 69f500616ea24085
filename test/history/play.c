/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/play.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "history/judge.h"
#include "session/session.h"

#define STEPS_MAX 1000000

void play_fail(struct play *play, const char *format, ...)
{
    va_list values;

    if (*play->failure) {
        return;
    }
    va_start(values, format);
    vsnprintf(play->failure, sizeof play->failure, format, values);
    va_end(values);
}

static uint64_t play_now_ns(const struct play *play)
{
    return play->clock.running->now_ns - play->source.origin_ns;
}

/* --- what the session is told ---------------------------------------------------------------- */

static void note_reading(struct play *play, size_t component, size_t event,
                         const struct apapi_reading *reading)
{
    const struct sim_component *latest = &play->source.components[component];
    const struct history *history = &play->history;
    const struct history_meter *meter = &history->components[component].meters[event];
    struct seen *seen = &play->run.seen[component][event];
    uint64_t at_ns = latest->value_ns;

    if (reading->error) {
        seen_fail(seen);
        return;
    }
    if (latest->begin_ns + play->source.origin_ns < play->page.head.start_ns) {
        play_fail(play, "a reading of c%zu counts that is not of this run", component);
    }
    if (latest->absurd[event]) {
        seen->absurd++;
        seen->absurd_first |= seen->good == 0;
        return;
    }
    seen->meter = meter;
    seen->power = &history->powers[meter->domain][meter->socket];
    seen_add(seen,
             &(struct seen_reading){
                 .begin_ns = latest->begin_ns,
                 .value_ns = at_ns,
                 .end_ns = latest->end_ns,
                 .count = meter->gauge ? 0 : sim_source_count(history, component, event, at_ns),
                 .life = meter->gauge ? 0 : sim_source_life(history, component, event, at_ns),
                 .opened = latest->opened});
}

static void note_readings(struct play *play, size_t component, size_t count,
                          const struct apapi_event *events, const struct apapi_reading *readings)
{
    if (count != play->history.components[component].event_count) {
        play_fail(play, "a reading of c%zu has %zu events", component, count);
        return;
    }
    if (!play->run.goes_on) {
        play_fail(play, "a reading of c%zu is reported while no run goes on", component);
    }
    for (size_t i = 0; i < count; i++) {
        note_reading(play, component, sim_source_number(&events[i]), &readings[i]);
    }
}

static void take_reading(const struct session_reading *reading, void *context)
{
    if (reading->dense) {
        note_readings(context, (size_t)(reading->component[1] - '0'), reading->reader->count,
                      reading->reader->events, reading->raw);
    }
}

static void take_sample(const struct apapi_sample *sample, void *context)
{
    struct play *play = context;
    size_t component = (size_t)(sample->component[1] - '0');

    note_readings(play, component, sample->event_count, sample->events, sample->readings);
    crossings_sample(&play->crossings, component, sample);
}

/* --- orders ---------------------------------------------------------------------------------- */

static void create(struct play *play)
{
    struct apapi_intervals intervals = {.default_ns = APAPI_INTERVAL_DEFAULT_NS};
    struct apapi_error err = {""};
    char components[] = "c0:c1:c2:c3";

    _Static_assert(sizeof components == 3 * HISTORY_COMPONENTS, "a name for each");
    for (size_t i = 0; i < play->history.component_count; i++) {
        memcpy(intervals.named[i].component, components + 3 * i, 2);
        intervals.named[i].interval_ns = play->history.components[i].interval_ns;
        intervals.count++;
    }
    components[3 * intervals.count - 1] = '\0';
    const struct apapi_session_config config = {.components = components,
                                                .intervals = &intervals,
                                                .min_interval_ns = play->history.min_interval_ns,
                                                .patience_ns = play->history.patience_ns,
                                                .on_sample = take_sample,
                                                .context = play,
                                                .live = &play->page};

    unsigned refusals;

    do { /* a refused thread is no lasting obstacle */
        refusals = play->clock.refusals;
        play->session = session_create(&config, &play->clock.base, &err);
    } while (!play->session && errno == EAGAIN && play->clock.refusals > refusals);
    if (!play->session) {
        play_fail(play, "no session: %s", err.text);
        return;
    }
    session_listen(play->session, take_reading, play);
    crossings_set(&play->crossings);
}

/* @return how much longer than it waits for sources a call may take: threads are late, the process
 * stands still, and the caller itself is late. */
static uint64_t excuse_ns(const struct play *play, uint64_t from_ns)
{
    uint64_t excuse_ns = 10000000 + 20 * (play->history.late_once_in ? play->history.latest_ns : 0);

    for (size_t i = 0; i < play->history.stop_count; i++) {
        if (play->history.stops[i].to_ns > from_ns) {
            excuse_ns += play->history.stops[i].to_ns - play->history.stops[i].from_ns;
        }
    }
    return excuse_ns;
}

static void check_length(struct play *play, const char *call, uint64_t from_ns, uint64_t limit_ns)
{
    uint64_t took_ns = play_now_ns(play) - from_ns;

    if (took_ns > limit_ns + excuse_ns(play, from_ns)) {
        play_fail(play, "%s took %.6f s", call, (double)took_ns / 1e9);
    }
}

static void start(struct play *play)
{
    uint64_t from_ns = play_now_ns(play);
    unsigned refusals = play->clock.refusals;
    struct apapi_error err = {""};

    memset(&play->run, 0, sizeof play->run);
    play->run.goes_on = true;
    crossings_set(&play->crossings);
    crossings_start(&play->crossings);
    if (apapi_session_start(play->session, 0, &err)) {
        play->run.goes_on = false;
        if (errno != EAGAIN || !*err.text || play->clock.refusals == refusals) {
            play_fail(play, "it does not start: %s", strerror(errno));
        }
        return;
    }
    play->run.start_ns = play->page.head.start_ns - play->source.origin_ns;
    check_length(play, "start", from_ns, APAPI_SHARED_WAIT_NS);
}

static void look(struct play *play)
{
    struct run *run = &play->run;

    if (apapi_session_snapshot(play->session, &run->snapshots[run->snapshot_count], NULL)) {
        play_fail(play, "no snapshot: %s", strerror(errno));
        return;
    }
    judge_snapshot(play, &run->snapshots[run->snapshot_count]);
    run->snapshot_count++;
    crossings_disturb(&play->crossings);
}

static void clear_run(struct play *play)
{
    for (size_t i = 0; i < play->run.snapshot_count; i++) {
        apapi_measurement_clear(&play->run.snapshots[i]);
    }
    play->run.snapshot_count = 0;
    apapi_measurement_clear(&play->run.m);
}

static void stop(struct play *play)
{
    uint64_t from_ns = play_now_ns(play);

    play->run.asked_ns = from_ns;
    if (apapi_session_stop(play->session, NULL)) {
        play_fail(play, "it does not stop: %s", strerror(errno));
    }
    play->run.goes_on = false;
    if (apapi_session_measurement(play->session, &play->run.m, NULL)) {
        play_fail(play, "no result: %s", strerror(errno));
        return;
    }
    check_length(play, "stop", from_ns, APAPI_SHARED_WAIT_NS + APAPI_STOP_WAIT_NS);
    play->run.end_ns = play->run.start_ns + play->run.m.elapsed_ns;
    judge_run(play);
    crossings_judge(&play->crossings);
    clear_run(play);
}

/* Check a session that was not started, because there was no thread. */
static void check_not_started(struct play *play)
{
    struct apapi_measurement m;

    if (apapi_session_stop(play->session, NULL) == 0 || errno != EALREADY) {
        play_fail(play, "what has not been started can be stopped");
    }
    if (apapi_session_snapshot(play->session, &m, NULL) == 0 || errno != ENODATA) {
        play_fail(play, "what has not been started has a result");
    }
}

static void act(struct play *play, const struct history_action *action)
{
    sim_clock_sleep(&play->clock, play->source.origin_ns + action->at_ns);
    if (action->order == ORDER_START) {
        start(play);
    } else if (!play->run.goes_on) {
        check_not_started(play);
    } else if (action->order == ORDER_SNAPSHOT) {
        look(play);
    } else {
        stop(play);
    }
    if (play->clock.broken) {
        play_fail(play, "%s", play->clock.broken);
    }
}

/* @return whether a thread was missing; then readers are closed by another thread. */
static bool lacked_thread(const struct play *play)
{
    bool ended = false;

    for (size_t i = 0; i < play->history.component_count; i++) {
        ended |= history_has(&play->history.components[i], FAULT_END_THREAD);
    }
    return ended || play->clock.refusals > 0;
}

/* A source that hangs for a while closes its reader later than the session ends. */
static void finish(struct play *play)
{
    apapi_session_destroy(play->session);
    play->session = NULL;
    clear_run(play);
    if (!sim_clock_finish(&play->clock)) {
        play_fail(play, "%s",
                  play->clock.broken ? play->clock.broken : "a thread does not come to its end");
        return;
    }
    sim_source_free_lost(&play->source);
    for (size_t i = 0; i < play->history.component_count; i++) {
        const struct sim_component *component = &play->source.components[i];

        if (component->opened != component->closed + component->lost) {
            play_fail(play, "c%zu was opened %d times, closed %d times, lost %d times", i,
                      component->opened, component->closed, component->lost);
        }
        if (component->by_caller > 0 && !lacked_thread(play)) {
            play_fail(play, "c%zu was read or closed by the caller, who would hang with it", i);
        }
    }
    if (play->clock.started != play->clock.left + play->clock.refusals) {
        play_fail(play, "%u threads of %u are not given back",
                  play->clock.started - play->clock.left - play->clock.refusals,
                  play->clock.started);
    }
}

bool play_history(struct play *play, uint64_t seed)
{
    memset(play, 0, offsetof(struct play, crossings));
    *play->failure = '\0';
    history_generate(&play->history, seed);
    crossings_generate(&play->crossings, play);
    sim_begin(&play->source, &play->clock, &play->history, seed);
    play->clock.steps_max = STEPS_MAX;
    create(play);
    for (size_t i = 0; play->session && i < play->history.action_count && !*play->failure; i++) {
        act(play, &play->history.actions[i]);
    }
    finish(play);
    return !*play->failure;
}
