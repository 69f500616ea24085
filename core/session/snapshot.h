/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SNAPSHOT_H
#define SESSION_SNAPSHOT_H
#include <stddef.h>
#include <stdint.h>

#include "session/component.h"

struct sampling;

/** All components as they were after a reading, while their workers read on. */
struct snapshot {
    struct component *copies; /* for component_finish() */
    size_t count;
    uint64_t read_ns; /* the latest reading of all; 0: none in this run */
    uint64_t cpu_ns;  /* CPU time of all threads in this run */
};

/**
 * Between sampling_start() and sampling_stop(): copy all components. Waits for no source.
 * @return 0, to be freed; -1 with errno ENOMEM.
 */
int snapshot_make(struct snapshot *snapshot, struct sampling *sampling);

void snapshot_free(struct snapshot *snapshot);

#endif
