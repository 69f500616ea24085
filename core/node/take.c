/* SPDX-License-Identifier: BSD-3-Clause */
/* What the meters have counted since somebody looked. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "node/gpus.h"
#include "node/meters.h"

bool node_meters_are_newer(struct node_meters *meters, uint64_t since_ns)
{
    bool newer = true;

    pthread_mutex_lock(&meters->mutex);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        newer &= meters->seen_ns[d] == 0 || meters->seen_ns[d] >= since_ns;
    }
    pthread_mutex_unlock(&meters->mutex);
    return newer;
}

static bool take_is_gpu(const struct apapi_live_event *event, enum apapi_kind kind)
{
    return event->domain == APAPI_DOMAIN_GPU && event->kind == (uint32_t)kind &&
           event->accumulates == (kind == APAPI_KIND_ENERGY);
}

/* Gauges of power count only where there is no counter of energy. */
static enum apapi_kind take_gpu_kind(const struct apapi_live_page *live)
{
    for (uint32_t i = 0; i < apapi_live_event_count(live); i++) {
        if (take_is_gpu(&live->names[i], APAPI_KIND_ENERGY)) {
            return APAPI_KIND_ENERGY;
        }
    }
    return APAPI_KIND_POWER;
}

static void take_gpu(struct node_meters *meters, const struct apapi_live_slot *slot, int index,
                     struct node_reading *reading)
{
    double before_j = meters->taken_gpu_j[index];

    if (isnan(slot->total)) {
        return;
    }
    reading->gpu_energy_j[index] = slot->total - (slot->total < before_j ? 0 : before_j);
    meters->taken_gpu_j[index] = slot->total;
    reading->gpus = (unsigned)index >= reading->gpus ? (unsigned)index + 1 : reading->gpus;
}

static void take_gpus(struct node_meters *meters, struct node_reading *reading)
{
    const struct apapi_live_page *live = meters->live;
    enum apapi_kind kind = take_gpu_kind(live);

    for (int i = 0; i < NODE_GPUS; i++) {
        reading->gpu_energy_j[i] = NAN;
    }
    for (uint32_t i = 0; i < apapi_live_event_count(live); i++) {
        struct apapi_live_slot slot;
        int index = take_is_gpu(&live->names[i], kind) ? node_gpu_index(live->names[i].name) : -1;

        if (index >= 0 && apapi_live_read(&live->events[i], &slot)) {
            take_gpu(meters, &slot, index, reading);
        }
    }
}

static double take_domain(struct node_meters *meters, int domain)
{
    double total_j = meters->state.now.total_j[domain], before_j = meters->taken_j[domain];

    meters->taken_j[domain] = total_j;
    return isnan(total_j) ? NAN : total_j - (isnan(before_j) ? 0 : before_j);
}

bool node_meters_take(struct node_meters *meters, struct node_reading *reading)
{
    uint64_t now_ns = 0;

    memset(reading, 0, sizeof *reading);
    pthread_mutex_lock(&meters->mutex);
    reading->begin_ns = meters->taken_ns;
    reading->end_ns = meters->taken_ns = meters->state.now.time_ns;
    reading->resets = meters->resets;
    reading->gap = meters->gap;
    if (reading->end_ns > reading->begin_ns) {
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            reading->energy_j[d] = take_domain(meters, d);
        }
        take_gpus(meters, reading);
        meters->resets = 0;
        meters->gap = false;
    }
    pthread_mutex_unlock(&meters->mutex);
    clock_pair(&reading->end_unix_ns, &now_ns);
    reading->end_unix_ns -= (int64_t)(now_ns - reading->end_ns);
    return reading->begin_ns > 0 && reading->end_ns > reading->begin_ns;
}
