/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/sampling.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define END_WAIT_NS UINT64_C(100000000) /* for own workers that are slow to close */

static void sampling_destroy(struct session_common *common)
{
    struct sampling *sampling = (struct sampling *)common;

    for (size_t i = 0; i < sampling->count; i++) {
        component_close(&sampling->components[i]);
        worker_clear(&sampling->own[i]);
    }
    worker_clear(&sampling->shared);
    common_clear(common);
    free(sampling->components);
    free(sampling->own);
    free(sampling->order);
    free(sampling);
}

struct sampling *sampling_create(size_t count, struct session_clock *clock)
{
    struct sampling *sampling = calloc(1, sizeof *sampling);

    if (!sampling) {
        return NULL;
    }
    sampling->components = calloc(count, sizeof *sampling->components);
    sampling->own = calloc(count, sizeof *sampling->own);
    if (!sampling->components || !sampling->own) {
        free(sampling->components);
        free(sampling->own);
        free(sampling);
        return NULL;
    }
    sampling->count = count;
    common_init(&sampling->common, clock ? clock : session_clock_real(), sampling_destroy);
    sampling->common.components = sampling->components;
    for (size_t i = 0; i < count; i++) {
        worker_init(&sampling->own[i], &sampling->common, &sampling->components[i], 1, NULL);
    }
    worker_init(&sampling->shared, &sampling->common, sampling->components, count, sampling->own);
    return sampling;
}

static uint64_t sampling_now_ns(const struct sampling *sampling)
{
    return session_clock_now_ns(sampling->common.clock);
}

/* In a run, only the shared worker changes `own_worker`, before the component's last reading. */
static bool sampling_has_own(struct sampling *sampling, size_t index)
{
    bool own;

    pthread_mutex_lock(&sampling->shared.mutex);
    own = sampling->components[index].own_worker;
    pthread_mutex_unlock(&sampling->shared.mutex);
    return own;
}

/* @return the worker of a component, with its mutex locked. */
static struct worker *sampling_hold(struct sampling *sampling, size_t index)
{
    pthread_mutex_lock(&sampling->shared.mutex);
    if (!sampling->components[index].own_worker) {
        return &sampling->shared;
    }
    pthread_mutex_unlock(&sampling->shared.mutex);
    pthread_mutex_lock(&sampling->own[index].mutex);
    return &sampling->own[index];
}

pthread_mutex_t *sampling_lock(struct sampling *sampling, size_t index)
{
    return &sampling_hold(sampling, index)->mutex;
}

void sampling_read_now(struct sampling *sampling, const char *component, bool count)
{
    for (size_t i = 0; i < sampling->count; i++) {
        if (!component || strcmp(sampling->components[i].name, component) == 0) {
            struct worker *worker = sampling_hold(sampling, i);

            worker_want(worker, &sampling->components[i], count);
            pthread_mutex_unlock(&worker->mutex);
        }
    }
}

/* Call the shared worker first: then it hands over no more components to own workers. */
static void sampling_for_all(struct sampling *sampling, void (*call)(struct worker *worker))
{
    call(&sampling->shared);
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            call(&sampling->own[i]);
        }
    }
}

void sampling_open(struct sampling *sampling, uint64_t patience_ns)
{
    uint64_t now_ns = sampling_now_ns(sampling);
    uint64_t least_ns = patience_ns > APAPI_OPEN_WAIT_NS ? patience_ns : APAPI_OPEN_WAIT_NS;

    sampling_for_all(sampling, worker_open);
    worker_await_open(&sampling->shared, now_ns + least_ns);
    for (size_t i = 0; patience_ns > 0 && i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            worker_await_open(&sampling->own[i], now_ns + patience_ns);
        }
    }
}

/* Sources that may take long, or are open while another one is not, get their own workers. */
static void sampling_choose_workers(struct sampling *sampling)
{
    pthread_mutex_lock(&sampling->shared.mutex);
    for (size_t i = 0; i < sampling->count; i++) {
        struct component *component = &sampling->components[i];

        if (!component->own_worker && component->reader) {
            component->own_worker =
                component->reader->own_worker || sampling->shared.task.call == WORKER_OPEN;
        }
    }
    pthread_mutex_unlock(&sampling->shared.mutex);
}

int sampling_start(struct sampling *sampling)
{
    uint64_t start_ns;

    common_start(&sampling->common);
    start_ns = sampling->common.start_ns;
    sampling_choose_workers(sampling);
    if (worker_run(&sampling->shared)) {
        return -1;
    }
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            worker_run(&sampling->own[i]);
        }
    }
    worker_await_first(&sampling->shared, start_ns + APAPI_SHARED_WAIT_NS);
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            worker_await_first(&sampling->own[i], start_ns + APAPI_START_WAIT_NS);
        }
    }
    return 0;
}

uint64_t sampling_stop(struct sampling *sampling)
{
    uint64_t asked_ns = sampling_now_ns(sampling);
    uint64_t shared_ns, own_ns = 0, end_ns;

    sampling_for_all(sampling, worker_ask_last);
    shared_ns = worker_await_last(&sampling->shared, asked_ns, APAPI_SHARED_WAIT_NS);
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            uint64_t answer_ns = worker_await_last(&sampling->own[i], asked_ns, APAPI_STOP_WAIT_NS);

            own_ns = answer_ns > own_ns ? answer_ns : own_ns;
        }
    }
    end_ns = shared_ns > 0 ? shared_ns : own_ns > 0 ? own_ns : asked_ns;
    for (size_t i = 0; i < sampling->count; i++) { /* components that open slowly may still come */
        pthread_mutex_t *mutex = sampling_lock(sampling, i);

        common_finish(&sampling->common, &sampling->components[i], end_ns);
        pthread_mutex_unlock(mutex);
    }
    return end_ns;
}

uint64_t sampling_cpu_ns(struct sampling *sampling)
{
    uint64_t cpu_ns = worker_cpu_ns(&sampling->shared);

    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            cpu_ns += worker_cpu_ns(&sampling->own[i]);
        }
    }
    return cpu_ns;
}

/* The order is the same everywhere: the shared worker's mutex before those of own workers. */
void sampling_hold_all(struct sampling *sampling)
{
    pthread_mutex_lock(&sampling->shared.mutex);
    for (size_t i = 0; i < sampling->count; i++) {
        pthread_mutex_lock(&sampling->own[i].mutex);
    }
}

void sampling_release_all(struct sampling *sampling)
{
    for (size_t i = sampling->count; i-- > 0;) {
        pthread_mutex_unlock(&sampling->own[i].mutex);
    }
    pthread_mutex_unlock(&sampling->shared.mutex);
}

void sampling_end(struct sampling *sampling)
{
    uint64_t now_ns;
    int saved = errno;

    if (!sampling) {
        return;
    }
    now_ns = sampling_now_ns(sampling);
    sampling_for_all(sampling, worker_dismiss);
    worker_await_end(&sampling->shared, now_ns + APAPI_SHARED_WAIT_NS);
    for (size_t i = 0; i < sampling->count; i++) {
        worker_await_end(&sampling->own[i], now_ns + END_WAIT_NS);
    }
    common_release(&sampling->common);
    errno = saved;
}
