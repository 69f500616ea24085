/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_MACHINE_H
#define MS_COMMON_MACHINE_H
#include <stdint.h>

#include "ms_common/interface.h"

/*
 * The kernel's figures of the processors: temperatures, frequencies, time at work and memory. One
 * thread at a time.
 */

struct machine;

/** @return free it with machine_close(). NULL: no memory */
struct machine *machine_open(void);

/** Forget what was read. */
void machine_start(struct machine *machine);

/**
 * Read, and store in `cpu` the latest values and those since the start: sums, means, the greatest.
 * Times of the kernel move every 10 ms: nothing is read again before that.
 * @param parts   enum part: what to read
 * @param now_ns  CLOCK_MONOTONIC [ns]
 */
void machine_read(struct machine *machine, unsigned parts, uint64_t now_ns, struct ms_cpu *cpu);

/** NULL is allowed. */
void machine_close(struct machine *machine);

#endif
