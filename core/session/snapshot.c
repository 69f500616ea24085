/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/sampling.h"

/* Room for the meters and the histograms. */
static int snapshot_make_room(struct component *copy, const struct component *component)
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

/* Between two readings of a run, or as an earlier run has left it: then it is not the latest. */
static void snapshot_see_reading(struct snapshot *snapshot, const struct component *copy,
                                 uint64_t start_ns)
{
    if (copy->read_ns > snapshot->read_ns && copy->read_ns >= start_ns) {
        snapshot->read_ns = copy->read_ns;
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
    snapshot_see_reading(snapshot, copy, sampling->common.start_ns);
    return failed;
}

static int snapshot_copy_all(struct snapshot *snapshot, struct sampling *sampling)
{
    for (size_t i = 0; i < sampling->count; i++) {
        if (snapshot_copy(snapshot, sampling, i)) {
            return -1;
        }
    }
    return 0;
}

int snapshot_make(struct snapshot *snapshot, struct sampling *sampling)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->count = sampling->count;
    snapshot->copies = calloc(snapshot->count, sizeof *snapshot->copies);
    if (!snapshot->copies || snapshot_copy_all(snapshot, sampling)) {
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
        free_room(&snapshot->copies[i]);
    }
    free(snapshot->copies);
}
