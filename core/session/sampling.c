/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/sampling.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "session/overflow_deliver.h"

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

/* Only the shared worker changes who reads a component, and only before its last reading. */
static bool sampling_has_own(struct sampling *sampling, size_t index)
{
    bool own;

    pthread_mutex_lock(&sampling->shared.mutex);
    own = sampling->components[index].own_worker;
    pthread_mutex_unlock(&sampling->shared.mutex);
    return own;
}

/* @return the worker of a component, with its mutex. */
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

/* The shared one first: then it hands over no more components to the others. */
static void sampling_for_all(struct sampling *sampling, void (*call)(struct worker *worker))
{
    call(&sampling->shared);
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            call(&sampling->own[i]);
        }
    }
}

void sampling_await_open(struct sampling *sampling, uint64_t patience_ns)
{
    uint64_t deadline_ns = sampling_now_ns(sampling) + patience_ns;

    for (size_t i = 0; patience_ns > 0 && i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            worker_await_open(&sampling->own[i], deadline_ns);
        }
    }
}

/* A component that is open for the first time: its source says whether it may take long. */
static void sampling_choose_workers(struct sampling *sampling)
{
    pthread_mutex_lock(&sampling->shared.mutex);
    for (size_t i = 0; i < sampling->count; i++) {
        struct component *component = &sampling->components[i];

        if (!component->own_worker) {
            component->own_worker = component->reader && component->reader->own_worker;
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
    uint64_t shared_ns, own_ns = 0;

    sampling_for_all(sampling, worker_ask_last);
    shared_ns = worker_await_last(&sampling->shared, asked_ns, APAPI_SHARED_WAIT_NS);
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling_has_own(sampling, i)) {
            uint64_t answer_ns = worker_await_last(&sampling->own[i], asked_ns, APAPI_STOP_WAIT_NS);

            own_ns = answer_ns > own_ns ? answer_ns : own_ns;
        }
    }
    for (size_t i = 0; i < sampling->count; i++) { /* those that are slow to open may still come */
        pthread_mutex_t *mutex = sampling_lock(sampling, i);

        common_finish(&sampling->common, &sampling->components[i]);
        pthread_mutex_unlock(mutex);
    }
    overflow_flush(&sampling->common, APAPI_STOP_WAIT_NS);
    if (shared_ns > 0) {
        return shared_ns;
    }
    return own_ns > 0 ? own_ns : asked_ns;
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

int sampling_result(struct sampling *sampling, size_t index, const struct apapi_span *span,
                    struct apapi_component_result *result, struct domain_results *domains)
{
    pthread_mutex_t *mutex = sampling_lock(sampling, index);
    int failed = component_finish(&sampling->components[index], index, span, result, domains);

    pthread_mutex_unlock(mutex);
    return failed;
}

/* A snapshot. */

/* Room for the meters and the histograms. */
static int snapshot_make_room(struct component *copy, const struct component *component)
{
    copy->event_count = component->event_count;
    copy->meter_count = component->meter_count;
    copy->meters = calloc(component->meter_count + 1, sizeof *copy->meters);
    copy->histograms = calloc(component->meter_count + 1 + APAPI_DOMAINS, sizeof *copy->histograms);
    return copy->meters && copy->histograms ? 0 : -1;
}

/* The same histogram among those of the copy. */
static struct apapi_histogram *own_histogram(const struct component *copy,
                                             const struct component *component,
                                             const struct apapi_histogram *histogram)
{
    return histogram ? copy->histograms + (histogram - component->histograms) : NULL;
}

static void copy_meters(struct component *copy, const struct component *component)
{
    memcpy(copy->meters, component->meters, component->meter_count * sizeof *copy->meters);
    for (size_t i = 0; i < component->meter_count; i++) {
        struct apapi_meter *meter = &copy->meters[i];

        meter->histogram = own_histogram(copy, component, meter->histogram);
        meter->rate.histogram = own_histogram(copy, component, meter->rate.histogram);
    }
    memcpy(copy->domains, component->domains, sizeof copy->domains);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_domain_meter *domain = &copy->domains[d];

        domain->rate.histogram = own_histogram(copy, component, domain->rate.histogram);
    }
    memcpy(copy->histograms, component->histograms,
           component->histogram_count * sizeof *copy->histograms);
}

/* All that component_finish() needs; not what belongs to the reading thread alone. */
static void copy_component(struct component *copy, const struct component *component)
{
    memcpy(copy->name, component->name, sizeof copy->name);
    memcpy(copy->detail, component->detail, sizeof copy->detail);
    copy->feeds = component->feeds;
    memcpy(copy->known_ns, component->known_ns, sizeof copy->known_ns);
    copy->user_rules = component->user_rules;
    copy->reason = component->reason;
    copy->source = component->source;
    copy->origin_ns = component->origin_ns;
    copy->interval_ns = component->interval_ns;
    copy->missed = component->missed;
    copy->read_ns = component->read_ns;
    copy->period = component->period;
    copy->retry = component->retry;
    if (component->meters) {
        copy_meters(copy, component);
    }
}

static int snapshot_copy(struct snapshot *snapshot, struct sampling *sampling, size_t index)
{
    struct component *copy = &snapshot->copies[index];
    const struct component *component = &sampling->components[index];
    pthread_mutex_t *mutex = sampling_lock(sampling, index);
    int failed = snapshot_make_room(copy, component);

    if (!failed) {
        copy_component(copy, component);
    }
    pthread_mutex_unlock(mutex);
    /* an earlier run may have left it: then it is not the latest */
    if (copy->read_ns > snapshot->read_ns && copy->read_ns >= sampling->common.start_ns) {
        snapshot->read_ns = copy->read_ns;
    }
    return failed;
}

int snapshot_make(struct snapshot *snapshot, struct sampling *sampling)
{
    int failed = 0;

    memset(snapshot, 0, sizeof *snapshot);
    snapshot->count = sampling->count;
    snapshot->copies = calloc(snapshot->count, sizeof *snapshot->copies);
    for (size_t i = 0; snapshot->copies && !failed && i < snapshot->count; i++) {
        failed = snapshot_copy(snapshot, sampling, i);
    }
    if (!snapshot->copies || failed) {
        snapshot_free(snapshot);
        errno = ENOMEM;
        return -1;
    }
    snapshot->cpu_ns = sampling_cpu_ns(sampling);
    return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; snapshot->copies && i < snapshot->count; i++) {
        free(snapshot->copies[i].meters);
        free(snapshot->copies[i].histograms);
    }
    free(snapshot->copies);
}

void sampling_end(struct sampling *sampling)
{
    uint64_t now_ns;
    int saved = errno;

    if (!sampling) {
        return;
    }
    now_ns = sampling_now_ns(sampling);
    overflow_dismiss(&sampling->common);
    sampling_for_all(sampling, worker_dismiss);
    worker_await_end(&sampling->shared, now_ns + APAPI_SHARED_WAIT_NS);
    for (size_t i = 0; i < sampling->count; i++) {
        worker_await_end(&sampling->own[i], now_ns + END_WAIT_NS);
    }
    overflow_end(&sampling->common, now_ns + END_WAIT_NS);
    common_release(&sampling->common);
    errno = saved;
}
