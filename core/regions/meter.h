/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_METER_H
#define REGIONS_METER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/event.h"
#include "regions/frame.h"

/*
 * What the node's meters count while a thread is in a region: from the live page, whose figures are
 * taken at most once for each reading of the meters. So only the regions that last from one
 * reading to another one are measured. The energy at their begin and end is interpolated between
 * the readings before and after.
 */

struct meter {
    const uint64_t *news; /* changes with each reading */
    uint64_t seen;        /* its value at the latest one that was taken */
    uint32_t measured;    /* frames from 1 to here began before that */
};

/** For a thread whose regions are not measured: it never has a new reading. */
extern struct meter meter_none __attribute__((visibility("hidden")));

/** @return the meter of the thread that has a slot now; or &meter_none. Allocates. */
struct meter *meter_open(uint32_t slot);

/** Take the figures of a new reading. @param frames  of the thread, from 1 to `depth` */
void meter_take(struct meter *meter, const struct stack_frame *frames, uint32_t depth);

/** End the frame number meter->measured. @param now  [ticks] */
void meter_end(struct meter *meter, const struct stack_frame *frame, uint64_t now);

/**
 * Copy what a node of a slot has used, with its inner regions.
 * @param ticks     time of the slot's threads in it
 * @param energy_j  result; NaN: not known, as most of the time was in passes that were too short
 */
void meter_copy(uint32_t slot, uint32_t node, uint64_t ticks, double energy_j[APAPI_DOMAINS]);

/** In the child of a fork: forget all. */
void meter_forget(void);

static inline bool meter_has_news(const struct meter *meter)
{
    return __atomic_load_n(meter->news, __ATOMIC_RELAXED) != meter->seen;
}

#endif
