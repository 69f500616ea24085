/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/sampling.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/clock.h"

static uint64_t earliest_deadline(const struct sampling *sampling)
{
    uint64_t earliest_ns = UINT64_MAX;

    for (size_t i = 0; i < sampling->count; i++) {
        const struct component *component = &sampling->components[i];

        if (component->reader && component->deadline_ns < earliest_ns) {
            earliest_ns = component->deadline_ns;
        }
    }
    return earliest_ns;
}

/* Sleep until the deadline or until the session is stopped: one system call, no lock. */
static void sleep_until(struct sampling *sampling, uint64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                      .tv_nsec = (long)(deadline_ns % NS_PER_S)};

    syscall(SYS_futex, &sampling->stop, FUTEX_WAIT_BITSET_PRIVATE, 0,
            deadline_ns == UINT64_MAX ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Tell what has just been read. */
static void tell(const struct sampling *sampling, struct component *component)
{
    const struct apapi_sample sample = {.component = component->name,
                                        .time_ns = component->read_ns - sampling->start_ns,
                                        .event_count = component->event_count,
                                        .events = component->events,
                                        .readings = component->readings,
                                        .values = component->values};

    for (size_t i = 0; i < component->event_count; i++) {
        component->readings[i] = component->raw[component->places[i]];
        component->values[i] = component->meters[i].value;
    }
    sampling->on_sample(&sample, sampling->context);
}

static void read_component(const struct sampling *sampling, struct component *component)
{
    component_read(component);
    if (sampling->on_sample) {
        tell(sampling, component);
    }
}

static void read_due(struct sampling *sampling, uint64_t now_ns)
{
    for (size_t i = 0; i < sampling->count; i++) {
        struct component *component = &sampling->components[i];

        if (component->reader && component->deadline_ns <= now_ns) {
            read_component(sampling, component);
            component_next_deadline(component, component->read_ns);
        }
    }
}

static void *sample(void *argument)
{
    struct sampling *sampling = argument;

    while (!atomic_load(&sampling->stop)) {
        uint64_t deadline_ns = earliest_deadline(sampling);

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

        if (component->reader) {
            read_component(sampling, component);
            component->deadline_ns = component->read_ns + component->interval_ns;
        }
    }
}

/* Signals belong to the host program: its threads receive them, this one does not. */
static int start_thread(struct sampling *sampling)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&sampling->thread, NULL, sample, sampling);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error ? -1 : 0;
}

int sampling_start(struct sampling *sampling)
{
    atomic_store(&sampling->stop, 0);
    sampling->cpu_ns = 0;
    sampling->start_ns = clock_monotonic_ns();
    read_all(sampling);
    return start_thread(sampling);
}

void sampling_stop(struct sampling *sampling)
{
    atomic_store(&sampling->stop, 1);
    syscall(SYS_futex, &sampling->stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(sampling->thread, NULL);
    read_all(sampling);
}
