/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread around the steps of a worker, and the orders that others give it. */
#include "session/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"

/* @return false if the deadline has passed. */
static bool worker_wait(struct worker *worker, uint64_t deadline_ns)
{
    struct session_clock *clock = worker->common->clock;

    return clock->wait(clock, &worker->changed, &worker->mutex, deadline_ns);
}

/* The thread. */

static void worker_serve(struct worker *worker)
{
    while (!worker->ended) {
        uint64_t until_ns = worker_step(worker);

        if (until_ns > 0) {
            worker_wait(worker, until_ns);
        }
    }
}

static void *worker_thread(void *argument)
{
    struct worker *worker = argument;

    pthread_cleanup_push(worker_lost, worker);
    pthread_mutex_lock(&worker->mutex);
    worker_serve(worker);
    pthread_mutex_unlock(&worker->mutex);
    pthread_cleanup_pop(0);
    common_release(worker->common);
    return NULL;
}

/* What the thread held cannot be given back. */
static void worker_lose_component(struct worker *worker)
{
    struct component *component = worker->task.component;

    worker->task.call = WORKER_NO_CALL;
    if (component) {
        snprintf(component->reason.text, sizeof component->reason.text, "%s has ended its thread",
                 component->reader ? component->reader->detail : component->name);
        component->reader = NULL;
        component->to_open = false;
        component->lost = true;
    }
}

/* The other components of the shared worker are read on in another thread. */
static bool worker_replace_thread(struct worker *worker)
{
    struct session_clock *clock = worker->common->clock;
    pthread_t thread = worker->thread;

    if (!worker->own || worker->ending) {
        return false;
    }
    worker_count_cpu(worker);
    if (worker_start_thread(worker)) {
        worker->started = true; /* the old one */
        return false;
    }
    clock->leave(clock, thread, false);
    worker_changed(worker);
    return true;
}

void worker_lost(void *argument)
{
    struct worker *worker = argument;

    pthread_mutex_lock(&worker->mutex);
    worker_lose_component(worker);
    if (!worker_replace_thread(worker)) {
        worker_end(worker);
    }
    pthread_mutex_unlock(&worker->mutex);
    common_release(worker->common);
}

/* Orders. */

void worker_init(struct worker *worker, struct session_common *common, struct component *component)
{
    worker_init_shared(worker, common, component, 1, NULL);
}

void worker_init_shared(struct worker *worker, struct session_common *common,
                        struct component *components, size_t count, struct worker *own)
{
    memset(worker, 0, sizeof *worker);
    worker->common = common;
    worker->components = components;
    worker->count = count;
    worker->own = own;
    worker->thread_main = worker_thread;
    pthread_mutex_init(&worker->mutex, NULL);
    thread_condition(&worker->changed);
}

void worker_clear(struct worker *worker)
{
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->mutex);
}

static int worker_start_or_say(struct worker *worker)
{
    if (worker->started || worker_start_thread(worker) == 0) {
        return 0;
    }
    worker->running = false;
    if (!worker->own) {
        apapi_fail(&worker->components->reason, EAGAIN, "its thread cannot be started: %s",
                   strerror(errno));
    }
    return -1;
}

void worker_open(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    worker->components->own_worker = true;
    worker->components->to_open = true;
    worker_start_or_say(worker);
    pthread_mutex_unlock(&worker->mutex);
}

/* What has ended the thread in an earlier run is the reason in this one, too. */
static void worker_restart(struct worker *worker, struct component *component)
{
    const struct apapi_error reason = component->reason;

    common_restart(worker->common, component);
    component->tried = component->finished = false;
    component->wanted = COMPONENT_UNWANTED;
    if (component->lost) {
        component->reason = reason;
    }
}

/* @return whether there is something to do for its thread. */
static bool worker_restart_all(struct worker *worker)
{
    bool any = false;

    for (size_t i = 0; i < worker->count; i++) {
        struct component *component = &worker->components[i];

        if (component->own_worker == !worker->own) {
            worker_restart(worker, component);
            any |= component->to_open || worker_reads(worker, component);
        }
    }
    return any;
}

int worker_run(struct worker *worker)
{
    int result = 0;
    bool any;

    pthread_mutex_lock(&worker->mutex);
    any = worker_restart_all(worker);
    worker->cpu_start_ns =
        worker->started && !worker->ended ? worker_thread_cpu_ns(worker, &worker->thread) : 0;
    worker->cpu_ns = 0;
    worker->running = !worker->ended;
    worker->last = false;
    worker->following.call = WORKER_NO_CALL;
    worker->next = worker->count; /* another round */
    worker->run++;
    worker_changed(worker);
    if (any) {
        result = worker_start_or_say(worker);
    }
    pthread_mutex_unlock(&worker->mutex);
    return result;
}

void worker_await_open(struct worker *worker, uint64_t deadline_ns)
{
    pthread_mutex_lock(&worker->mutex);
    while (worker->components->to_open && worker->started && !worker->ended &&
           worker_wait(worker, deadline_ns)) {
    }
    pthread_mutex_unlock(&worker->mutex);
}

static bool worker_may_answer(const struct worker *worker)
{
    return worker->started && worker->running && !worker->ended;
}

static bool worker_awaits_first(const struct worker *worker)
{
    for (size_t i = 0; worker_may_answer(worker) && i < worker->count; i++) {
        if (worker_reads(worker, &worker->components[i]) && !worker->components[i].tried) {
            return true;
        }
    }
    return false;
}

void worker_await_first(struct worker *worker, uint64_t deadline_ns)
{
    pthread_mutex_lock(&worker->mutex);
    while (worker_awaits_first(worker) && worker_wait(worker, deadline_ns)) {
    }
    pthread_mutex_unlock(&worker->mutex);
}

void worker_ask_last(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    worker->last = true;
    worker_changed(worker);
    pthread_mutex_unlock(&worker->mutex);
}

void worker_want(struct worker *worker, struct component *component, bool count)
{
    if (component->wanted != COMPONENT_COUNT) {
        component->wanted = count ? COMPONENT_COUNT : COMPONENT_LOOK;
    }
    worker_changed(worker);
}

static bool worker_awaits_last(const struct worker *worker)
{
    for (size_t i = 0; worker_may_answer(worker) && i < worker->count; i++) {
        if (worker_reads(worker, &worker->components[i]) && !worker->components[i].finished) {
            return true;
        }
    }
    return false;
}

/* Another component of the same worker may be what it waits for. */
static void worker_say_no_answer(const struct worker *worker, struct component *component,
                                 double patience_s)
{
    const struct worker_task *task = &worker->task;
    const struct component *hangs =
        task->call != WORKER_NO_CALL && task->component ? task->component : component;

    if (hangs == component) {
        apapi_fail(&component->reason, ETIMEDOUT, "no answer from %s within %.1f s at the end",
                   component->detail, patience_s);
    } else {
        apapi_fail(&component->reason, ETIMEDOUT,
                   "not read at the end: no answer from %s within %.1f s", hangs->detail,
                   patience_s);
    }
}

static void worker_give_up(struct worker *worker, double patience_s)
{
    for (size_t i = 0; i < worker->count; i++) {
        struct component *component = &worker->components[i];

        if (component->to_open) {
            apapi_fail(&component->reason, EAGAIN, "it was still being opened at the end");
        } else if (!worker->ended && worker_reads(worker, component) && !component->finished) {
            worker_say_no_answer(worker, component, patience_s);
        }
    }
}

static uint64_t worker_last_ns(const struct worker *worker)
{
    uint64_t last_ns = 0;

    for (size_t i = 0; i < worker->count; i++) {
        const struct component *component = &worker->components[i];

        if (worker_reads(worker, component) && component->finished &&
            component->read_ns > last_ns) {
            last_ns = component->read_ns;
        }
    }
    return last_ns;
}

uint64_t worker_await_last(struct worker *worker, uint64_t asked_ns, uint64_t patience_ns)
{
    uint64_t last_ns;

    pthread_mutex_lock(&worker->mutex);
    while (worker_awaits_last(worker) && worker_wait(worker, asked_ns + patience_ns)) {
    }
    if (worker->started && !worker->ended) {
        worker->cpu_ns += worker_thread_cpu_ns(worker, &worker->thread) - worker->cpu_start_ns;
    }
    if (worker->running) {
        worker->running = false;
        worker_give_up(worker, (double)patience_ns / 1e9);
    }
    last_ns = worker_last_ns(worker);
    pthread_mutex_unlock(&worker->mutex);
    return last_ns;
}

uint64_t worker_cpu_ns(struct worker *worker)
{
    uint64_t cpu_ns;

    pthread_mutex_lock(&worker->mutex);
    cpu_ns = worker->cpu_ns;
    if (worker_may_answer(worker)) {
        cpu_ns += worker_thread_cpu_ns(worker, &worker->thread) - worker->cpu_start_ns;
    }
    pthread_mutex_unlock(&worker->mutex);
    return cpu_ns;
}

void worker_dismiss(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    worker->ending = true;
    worker_changed(worker);
    pthread_mutex_unlock(&worker->mutex);
}

void worker_await_end(struct worker *worker, uint64_t deadline_ns)
{
    struct session_clock *clock = worker->common->clock;
    bool ended;

    if (!worker->started) {
        return;
    }
    pthread_mutex_lock(&worker->mutex);
    while (!worker->ended && worker_wait(worker, deadline_ns)) {
    }
    ended = worker->ended;
    pthread_mutex_unlock(&worker->mutex);
    clock->leave(clock, worker->thread, ended);
}
