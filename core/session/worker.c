/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of a worker are a state machine that starts no thread and never waits. Around it are
 * the thread, and the orders that others give it.
 */
#include "session/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "sources/sources.h"

#define AGE_SHARE 4 /* a shared reading may be older by this part of the distance between two */

static bool worker_has(const struct worker *worker, const struct component *component)
{
    return component->own_worker == !worker->own;
}

/* @return whether this worker reads the component, whose source is open or was. */
static bool worker_reads(const struct worker *worker, const struct component *component)
{
    return worker_has(worker, component) && component->source && !component->lost;
}

/* @return the next component whose source this worker has to open; NULL: none */
static struct component *worker_to_open(const struct worker *worker)
{
    for (size_t i = 0; i < worker->count; i++) {
        if (worker_has(worker, &worker->components[i]) && worker->components[i].to_open) {
            return &worker->components[i];
        }
    }
    return NULL;
}

/* Wake the threads that wait for `changed`. */
static void worker_changed(struct worker *worker)
{
    struct session_clock *clock = worker->common->clock;

    clock->wake(clock, &worker->changed);
}

/* @return whether a component of this worker lacks its first reading; `last`: its last reading, or
 * the check after it. */
static bool worker_lacks(const struct worker *worker, bool last)
{
    for (size_t i = 0; i < worker->count; i++) {
        const struct component *component = &worker->components[i];

        if (worker_reads(worker, component) &&
            (last ? !component->finished || component->check_ns : !component->tried)) {
            return true;
        }
    }
    return false;
}

/* @return CPU time of the worker's thread so far [ns]. @param thread  NULL: the calling thread */
static uint64_t worker_thread_cpu_ns(const struct worker *worker, const pthread_t *thread)
{
    struct session_clock *clock = worker->common->clock;

    return clock->cpu_ns(clock, thread);
}

/* @return 0; -1 with errno EAGAIN, and worker->started is false. */
static int worker_start_thread(struct worker *worker)
{
    struct session_clock *clock = worker->common->clock;

    common_hold(worker->common);
    worker->started = clock->start(clock, &worker->thread, worker->thread_main, worker) == 0;
    if (!worker->started) {
        common_release(worker->common);
    }
    return worker->started ? 0 : -1;
}

/* Count the CPU time of the calling thread, which will not go on. */
static void worker_count_cpu(struct worker *worker)
{
    if (worker->running) {
        worker->cpu_ns += worker_thread_cpu_ns(worker, NULL) - worker->cpu_start_ns;
        worker->cpu_start_ns = 0;
    }
}

/* End the worker: its thread has nothing more to do. */
static void worker_end(struct worker *worker)
{
    worker_count_cpu(worker);
    worker->ended = true;
    worker_changed(worker);
}

/* Take over a component of the shared worker, whose mutex is held, unless no thread can start. */
static void worker_take_over(struct worker *own)
{
    struct component *component = own->components;

    pthread_mutex_lock(&own->mutex);
    own->cpu_start_ns = own->cpu_ns = 0;
    own->running = true;
    own->last = false;
    component->own_worker = worker_start_thread(own) == 0;
    if (component->own_worker) {
        component->deadline_ns = session_clock_now_ns(own->common->clock);
        retry_repeat(&component->retry);
    } else {
        own->running = false;
    }
    pthread_mutex_unlock(&own->mutex);
}

/* The calls into a source. */

static void worker_reopen(struct worker_task *task)
{
    struct component *component = task->component;

    component->goes_on = component_is_relayed(component);
    if (component->reader) {
        source_close(component->reader);
        component->reader = NULL;
    }
    task->reader = apapi_catalog_open(component->name, component->source, &task->why);
    task->error = task->reader ? 0 : errno;
}

/* Allow a shared reading to be older, unless it begins or ends a time: that one must be new. */
static void worker_allow_age(const struct worker_task *task)
{
    const struct component *component = task->component;
    uint64_t distance_ns = task->dense   ? component->dense.after_ns
                           : task->usual ? component->interval_ns
                                         : 0;

    if (component_is_relayed(component)) {
        component->reader->source->relay->allow_age(component->reader, distance_ns / AGE_SHARE);
    }
}

static void worker_call(struct worker_task *task)
{
    struct component *component = task->component;

    switch (task->call) {
    case WORKER_OPEN:
        task->reader =
            apapi_route_open(component->name, component->order, component->interval_ns, &task->why);
        break;
    case WORKER_READ:
    case WORKER_PROBE:
    case WORKER_LOOK:
    case WORKER_CHECK:
        worker_allow_age(task);
        task->when = component_fetch(component);
        break;
    case WORKER_REOPEN:
        worker_reopen(task);
        break;
    case WORKER_CLOSE:
        source_close(task->reader);
        break;
    case WORKER_NO_CALL:
        break;
    }
}

static void worker_make_call(struct worker *worker, struct worker_task task)
{
    bool probe = task.call == WORKER_PROBE && task.component->wanted == COMPONENT_LOOK;

    if (probe || task.call == WORKER_READ || task.call == WORKER_LOOK) {
        task.component->wanted = COMPONENT_UNWANTED; /* this reading answers all requests */
    }
    task.run = worker->run;
    task.asked = worker->last;
    worker->task = task;
    pthread_mutex_unlock(&worker->mutex);
    worker_call(&worker->task);
    pthread_mutex_lock(&worker->mutex);
}

/* The results of the calls. */

static bool worker_wants(const struct worker *worker, const struct worker_task *task)
{
    return !worker->ending && worker->running && worker->run == task->run;
}

static void worker_has_opened(struct worker *worker, struct worker_task *task)
{
    struct component *component = task->component;

    component->to_open = false;
    if (worker->ending) {
        worker->to_close = task->reader;
        return;
    }
    component->reason = task->why;
    if (task->reader && component_adopt(component, task->reader)) {
        component->refused = errno;
        component->reader = NULL;
        worker->to_close = task->reader;
    } else if (task->reader) {
        common_join(worker->common, component);
    }
    worker_changed(worker);
}

static void worker_has_reopened(struct worker *worker, struct worker_task *task)
{
    struct component *component = task->component;
    int error = task->error;

    if (worker->ending) {
        error = ECANCELED;
    } else if (task->reader && component_rejoin(component, task->reader, &task->why)) {
        error = errno;
    }
    if (error) {
        component_lose(component, error);
        worker->to_close = task->reader;
    }
    if (error && worker_wants(worker, task)) {
        component->reason = task->why;
    }
    worker->following =
        (struct worker_task){.call = WORKER_READ, .component = component, .reopened = true};
}

/*
 * An open source may never work again: a driver was reloaded, a device plugged in again. Only an
 * own worker opens a source again; the shared worker hands the component over.
 */
static bool worker_reopens(const struct worker *worker, const struct worker_task *task)
{
    struct retry retry = task->component->retry;

    if (task->reopened || !component_failed(task->component)) {
        return false;
    }
    if (component_is_relayed(task->component)) { /* from now on it reads its own source */
        return true;
    }
    if (worker->own) {
        return false;
    }
    retry_failed(&retry, task->component->interval_ns, task->when.end_ns);
    return retry_wants_reopening(&retry);
}

static void worker_account(struct worker *worker, const struct worker_task *task)
{
    struct component *component = task->component;
    bool waited_for = worker->last || !component->tried;

    component_account(component, task->when);
    if (!task->extra) {
        component_next_deadline(component, task->when.end_ns);
    }
    common_report(worker->common, component);
    if (!component->tried) {
        component_begin_early(component, task->when);
    }
    /* an own worker may be slow: a reading under way when the last was asked for is its last */
    component->finished = worker->last && component->tried && (task->asked || !worker->own);
    component->tried = true;
    if (component->finished) {
        component_plan_check(component, task->when);
    }
    worker->running = !component->finished || worker_lacks(worker, true);
    if (waited_for) {
        worker_changed(worker);
    }
    if (worker->own && !worker->last && retry_wants_reopening(&component->retry)) {
        worker_take_over(&worker->own[component - worker->components]);
    }
}

static void worker_has_read(struct worker *worker, const struct worker_task *task)
{
    struct component *component = task->component;
    bool dense = task->dense && !component_failed(component);

    if (!worker_wants(worker, task)) {
        return;
    }
    common_pass_on(worker->common, component, task->when, dense);
    if (task->call == WORKER_PROBE) {
        component_probe(component, task->when);
    } else if (task->call == WORKER_CHECK) {
        component_check(component, task->when);
        worker->running = worker_lacks(worker, true);
        worker_changed(worker);
    } else if (dense) {
        component_account_dense(component, task->when);
    } else if (task->dense) {
        component->dense.due_ns = UINT64_MAX; /* usual readings try again */
    } else if (task->call == WORKER_READ && worker_reopens(worker, task)) {
        worker->following = (struct worker_task){.call = WORKER_REOPEN, .component = component};
    } else if (task->call == WORKER_READ) {
        worker_account(worker, task);
    }
}

static void worker_conclude(struct worker *worker)
{
    struct worker_task task = worker->task;

    worker->task.call = WORKER_NO_CALL;
    switch (task.call) {
    case WORKER_OPEN:
        worker_has_opened(worker, &task);
        break;
    case WORKER_READ:
    case WORKER_PROBE:
    case WORKER_LOOK:
    case WORKER_CHECK:
        worker_has_read(worker, &task);
        break;
    case WORKER_REOPEN:
        worker_has_reopened(worker, &task);
        break;
    case WORKER_CLOSE:
    case WORKER_NO_CALL:
        break;
    }
}

/* The next reading. */

static uint64_t worker_reading_due_ns(const struct worker *worker,
                                      const struct component *component, uint64_t now_ns)
{
    return !component->tried || worker->last ? 0 : component_due_ns(component, now_ns);
}

static uint64_t worker_due_ns(const struct worker *worker, const struct component *component,
                              uint64_t now_ns)
{
    uint64_t reading_ns, probe_ns;

    if (!worker_reads(worker, component)) {
        return UINT64_MAX;
    }
    if (component->finished) {
        return component->check_ns ? component->check_ns : UINT64_MAX;
    }
    if (component->wanted != COMPONENT_UNWANTED) {
        return 0;
    }
    reading_ns = worker_reading_due_ns(worker, component, now_ns);
    probe_ns = component_probe_due_ns(component, now_ns);
    reading_ns = component->dense.due_ns < reading_ns ? component->dense.due_ns : reading_ns;
    return reading_ns < probe_ns ? reading_ns : probe_ns;
}

/*
 * The next component that is due in this round, in the order of the user's list. Each is read once
 * in a round: so a component that needs longer than its interval does not keep others waiting.
 */
static struct component *worker_next(struct worker *worker)
{
    while (worker->next < worker->count) {
        struct component *component = &worker->components[worker->next++];

        if (worker_due_ns(worker, component, worker->round_ns) <= worker->round_ns) {
            return component;
        }
    }
    return NULL;
}

static struct worker_task worker_reading(const struct worker *worker, struct component *component)
{
    bool due = worker_reading_due_ns(worker, component, worker->round_ns) <= worker->round_ns;
    bool probed = component_probe_due_ns(component, worker->round_ns) <= worker->round_ns;
    bool counted = component->wanted == COMPONENT_COUNT && component->retry.failures == 0;
    struct worker_task task = {.call = WORKER_READ, .component = component};

    if (component->finished) {
        task.call = WORKER_CHECK;
    } else if (due) {
        task.usual = component->tried && !worker->last;
    } else if (counted) {
        task.extra = true;
    } else if (component->dense.due_ns <= worker->round_ns) {
        task.dense = true;
    } else {
        task.call = probed ? WORKER_PROBE : WORKER_LOOK;
    }
    return task;
}

static uint64_t worker_read_next(struct worker *worker)
{
    struct component *component = worker_next(worker);
    uint64_t earliest_ns = UINT64_MAX;

    if (!component) {
        worker->next = 0;
        worker->round_ns = session_clock_now_ns(worker->common->clock);
        component = worker_next(worker);
    }
    for (size_t i = 0; !component && i < worker->count; i++) {
        uint64_t due_ns = worker_due_ns(worker, &worker->components[i], worker->round_ns);

        earliest_ns = due_ns < earliest_ns ? due_ns : earliest_ns;
    }
    if (!component) {
        return earliest_ns;
    }
    if (!component->tried) {
        component->deadline_ns = worker->round_ns;
    }
    worker_make_call(worker, worker_reading(worker, component));
    return 0;
}

/* Close the open sources one after the other, then end the worker. */
static void worker_end_step(struct worker *worker)
{
    for (size_t i = 0; i < worker->count; i++) {
        struct component *component = &worker->components[i];

        if (worker_reads(worker, component) && component->reader) {
            worker->to_close = component->reader;
            component->reader = NULL;
            return;
        }
    }
    worker_end(worker);
}

/* @return the call that comes before all readings that are due. */
static struct worker_task worker_first_call(struct worker *worker)
{
    struct worker_task task = worker->following;
    struct component *closed = worker_to_open(worker);

    if (worker->to_close) {
        task = (struct worker_task){.call = WORKER_CLOSE, .reader = worker->to_close};
        worker->to_close = NULL;
    } else if (task.call != WORKER_NO_CALL) {
        worker->following.call = WORKER_NO_CALL;
    } else if (closed) {
        task = (struct worker_task){.call = WORKER_OPEN, .component = closed};
    }
    return task;
}

uint64_t worker_step(struct worker *worker)
{
    struct worker_task task;

    if (worker->task.call != WORKER_NO_CALL) {
        worker_conclude(worker);
        return 0;
    }
    if (worker->ending && !worker->to_close) {
        worker_end_step(worker);
        return 0;
    }
    task = worker_first_call(worker);
    if (task.call == WORKER_NO_CALL) {
        return worker->running ? worker_read_next(worker) : UINT64_MAX;
    }
    worker_make_call(worker, task);
    return 0;
}

/* The thread. */

/* @return false if the deadline has passed. */
static bool worker_wait(struct worker *worker, uint64_t deadline_ns)
{
    struct session_clock *clock = worker->common->clock;

    return clock->wait(clock, &worker->changed, &worker->mutex, deadline_ns);
}

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

/* Give up the component that the thread called: the thread cannot give back what it held. */
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

/* Start another thread to read the other components of the shared worker. @return false: none */
static bool worker_replace_thread(struct worker *worker)
{
    struct session_clock *clock = worker->common->clock;
    pthread_t thread = worker->thread;

    if (!worker->own || worker->ending) {
        return false;
    }
    worker_count_cpu(worker);
    if (worker_start_thread(worker)) {
        worker->started = true; /* the old thread was started */
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

void worker_init(struct worker *worker, struct session_common *common, struct component *components,
                 size_t count, struct worker *own)
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
    if (worker_to_open(worker)) {
        worker_start_or_say(worker);
    }
    pthread_mutex_unlock(&worker->mutex);
}

/* Restart a component. If its thread ended in an earlier run, that stays the reason. */
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

/* Restart the worker's components. @return whether its thread has something to do */
static bool worker_restart_all(struct worker *worker)
{
    bool any = false;

    for (size_t i = 0; i < worker->count; i++) {
        struct component *component = &worker->components[i];

        if (worker_has(worker, component)) {
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
    while (worker_to_open(worker) && worker->started && !worker->ended &&
           worker_wait(worker, deadline_ns)) {
    }
    pthread_mutex_unlock(&worker->mutex);
}

static bool worker_may_answer(const struct worker *worker)
{
    return worker->started && worker->running && !worker->ended;
}

void worker_await_first(struct worker *worker, uint64_t deadline_ns)
{
    pthread_mutex_lock(&worker->mutex);
    while (worker_may_answer(worker) && worker_lacks(worker, false) &&
           worker_wait(worker, deadline_ns)) {
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

/* Note that a source does not answer: the component's own, or another one of the same worker. */
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
                   "not read at the end: no answer from %s within %.1f s",
                   hangs->reader ? hangs->detail : hangs->name, patience_s);
    }
}

static void worker_give_up(struct worker *worker, double patience_s)
{
    for (size_t i = 0; i < worker->count; i++) {
        struct component *component = &worker->components[i];

        if (worker_has(worker, component) && component->to_open) {
            apapi_fail(&component->reason, EAGAIN, "it was still being opened at the end");
        } else if (!worker->ended && worker_reads(worker, component) && !component->finished) {
            worker_say_no_answer(worker, component, patience_s);
        }
    }
}

/* @return the latest reading [ns]; 0: none. One begun before the last was asked for counts, too. */
static uint64_t worker_last_ns(const struct worker *worker, uint64_t asked_ns)
{
    uint64_t last_ns = 0;

    for (size_t i = 0; i < worker->count; i++) {
        const struct component *component = &worker->components[i];

        if (worker_reads(worker, component) && component->read_ns > last_ns &&
            (component->finished || component->read_ns > asked_ns)) {
            last_ns = component->read_ns;
        }
    }
    return last_ns;
}

uint64_t worker_await_last(struct worker *worker, uint64_t asked_ns, uint64_t patience_ns)
{
    uint64_t last_ns;

    pthread_mutex_lock(&worker->mutex);
    while (worker_may_answer(worker) && worker_lacks(worker, true) &&
           worker_wait(worker, asked_ns + patience_ns)) {
    }
    if (worker->started && !worker->ended) {
        worker->cpu_ns += worker_thread_cpu_ns(worker, &worker->thread) - worker->cpu_start_ns;
    }
    if (worker->running) {
        worker->running = false;
        worker_give_up(worker, (double)patience_ns / 1e9);
    }
    last_ns = worker_last_ns(worker, asked_ns);
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
