/* SPDX-License-Identifier: BSD-3-Clause */
/* Single producer, single consumer: each writes one index and reads the other's. */
#include "trace/ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CACHE_LINE 64

struct ring {
    _Alignas(CACHE_LINE) atomic_size_t written; /* rows written so far */
    atomic_uint_fast64_t dropped;
    struct ring_row *rows; /* mapped; not inherited by a child */
    size_t capacity;
    _Alignas(CACHE_LINE) atomic_size_t taken; /* rows taken so far */
};

struct ring *ring_create(size_t capacity)
{
    struct ring *ring = aligned_alloc(CACHE_LINE, sizeof *ring);
    void *rows = mmap(NULL, capacity * sizeof *ring->rows, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (!ring || rows == MAP_FAILED) {
        free(ring);
        if (rows != MAP_FAILED) {
            munmap(rows, capacity * sizeof *ring->rows);
        }
        return NULL;
    }
    madvise(rows, capacity * sizeof *ring->rows, MADV_DONTFORK);
    ring->rows = rows;
    ring->capacity = capacity;
    atomic_init(&ring->written, 0);
    atomic_init(&ring->dropped, 0);
    atomic_init(&ring->taken, 0);
    return ring;
}

void ring_destroy(struct ring *ring)
{
    if (ring) {
        munmap(ring->rows, ring->capacity * sizeof *ring->rows);
        free(ring);
    }
}

bool ring_reserve(struct ring *ring, size_t count)
{
    size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    size_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);

    if (written - taken + count > ring->capacity) {
        atomic_fetch_add_explicit(&ring->dropped, count, memory_order_relaxed);
        return false;
    }
    return true;
}

struct ring_row *ring_reserved(struct ring *ring, size_t index)
{
    size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);

    return &ring->rows[(written + index) & (ring->capacity - 1)];
}

void ring_publish(struct ring *ring, size_t count)
{
    size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);

    atomic_store_explicit(&ring->written, written + count, memory_order_release);
}

bool ring_take(struct ring *ring, struct ring_row *row)
{
    size_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);

    if (taken == atomic_load_explicit(&ring->written, memory_order_acquire)) {
        return false;
    }
    *row = ring->rows[taken & (ring->capacity - 1)];
    atomic_store_explicit(&ring->taken, taken + 1, memory_order_release);
    return true;
}

uint64_t ring_dropped(const struct ring *ring)
{
    return atomic_load_explicit(&ring->dropped, memory_order_relaxed);
}
