/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_RING_H
#define TRACE_RING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"

/** One reading of one event. */
struct ring_row {
    const struct apapi_event *event; /* must outlive the ring */
    uint64_t time_ns;                /* since the start of the run [ns] */
    uint64_t raw;
    double value; /* in event->unit; NaN: none */
    unsigned run; /* from 1 */
    int error;    /* errno; 0: none */
};

/**
 * Rows on their way from one thread, or several with a lock, to another thread (opaque). Neither
 * side waits for the other.
 */
struct ring;

/**
 * @param capacity  rows, a power of two
 * @return free it with ring_destroy(); NULL with errno ENOMEM. A forked child does not inherit it.
 */
struct ring *ring_create(size_t capacity);

/** Free. NULL is allowed. */
void ring_destroy(struct ring *ring);

/**
 * Producer: reserve `count` rows.
 * @return false: no room; they are counted as dropped
 */
bool ring_reserve(struct ring *ring, size_t count);

/** Producer: the reserved row number `index`, to be filled. */
struct ring_row *ring_reserved(struct ring *ring, size_t index);

/** Producer: publish the reserved rows. */
void ring_publish(struct ring *ring, size_t count);

/** Consumer: take the oldest row. @return false: none. */
bool ring_take(struct ring *ring, struct ring_row *row);

/** @return rows that were dropped. */
uint64_t ring_dropped(const struct ring *ring);

#endif
