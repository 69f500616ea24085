/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker does next: a state machine that starts no thread and never waits. */
#include "session/worker_step.h"

#include <errno.h>
#include <stdio.h>

#include "sources/source_lock.h"
#include "sources/sources.h"

#define AGE_SHARE 4 /* part of its interval by which a usual reading may be older */

static struct session_clock *worker_clock(const struct worker *worker)
{
    return worker->common->clock;
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

/* What begins or ends a time has to be read then. */
static void worker_allow_age(const struct worker_task *task)
{
    const struct component *component = task->component;

    if (component_is_relayed(component)) {
        component->reader->source->relay->allow_age(
            component->reader, task->usual ? component->interval_ns / AGE_SHARE : 0);
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

/* A reading that begins now is for all who have wanted one. */
static void worker_answer_request(struct worker_task *task)
{
    bool probe = task->call == WORKER_PROBE && task->component->wanted == COMPONENT_LOOK;

    if (probe || task->call == WORKER_READ || task->call == WORKER_LOOK) {
        task->component->wanted = COMPONENT_UNWANTED;
    }
}

static void worker_make_call(struct worker *worker, struct worker_task task)
{
    worker_answer_request(&task);
    task.run = worker->run;
    task.asked = worker->last;
    worker->task = task;
    pthread_mutex_unlock(&worker->mutex);
    worker_call(&worker->task);
    pthread_mutex_lock(&worker->mutex);
}

/* What comes of them. */

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
 * What is open may never work again: a driver was reloaded, a device plugged in again. Only an
 * own worker opens it again; the shared one hands it over.
 */
static bool worker_reopens(const struct worker *worker, const struct worker_task *task)
{
    struct retry retry = task->component->retry;

    if (task->reopened || !component_failed(task->component)) {
        return false;
    }
    if (component_is_relayed(task->component)) { /* its own source, from now on */
        return true;
    }
    if (worker->own) {
        return false;
    }
    retry_failed(&retry, task->component->interval_ns, task->when.end_ns);
    return retry_wants_reopening(&retry);
}

/*
 * A reading that was under way when the last one was asked for is that of an own worker, which may
 * need long for another.
 */
static bool worker_was_last(const struct worker *worker, const struct worker_task *task)
{
    return worker->last && task->component->tried && (task->asked || !worker->own);
}

static bool worker_has_finished(const struct worker *worker)
{
    for (size_t i = 0; i < worker->count; i++) {
        if (worker_reads(worker, &worker->components[i]) && !worker->components[i].finished) {
            return false;
        }
    }
    return true;
}

static void worker_account(struct worker *worker, const struct worker_task *task)
{
    struct component *component = task->component;
    bool waited_for = worker->last || !component->tried;

    component_account(component, task->when);
    if (task->early) {
        component_probe(component, task->when);
    } else if (!task->extra) {
        component_next_deadline(component, task->when.end_ns);
    }
    common_report(worker->common, component);
    if (!component->tried) {
        component_begin_probes(component, task->when);
    }
    component->finished = worker_was_last(worker, task);
    component->tried = true;
    worker->running = !(component->finished && worker_has_finished(worker));
    if (waited_for) {
        worker_changed(worker);
    }
    if (worker->own && !worker->last && retry_wants_reopening(&component->retry)) {
        worker_take_over(&worker->own[component - worker->components]);
    }
}

static void worker_has_read(struct worker *worker, const struct worker_task *task)
{
    if (!worker_wants(worker, task)) {
        return;
    }
    common_pass_on(worker->common, task->component, task->when);
    if (worker_reopens(worker, task)) {
        worker->following =
            (struct worker_task){.call = WORKER_REOPEN, .component = task->component};
    } else {
        worker_account(worker, task);
    }
}

static void worker_has_probed(struct worker *worker, const struct worker_task *task)
{
    if (worker_wants(worker, task)) {
        common_pass_on(worker->common, task->component, task->when);
        component_probe(task->component, task->when);
    }
}

static void worker_has_looked(struct worker *worker, const struct worker_task *task)
{
    if (worker_wants(worker, task)) {
        common_pass_on(worker->common, task->component, task->when);
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
        worker_has_read(worker, &task);
        break;
    case WORKER_PROBE:
        worker_has_probed(worker, &task);
        break;
    case WORKER_LOOK:
        worker_has_looked(worker, &task);
        break;
    case WORKER_REOPEN:
        worker_has_reopened(worker, &task);
        break;
    case WORKER_CLOSE:
    case WORKER_NO_CALL:
        break;
    }
}

/* What is due. */

static uint64_t worker_reading_due_ns(const struct worker *worker,
                                      const struct component *component, uint64_t now_ns)
{
    return !component->tried || worker->last ? 0 : component_due_ns(component, now_ns);
}

static uint64_t worker_due_ns(const struct worker *worker, const struct component *component,
                              uint64_t now_ns)
{
    uint64_t reading_ns, probe_ns;

    if (!worker_reads(worker, component) || component->finished) {
        return UINT64_MAX;
    }
    if (component->wanted != COMPONENT_UNWANTED) {
        return 0;
    }
    reading_ns = worker_reading_due_ns(worker, component, now_ns);
    probe_ns = component_probe_due_ns(component, now_ns);
    return reading_ns < probe_ns ? reading_ns : probe_ns;
}

/*
 * The next component that is due in this round, in the order of the user's list. Each is read once
 * in a round, so that one which needs longer than its interval does not keep others waiting.
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

static uint64_t worker_earliest_ns(const struct worker *worker)
{
    uint64_t earliest_ns = UINT64_MAX;

    for (size_t i = 0; i < worker->count; i++) {
        uint64_t due_ns = worker_due_ns(worker, &worker->components[i], worker->round_ns);

        earliest_ns = due_ns < earliest_ns ? due_ns : earliest_ns;
    }
    return earliest_ns;
}

static struct worker_task worker_reading(const struct worker *worker, struct component *component)
{
    bool due = worker_reading_due_ns(worker, component, worker->round_ns) <= worker->round_ns;
    bool probed = component_probe_due_ns(component, worker->round_ns) <= worker->round_ns;
    bool counted = component->wanted == COMPONENT_COUNT && component->retry.failures == 0;
    struct worker_task task = {.call = WORKER_READ, .component = component};

    if (due) {
        task.usual = component->tried && !worker->last;
        return task;
    }
    if (probed && !counted) {
        task.early = component->probes.next == PROBE_USUAL;
        task.call = task.early ? WORKER_READ : WORKER_PROBE;
    } else if (counted) {
        task.extra = true;
    } else {
        task.call = WORKER_LOOK;
    }
    return task;
}

static uint64_t worker_read_next(struct worker *worker)
{
    struct component *component = worker_next(worker);

    if (!component) {
        worker->next = 0;
        worker->round_ns = session_clock_now_ns(worker_clock(worker));
        component = worker_next(worker);
    }
    if (!component) {
        return worker_earliest_ns(worker);
    }
    if (!component->tried) {
        component->deadline_ns = worker->round_ns;
    }
    worker_make_call(worker, worker_reading(worker, component));
    return 0;
}

static struct component *worker_to_open(const struct worker *worker)
{
    return !worker->own && worker->components->to_open ? worker->components : NULL;
}

/* Close what is open, then end. */
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

    if (worker->to_close) {
        task = (struct worker_task){.call = WORKER_CLOSE, .reader = worker->to_close};
        worker->to_close = NULL;
    } else if (task.call != WORKER_NO_CALL) {
        worker->following.call = WORKER_NO_CALL;
    } else if (worker_to_open(worker)) {
        task = (struct worker_task){.call = WORKER_OPEN, .component = worker_to_open(worker)};
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
