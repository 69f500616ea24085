/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/snapshot.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/lane.h"
#include "session/sampling.h"

#define WAIT_NS UINT64_C(200000000) /* for the thread for all, which may be in a slow reading */

/* Room for the meters and the histograms. */
static int make_room(struct component *copy, const struct component *component)
{
    copy->event_count = component->event_count;
    copy->meter_count = component->meter_count;
    copy->meters = calloc(component->meter_count + 1, sizeof *copy->meters);
    copy->histograms = calloc(component->meter_count + 1 + APAPI_DOMAINS, sizeof *copy->histograms);
    return copy->meters && copy->histograms ? 0 : -1;
}

static void free_room(struct component *copy)
{
    free(copy->meters);
    free(copy->histograms);
}

/* The same histogram among those of the copy. */
static struct apapi_histogram *own(const struct component *copy, const struct component *component,
                                   const struct apapi_histogram *histogram)
{
    return histogram ? copy->histograms + (histogram - component->histograms) : NULL;
}

static void copy_meters(struct component *copy, const struct component *component)
{
    memcpy(copy->meters, component->meters, component->meter_count * sizeof *copy->meters);
    for (size_t i = 0; i < component->meter_count; i++) {
        struct apapi_meter *meter = &copy->meters[i];

        meter->histogram = own(copy, component, meter->histogram);
        meter->rate.histogram = own(copy, component, meter->rate.histogram);
    }
    memcpy(copy->domains, component->domains, sizeof copy->domains);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_domain_meter *domain = &copy->domains[d];

        domain->rate.histogram = own(copy, component, domain->rate.histogram);
    }
    memcpy(copy->histograms, component->histograms,
           component->histogram_count * sizeof *copy->histograms);
}

/* What component_finish() needs; not what belongs to the reading thread alone. */
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

void snapshot_take(struct snapshot *snapshot, const struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        if (!sampling->components[i].apart) {
            copy_component(&snapshot->copies[i], &sampling->components[i]);
            snapshot->copied[i] = true;
        }
    }
    snapshot->cpu_ns = clock_thread_cpu_ns();
    atomic_store(&snapshot->done, 1);
    /* who waits may have seen it and be gone: then this wakes nobody */
    syscall(SYS_futex, &snapshot->done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Its source may have been opened since there was room made for it. */
static int take_lane(struct snapshot *snapshot, struct sampling *sampling, size_t index)
{
    struct component *copy = &snapshot->copies[index];
    const struct component *component = &sampling->components[index];
    struct lane *lane = &sampling->lanes[index];
    int failed = 0;

    pthread_mutex_lock(&lane->lock);
    if (copy->meter_count != component->meter_count) {
        free_room(copy);
        failed = make_room(copy, component);
    }
    if (!failed) {
        copy_component(copy, component);
    }
    pthread_mutex_unlock(&lane->lock);
    snapshot->cpu_ns += lane_cpu_ns(lane);
    return failed;
}

static int take_lanes(struct snapshot *snapshot, struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        if (!snapshot->copied[i] && take_lane(snapshot, sampling, i)) {
            return -1;
        }
        if (snapshot->copies[i].read_ns > snapshot->read_ns &&
            snapshot->copies[i].read_ns >= sampling->start_ns) {
            snapshot->read_ns = snapshot->copies[i].read_ns;
        }
    }
    return 0;
}

static int prepare(struct snapshot *snapshot, struct sampling *sampling)
{
    snapshot->count = sampling->count;
    snapshot->copies = calloc(snapshot->count, sizeof *snapshot->copies);
    snapshot->copied = calloc(snapshot->count, sizeof *snapshot->copied);
    if (!snapshot->copies || !snapshot->copied) {
        return -1;
    }
    for (size_t i = 0; i < snapshot->count; i++) {
        int failed;

        pthread_mutex_lock(&sampling->lanes[i].lock);
        failed = make_room(&snapshot->copies[i], &sampling->components[i]);
        pthread_mutex_unlock(&sampling->lanes[i].lock);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

/* Until it is done or the deadline has passed; UINT64_MAX: there is none. @return whether it is. */
static bool wait_until(struct snapshot *snapshot, uint64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                      .tv_nsec = (long)(deadline_ns % NS_PER_S)};

    while (!atomic_load(&snapshot->done) && clock_monotonic_ns() < deadline_ns) {
        syscall(SYS_futex, &snapshot->done, FUTEX_WAIT_BITSET_PRIVATE, 0,
                deadline_ns == UINT64_MAX ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
    }
    return atomic_load(&snapshot->done);
}

static int await(struct snapshot *snapshot, struct sampling *sampling)
{
    sampling_show(sampling, snapshot);
    if (!wait_until(snapshot, clock_monotonic_ns() + WAIT_NS)) {
        if (sampling_hide(sampling)) {
            return -1;
        }
        wait_until(snapshot, UINT64_MAX); /* it is at it */
    }
    return 0;
}

int snapshot_make(struct snapshot *snapshot, struct sampling *sampling)
{
    int error = ENOMEM;

    memset(snapshot, 0, sizeof *snapshot);
    if (prepare(snapshot, sampling) == 0) {
        error = await(snapshot, sampling) ? ETIMEDOUT : 0;
    }
    if (!error && take_lanes(snapshot, sampling)) {
        error = ENOMEM;
    }
    if (error) {
        snapshot_free(snapshot);
        errno = error;
        return -1;
    }
    return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; snapshot->copies && i < snapshot->count; i++) {
        free_room(&snapshot->copies[i]);
    }
    free(snapshot->copies);
    free(snapshot->copied);
}
