/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/play.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "apapi/session.h"
#include "history/generate.h"
#include "history/judge.h"
#include "session/session_create.h"

#define BEGIN_NS UINT64_C(5000000000000) /* of a history, on the clock */
#define STEPS_MAX 100000

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

/* From where it was before a break to where it is now could be an increment, perhaps with a wrap.
 */
static bool is_disguised(const struct history_meter *meter, const struct seen *seen, uint64_t count,
                         uint64_t end_ns)
{
    double most_j = 3 * apapi_domain_max_w(meter->domain) *
                    ((double)(end_ns - seen->broken.begin_ns + meter->update_ns) / 1e9 + 1e-3);
    uint64_t range = meter->range_max + 1; /* 0: it never wraps */
    uint64_t before = seen->broken.count, now = count;

    if (meter->range_max) {
        before %= range;
        now %= range;
        now += now < before ? range : 0;
    }
    return now >= before && (double)(now - before) * meter->scale <= most_j;
}

static void note_move(struct play *play, struct seen *seen, size_t component, size_t event,
                      const struct sim_component *latest)
{
    uint64_t value_ns = latest->value_ns;
    const struct history_meter *meter = &play->history.components[component].meters[event];
    uint64_t count = sim_source_count(&play->history, component, event, value_ns);
    unsigned life = sim_source_life(&play->history, component, event, value_ns);

    if (seen->broken.open) {
        seen->disguised += is_disguised(meter, seen, count, latest->end_ns);
        seen->broken.open = false;
    }
    if (seen->good > 0 && (life != seen->life || count < seen->count)) {
        seen->breaks++;
        seen->broken.open = true;
        seen->broken.count = seen->count;
        seen->broken.begin_ns = seen->last_begin_ns;
        seen->disguised += is_disguised(meter, seen, count, latest->end_ns);
    } else if (seen->good > 0) {
        seen->moved += count - seen->count;
        seen->wraps += meter->range_max
                           ? count / (meter->range_max + 1) - seen->count / (meter->range_max + 1)
                           : 0;
    }
    seen->count = count;
    seen->life = life;
}

static void note_reading(struct play *play, size_t component, size_t event,
                         const struct apapi_reading *reading)
{
    const struct sim_component *latest = &play->source.components[component];
    struct seen *seen = &play->run.seen[component][event];

    if (reading->error) {
        seen->failed++;
        return;
    }
    if (latest->begin_ns + play->source.origin_ns < play->page.head.start_ns) {
        play_fail(play, "a reading of c%zu counts that is not of this run", component);
    }
    if (latest->absurd[event]) {
        seen->absurd++;
        return;
    }
    if (!play->history.components[component].meters[event].gauge) {
        note_move(play, seen, component, event, latest);
    }
    if (seen->good++ == 0) {
        seen->first_begin_ns = latest->begin_ns;
        seen->first_ns = latest->value_ns;
        seen->first_end_ns = latest->end_ns;
    } else if (latest->end_ns - seen->last_begin_ns > seen->widest_ns) {
        seen->widest_ns = latest->end_ns - seen->last_begin_ns;
    }
    seen->last_begin_ns = latest->begin_ns;
    seen->last_ns = latest->value_ns;
    seen->last_end_ns = latest->end_ns;
}

static void take_sample(const struct apapi_sample *sample, void *context)
{
    struct play *play = context;
    size_t component = (size_t)(sample->component[1] - '0');

    if (sample->event_count != play->history.components[component].event_count) {
        play_fail(play, "a sample of c%zu has %zu events", component, sample->event_count);
        return;
    }
    if (!play->run.goes_on) {
        play_fail(play, "a reading of c%zu is reported while no run goes on", component);
    }
    for (size_t i = 0; i < sample->event_count; i++) {
        note_reading(play, component, sim_source_number(&sample->events[i]), &sample->readings[i]);
    }
}

/* --- orders ---------------------------------------------------------------------------------- */

static void create(struct play *play)
{
    struct apapi_intervals intervals = {.default_ns = APAPI_INTERVAL_DEFAULT_NS};
    struct apapi_error err = {""};
    char components[24 * HISTORY_COMPONENTS] = "";

    for (size_t i = 0; i < play->history.component_count; i++) {
        char name[24];

        snprintf(name, sizeof name, "c%zu", i);
        snprintf(components + strlen(components), sizeof components - strlen(components), "%s%s",
                 i ? ":" : "", name);
        strcpy(intervals.named[intervals.count].component, name);
        intervals.named[intervals.count++].interval_ns = play->history.components[i].interval_ns;
    }
    const struct apapi_session_config config = {.components = components,
                                                .intervals = &intervals,
                                                .min_interval_ns = play->history.min_interval_ns,
                                                .patience_ns = play->history.patience_ns,
                                                .on_sample = take_sample,
                                                .context = play,
                                                .live = &play->page};

    play->session = session_create(&config, &play->clock.base, &err);
    if (!play->session) {
        play_fail(play, "no session: %s", err.text);
    }
}

/* How much longer than it waits for sources a call may take: threads are late, the process stands
 * still, and the caller itself is late. */
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

    memset(&play->run, 0, sizeof play->run);
    play->run.goes_on = true;
    if (apapi_session_start(play->session, 0, NULL)) {
        play_fail(play, "it does not start: %s", strerror(errno));
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
    clear_run(play);
}

static void act(struct play *play, const struct history_action *action)
{
    sim_clock_sleep(&play->clock, play->source.origin_ns + action->at_ns);
    switch (action->order) {
    case ORDER_START:
        start(play);
        break;
    case ORDER_SNAPSHOT:
        look(play);
        break;
    case ORDER_STOP:
        stop(play);
        break;
    }
    if (play->clock.broken) {
        play_fail(play, "%s", play->clock.broken);
    }
}

/* What hangs for a while closes its source later than the session ends. */
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
    }
}

bool play_history(struct play *play, uint64_t seed)
{
    memset(play, 0, sizeof *play);
    history_generate(&play->history, seed);
    sim_clock_init(&play->clock, seed, BEGIN_NS);
    play->clock.steps_max = STEPS_MAX;
    play->clock.late_once_in = play->history.late_once_in;
    play->clock.latest_ns = play->history.latest_ns;
    for (size_t i = 0; i < play->history.stop_count; i++) {
        sim_clock_stop(&play->clock, BEGIN_NS + play->history.stops[i].from_ns,
                       BEGIN_NS + play->history.stops[i].to_ns);
    }
    sim_source_use(&play->source, &play->history, &play->clock);
    create(play);
    for (size_t i = 0; play->session && i < play->history.action_count && !*play->failure; i++) {
        act(play, &play->history.actions[i]);
    }
    finish(play);
    return !*play->failure;
}
