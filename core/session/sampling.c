/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/sampling.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "session/lane.h"
#include "session/live.h"
#include "session/snapshot.h"
#include "sources/turn.h"

#define END_WAIT_NS UINT64_C(100000000) /* for what is slow to close */

static void init_lanes(struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        lane_init(&sampling->lanes[i], sampling, &sampling->components[i]);
    }
}

struct sampling *sampling_create(size_t count)
{
    struct sampling *sampling = calloc(1, sizeof *sampling);

    if (!sampling) {
        return NULL;
    }
    pthread_mutex_init(&sampling->telling, NULL);
    pthread_mutex_init(&sampling->showing, NULL);
    feed_clear(sampling->shown);
    atomic_init(&sampling->references, 1);
    sampling->components = calloc(count, sizeof *sampling->components);
    sampling->lanes = calloc(count, sizeof *sampling->lanes);
    if (!sampling->components || !sampling->lanes) {
        sampling_release(sampling);
        return NULL;
    }
    sampling->count = count;
    init_lanes(sampling);
    return sampling;
}

void sampling_hold(struct sampling *sampling)
{
    atomic_fetch_add(&sampling->references, 1);
}

void sampling_release(struct sampling *sampling)
{
    if (atomic_fetch_sub(&sampling->references, 1) > 1) {
        return;
    }
    for (size_t i = 0; i < sampling->count; i++) {
        component_close(&sampling->components[i]);
        lane_clear(&sampling->lanes[i]);
    }
    pthread_mutex_destroy(&sampling->showing);
    pthread_mutex_destroy(&sampling->telling);
    free(sampling->components);
    free(sampling->lanes);
    free(sampling->order);
    free(sampling);
}

void sampling_join(struct sampling *sampling, struct component *component)
{
    pthread_mutex_lock(&sampling->showing);
    live_join(sampling->live, component, sampling->shown);
    pthread_mutex_unlock(&sampling->showing);
}

/* Does the thread for all read it? */
static bool is_shared(const struct component *component)
{
    return !component->apart && component->reader;
}

static uint64_t earliest_deadline(const struct sampling *sampling)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t earliest_ns = UINT64_MAX;

    for (size_t i = 0; i < sampling->count; i++) {
        const struct component *component = &sampling->components[i];

        uint64_t due_ns = is_shared(component) ? component_due_ns(component, now_ns) : UINT64_MAX;

        earliest_ns = due_ns < earliest_ns ? due_ns : earliest_ns;
    }
    return earliest_ns;
}

/* Sleep until the deadline or until there is a command: one system call, no lock. */
static void sleep_until(struct sampling *sampling, uint64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                      .tv_nsec = (long)(deadline_ns % NS_PER_S)};

    syscall(SYS_futex, &sampling->command, FUTEX_WAIT_BITSET_PRIVATE, SAMPLING_GO_ON,
            deadline_ns == UINT64_MAX ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

void sampling_restart(struct sampling *sampling, struct component *component)
{
    component_restart(component, sampling->start_ns);
    pthread_mutex_lock(&sampling->showing);
    live_restart(sampling->live, component, sampling->shown);
    pthread_mutex_unlock(&sampling->showing);
}

static void show(struct sampling *sampling, const struct component *component)
{
    size_t place = (size_t)(component - sampling->components);

    if (sampling->live) {
        pthread_mutex_lock(&sampling->showing);
        live_show(sampling->live, component, place, sampling->shown);
        pthread_mutex_unlock(&sampling->showing);
    }
}

void sampling_tell(struct sampling *sampling, struct component *component)
{
    const struct apapi_sample sample = {.component = component->name,
                                        .time_ns = component->read_ns - sampling->start_ns,
                                        .event_count = component->event_count,
                                        .events = component->events,
                                        .readings = component->readings,
                                        .values = component->values};

    show(sampling, component);
    if (!sampling->on_sample) {
        return;
    }
    for (size_t i = 0; i < component->event_count; i++) {
        component->readings[i] = component->raw[component->places[i]];
        component->values[i] = component->meters[i].value;
    }
    pthread_mutex_lock(&sampling->telling);
    sampling->on_sample(&sample, sampling->context);
    pthread_mutex_unlock(&sampling->telling);
}

static void read_component(struct sampling *sampling, struct component *component)
{
    component_read(component);
    sampling_tell(sampling, component);
}

static void read_due(struct sampling *sampling, uint64_t now_ns)
{
    for (size_t i = 0; i < sampling->count; i++) {
        struct component *component = &sampling->components[i];

        if (!is_shared(component) || component_due_ns(component, now_ns) > now_ns) {
            continue;
        }
        read_component(sampling, component);
        component_next_deadline(component, component->read_ns);
        if (retry_wants_reopening(&component->retry)) {
            lane_take_over(&sampling->lanes[i]);
        }
    }
}

/* @return whether the command to show was there. */
static bool take_back(struct sampling *sampling)
{
    int command = SAMPLING_SHOW;

    return atomic_compare_exchange_strong(&sampling->command, &command, SAMPLING_GO_ON);
}

static void give_command(struct sampling *sampling, enum sampling_command command)
{
    atomic_store(&sampling->command, command);
    syscall(SYS_futex, &sampling->command, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void sampling_show(struct sampling *sampling, struct snapshot *snapshot)
{
    sampling->wanted = snapshot;
    give_command(sampling, SAMPLING_SHOW);
}

bool sampling_hide(struct sampling *sampling)
{
    return take_back(sampling);
}

static void *sample(void *argument)
{
    struct sampling *sampling = argument;
    int command;

    while ((command = atomic_load(&sampling->command)) != SAMPLING_STOP) {
        uint64_t deadline_ns = earliest_deadline(sampling);

        if (command == SAMPLING_SHOW && take_back(sampling)) {
            snapshot_take(sampling->wanted, sampling);
        }
        if (clock_monotonic_ns() < deadline_ns) {
            sleep_until(sampling, deadline_ns);
            continue;
        }
        read_due(sampling, clock_monotonic_ns());
    }
    sampling->cpu_ns = clock_thread_cpu_ns();
    return NULL;
}

static void read_all(struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        struct component *component = &sampling->components[i];

        if (is_shared(component)) {
            read_component(sampling, component);
            component->deadline_ns = component->read_ns + component->interval_ns;
        }
    }
}

/* What this thread reads is forgotten here, what another one reads there. */
static void restart_all(struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        struct component *component = &sampling->components[i];

        if (!component->apart) {
            component->apart = component->reader && component->reader->apart;
        }
        if (component->apart) {
            lane_run(&sampling->lanes[i]);
        } else {
            sampling_restart(sampling, component);
        }
    }
}

typedef void (*lane_f)(struct lane *lane);

static void for_lanes(struct sampling *sampling, lane_f call)
{
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling->components[i].apart) {
            call(&sampling->lanes[i]);
        }
    }
}

void sampling_await_open(struct sampling *sampling, uint64_t patience_ns)
{
    uint64_t deadline_ns = clock_monotonic_ns() + patience_ns;

    for (size_t i = 0; patience_ns > 0 && i < sampling->count; i++) {
        if (sampling->components[i].apart) {
            lane_await_open(&sampling->lanes[i], deadline_ns);
        }
    }
}

static void await_first(struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling->components[i].apart) {
            lane_await_first(&sampling->lanes[i], sampling->start_ns + APAPI_START_WAIT_NS);
        }
    }
}

int sampling_start(struct sampling *sampling)
{
    atomic_store(&sampling->command, SAMPLING_GO_ON);
    sampling->cpu_ns = 0;
    sampling->start_ns = clock_monotonic_ns();
    pthread_mutex_lock(&sampling->showing);
    feed_clear(sampling->shown);
    pthread_mutex_unlock(&sampling->showing);
    restart_all(sampling);
    read_all(sampling);
    if (thread_start(&sampling->thread, sample, sampling)) {
        int error = errno;

        for_lanes(sampling, lane_halt);
        errno = error;
        return -1;
    }
    await_first(sampling);
    return 0;
}

static bool has_shared(const struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        if (is_shared(&sampling->components[i])) {
            return true;
        }
    }
    return false;
}

static uint64_t await_last(struct sampling *sampling, uint64_t now_ns)
{
    uint64_t last_ns = 0;

    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling->components[i].apart) {
            uint64_t answer_ns = lane_await_last(&sampling->lanes[i], now_ns + APAPI_STOP_WAIT_NS);

            last_ns = answer_ns > last_ns ? answer_ns : last_ns;
        }
    }
    return last_ns;
}

/* Those that are slow to open may still come. */
static void finish_live(struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        pthread_mutex_lock(&sampling->lanes[i].lock);
        pthread_mutex_lock(&sampling->showing);
        live_finish(sampling->live, &sampling->components[i], i, sampling->shown);
        pthread_mutex_unlock(&sampling->showing);
        pthread_mutex_unlock(&sampling->lanes[i].lock);
    }
}

uint64_t sampling_stop(struct sampling *sampling)
{
    uint64_t now_ns, last_ns;

    give_command(sampling, SAMPLING_STOP);
    pthread_join(sampling->thread, NULL);
    for_lanes(sampling, lane_ask);
    read_all(sampling);
    now_ns = clock_monotonic_ns();
    last_ns = await_last(sampling, now_ns);
    finish_live(sampling);
    return has_shared(sampling) || last_ns == 0 ? now_ns : last_ns;
}

uint64_t sampling_cpu_ns(struct sampling *sampling)
{
    uint64_t cpu_ns = sampling->cpu_ns;

    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling->components[i].apart) {
            cpu_ns += lane_cpu_ns(&sampling->lanes[i]);
        }
    }
    return cpu_ns;
}

int sampling_result(struct sampling *sampling, size_t index, const struct apapi_span *span,
                    struct apapi_component_result *result, struct domain_results *domains)
{
    struct lane *lane = &sampling->lanes[index];
    int failed;

    pthread_mutex_lock(&lane->lock);
    failed = component_finish(&sampling->components[index], index, span, result, domains);
    pthread_mutex_unlock(&lane->lock);
    return failed;
}

/* What a thread of its own reads is closed by that thread. */
static void close_shared(struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        struct component *component = &sampling->components[i];

        if (is_shared(component)) {
            source_close(component->reader);
            component->reader = NULL;
        }
    }
}

void sampling_end(struct sampling *sampling)
{
    uint64_t deadline_ns;
    int saved = errno;

    if (!sampling) {
        return;
    }
    for_lanes(sampling, lane_dismiss);
    close_shared(sampling);
    deadline_ns = clock_monotonic_ns() + END_WAIT_NS;
    for (size_t i = 0; i < sampling->count; i++) {
        lane_await_end(&sampling->lanes[i], deadline_ns);
    }
    sampling_release(sampling);
    errno = saved;
}
