/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_RING_H
#define TRACE_RING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"

/** One reading of one event. */
struct ring_row {
    const struct apapi_event *event; /* outlives the ring's use */
    uint64_t time_ns;                /* since the start of the run [ns] */
    uint64_t raw;
    double value; /* in event->unit; NaN: none */
    unsigned run; /* from 1 */
    int error;    /* errno; 0: none */
};

/**
 * Rows on their way from one thread, or from several that take turns, to one other (opaque).
 * Neither waits for the other.
 */
struct ring;

/**
 * @param capacity  rows, a power of two
 * @return freed by ring_destroy(); NULL with errno ENOMEM. A forked child does not have it.
 */
struct ring *ring_create(size_t capacity);

/** Free. NULL is allowed. */
void ring_destroy(struct ring *ring);

/**
 * Producer: begin to write `count` rows.
 * @return false: there is no room; they are counted as dropped
 */
bool ring_reserve(struct ring *ring, size_t count);

/** Producer: the `index`-th of the reserved rows, to be filled. */
struct ring_row *ring_reserved(struct ring *ring, size_t index);

/** Producer: hand over the reserved rows. */
void ring_publish(struct ring *ring, size_t count);

/** Consumer: take the oldest row. @return false: there is none. */
bool ring_take(struct ring *ring, struct ring_row *row);

/** @return rows that found no room. */
uint64_t ring_dropped(const struct ring *ring);

#endif
