/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SNAPSHOT_H
#define SESSION_SNAPSHOT_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "session/component.h"

struct sampling;

/** All components as they were after a reading, while their threads read on. */
struct snapshot {
    struct component *copies; /* for component_finish() */
    bool *copied;             /* by the thread for all */
    size_t count;
    uint64_t read_ns; /* the latest reading of all; 0: none in this run */
    uint64_t cpu_ns;  /* CPU time of all threads in this run */
    atomic_int done;  /* the thread for all has copied what it reads */
};

/**
 * Between sampling_start() and sampling_stop(): let the thread for all copy what it reads between
 * two of its readings, then copy what others read.
 * @return 0, to be freed; -1 with errno ENOMEM, ETIMEDOUT (the thread for all hangs in a source).
 */
int snapshot_make(struct snapshot *snapshot, struct sampling *sampling);

void snapshot_free(struct snapshot *snapshot);

/** For the thread for all: copy what it reads. Does not allocate or lock. */
void snapshot_take(struct snapshot *snapshot, const struct sampling *sampling);

#endif
