/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_WORKER_STEP_H
#define SESSION_WORKER_STEP_H
#include "session/worker_parts.h"

/*
 * What its thread does, and in simulated time whoever plays the thread. The mutex is held; during
 * a call into a source it is not.
 */

/**
 * Do what is due: one call into a source, or account for the one before.
 * @return when to call it again, unless `changed` is signalled before [ns]; 0: at once. When
 *         `ended` is set: never; the caller unlocks and calls common_release().
 */
uint64_t worker_step(struct worker *worker);

#endif
