/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/lane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "session/sampling.h"
#include "sources/sources.h"
#include "sources/turn.h"

void lane_init(struct lane *lane, struct sampling *sampling, struct component *component)
{
    pthread_condattr_t monotonic;

    memset(lane, 0, sizeof *lane);
    lane->sampling = sampling;
    lane->component = component;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&lane->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void lane_clear(struct lane *lane)
{
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->lock);
}

/* @return whether something may have changed before the deadline; UINT64_MAX: there is none. */
static bool wait_until(struct lane *lane, uint64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                      .tv_nsec = (long)(deadline_ns % NS_PER_S)};

    if (deadline_ns == UINT64_MAX) {
        return pthread_cond_wait(&lane->changed, &lane->lock) == 0;
    }
    return pthread_cond_timedwait(&lane->changed, &lane->lock, &deadline) == 0;
}

/* The thread. It holds the lock but for the calls into the source. */

static bool is_wanted(const struct lane *lane, unsigned run)
{
    return !lane->ending && lane->running && lane->run == run;
}

static void close_reader(struct component *component)
{
    if (component->reader) {
        source_close(component->reader);
        component->reader = NULL;
    }
}

static void open_slowly(struct lane *lane)
{
    struct component *component = lane->component;
    struct apapi_error why = {""};
    struct apapi_reader *reader;
    bool failed = false;

    pthread_mutex_unlock(&lane->lock);
    reader = apapi_route_open(component->name, component->order, &why);
    pthread_mutex_lock(&lane->lock);
    lane->to_open = false;
    if (lane->ending) {
        component->reader = reader;
        return;
    }
    component->reason = why;
    if (reader) {
        failed = component_adopt(component, reader) != 0;
    }
    if (reader && !failed) {
        sampling_join(lane->sampling, component);
    }
    pthread_cond_broadcast(&lane->changed);
    if (failed) {
        pthread_mutex_unlock(&lane->lock);
        close_reader(component);
        pthread_mutex_lock(&lane->lock);
    }
}

/* What was open may be dead for ever: a driver was loaded anew, a device plugged in again. */
static void reopen(struct lane *lane, unsigned run)
{
    struct component *component = lane->component;
    struct apapi_error why = {""};
    struct apapi_reader *reader;
    int error = 0;

    close_reader(component);
    reader = apapi_route_open(component->name, component->source, &why);
    if (!reader) {
        error = errno;
    }
    pthread_mutex_lock(&lane->lock);
    if (lane->ending) {
        error = ECANCELED;
    } else if (reader && component_rejoin(component, reader, &why)) {
        error = errno;
    }
    if (error) {
        component_lose(component, error);
    }
    if (error && is_wanted(lane, run)) {
        component->reason = why;
    }
    pthread_mutex_unlock(&lane->lock);
    if (error && reader) {
        source_close(reader);
    }
}

/* All that may take long. @return when the readings were made [ns]. */
static struct apapi_moment fetch(struct lane *lane, struct retry retry, unsigned run)
{
    struct component *component = lane->component;
    struct apapi_moment when = component_fetch(component);

    if (component_failed(component)) {
        retry_failed(&retry, component->interval_ns, when.end_ns);
        if (retry_wants_reopening(&retry)) {
            reopen(lane, run);
            when = component_fetch(component);
        }
    }
    return when;
}

static void attempt(struct lane *lane)
{
    struct component *component = lane->component;
    const struct retry retry = component->retry;
    unsigned run = lane->run;
    struct apapi_moment when;

    if (!lane->tried) {
        component->deadline_ns = clock_monotonic_ns();
    }
    pthread_mutex_unlock(&lane->lock);
    when = fetch(lane, retry, run);
    pthread_mutex_lock(&lane->lock);
    if (!is_wanted(lane, run)) {
        return;
    }
    component_account(component, when);
    component_next_deadline(component, when.end_ns);
    sampling_tell(lane->sampling, component);
    lane->running = !(lane->last && lane->tried);
    lane->tried = true;
    pthread_cond_broadcast(&lane->changed);
}

/* @return when the next reading is due [ns]; 0: now. */
static uint64_t due_ns(const struct lane *lane)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t due_ns = component_due_ns(lane->component, now_ns);

    return !lane->tried || lane->last || due_ns <= now_ns ? 0 : due_ns;
}

static void serve(struct lane *lane)
{
    while (!lane->ending) {
        bool reads = lane->running && lane->component->source;
        uint64_t until_ns = reads ? due_ns(lane) : UINT64_MAX;

        if (until_ns == 0) {
            attempt(lane);
        } else {
            wait_until(lane, until_ns);
        }
    }
}

static void end(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    if (lane->running) {
        lane->cpu_ns = clock_thread_cpu_ns() - lane->cpu_start_ns;
    }
    lane->ended = true;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
    sampling_release(lane->sampling);
}

/* The source has ended the thread in the middle of a call: what it holds cannot be given back. */
static void end_by_source(void *argument)
{
    struct lane *lane = argument;
    struct component *component = lane->component;

    pthread_mutex_lock(&lane->lock);
    snprintf(component->reason.text, sizeof component->reason.text, "%s has ended its thread",
             component->reader ? component->reader->detail : component->name);
    component->reader = NULL;
    pthread_mutex_unlock(&lane->lock);
    end(lane);
}

static void *run(void *argument)
{
    struct lane *lane = argument;

    pthread_cleanup_push(end_by_source, lane);
    pthread_mutex_lock(&lane->lock);
    if (lane->to_open) {
        open_slowly(lane);
    }
    serve(lane);
    pthread_mutex_unlock(&lane->lock);
    close_reader(lane->component);
    pthread_cleanup_pop(0);
    end(lane);
    return NULL;
}

/* Those who give the orders. */

static int start(struct lane *lane)
{
    sampling_hold(lane->sampling);
    lane->started = thread_start(&lane->thread, run, lane) == 0;
    if (!lane->started) {
        sampling_release(lane->sampling);
    }
    return lane->started ? 0 : -1;
}

static void start_or_say(struct lane *lane)
{
    lane->component->apart = true;
    if (start(lane)) {
        lane->running = false;
        apapi_fail(&lane->component->reason, EAGAIN, "a thread of its own cannot be started: %s",
                   strerror(errno));
    }
}

void lane_open(struct lane *lane)
{
    lane->to_open = true;
    start_or_say(lane);
}

/* 0 of a thread that is no more. */
static uint64_t cpu_now_ns(const struct lane *lane)
{
    clockid_t clock;

    return lane->ended || pthread_getcpuclockid(lane->thread, &clock) ? 0 : clock_ns(clock);
}

/* What has ended the thread in an earlier run is the reason in this one, too. */
static void restart(struct lane *lane)
{
    const struct apapi_error reason = lane->component->reason;

    sampling_restart(lane->sampling, lane->component);
    if (lane->ended) {
        lane->component->reason = reason;
    }
}

void lane_run(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    restart(lane);
    lane->cpu_start_ns = lane->started ? cpu_now_ns(lane) : 0;
    lane->cpu_ns = 0;
    lane->running = !lane->ended;
    lane->tried = false;
    lane->last = false;
    lane->run++;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
    if (!lane->started) {
        start_or_say(lane);
    }
}

void lane_take_over(struct lane *lane)
{
    uint64_t deadline_ns = lane->component->deadline_ns;

    lane->cpu_start_ns = 0;
    lane->running = true;
    lane->tried = true;
    lane->last = false;
    lane->component->deadline_ns = clock_monotonic_ns();
    retry_repeat(&lane->component->retry);
    lane->component->apart = start(lane) == 0;
    if (!lane->started) {
        lane->component->deadline_ns = deadline_ns;
    }
}

void lane_await_open(struct lane *lane, uint64_t deadline_ns)
{
    pthread_mutex_lock(&lane->lock);
    while (lane->to_open && !lane->ended && wait_until(lane, deadline_ns)) {
    }
    pthread_mutex_unlock(&lane->lock);
}

static bool may_answer(const struct lane *lane)
{
    return lane->running && !lane->ended && lane->component->source;
}

void lane_await_first(struct lane *lane, uint64_t deadline_ns)
{
    pthread_mutex_lock(&lane->lock);
    while (may_answer(lane) && !lane->tried && wait_until(lane, deadline_ns)) {
    }
    pthread_mutex_unlock(&lane->lock);
}

void lane_ask(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->last = true;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
}

static void say_no_answer(struct lane *lane)
{
    struct component *component = lane->component;

    if (lane->to_open) {
        apapi_fail(&component->reason, EAGAIN, "it was still being opened at the end");
    } else if (!lane->ended && component->source) {
        apapi_fail(&component->reason, ETIMEDOUT, "no answer from %s within %.1f s at the end",
                   component->detail, (double)APAPI_STOP_WAIT_NS / 1e9);
    }
}

uint64_t lane_await_last(struct lane *lane, uint64_t deadline_ns)
{
    uint64_t last_ns = 0;

    pthread_mutex_lock(&lane->lock);
    while (may_answer(lane) && wait_until(lane, deadline_ns)) {
    }
    if (lane->running) {
        lane->running = false;
        say_no_answer(lane);
    } else if (lane->last) {
        last_ns = lane->component->read_ns;
    }
    if (lane->started && !lane->ended) {
        lane->cpu_ns = cpu_now_ns(lane) - lane->cpu_start_ns;
    }
    pthread_mutex_unlock(&lane->lock);
    return last_ns;
}

uint64_t lane_cpu_ns(struct lane *lane)
{
    uint64_t cpu_ns;

    pthread_mutex_lock(&lane->lock);
    cpu_ns = lane->running && lane->started && !lane->ended ? cpu_now_ns(lane) - lane->cpu_start_ns
                                                            : lane->cpu_ns;
    pthread_mutex_unlock(&lane->lock);
    return cpu_ns;
}

void lane_halt(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->running = false;
    pthread_mutex_unlock(&lane->lock);
}

void lane_dismiss(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->ending = true;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
}

void lane_await_end(struct lane *lane, uint64_t deadline_ns)
{
    bool ended;

    if (!lane->started) {
        return;
    }
    pthread_mutex_lock(&lane->lock);
    while (!lane->ended && wait_until(lane, deadline_ns)) {
    }
    ended = lane->ended;
    pthread_mutex_unlock(&lane->lock);
    if (ended) {
        pthread_join(lane->thread, NULL);
    } else {
        pthread_detach(lane->thread);
    }
}
