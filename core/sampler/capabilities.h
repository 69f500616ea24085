/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_CAPABILITIES_H
#define SAMPLER_CAPABILITIES_H
#include <stdint.h>

/** A set of capabilities: bit CAP_... is 1. */
#define CAPABILITY(name) (UINT64_C(1) << (name))

/** For reading meters, and for the site's folders. */
extern const uint64_t capabilities_measure;
/** For processes of the user, for the site's priority, and for dropping more later. */
extern const uint64_t capabilities_prepare;

/** Drop all other capabilities of this thread, but not from its bounding set. As below otherwise.
 */
void capabilities_drop(uint64_t needed);

/**
 * Drop all other capabilities of this thread from all its sets, the bounding set included: nothing
 * that it executes has them either. Does nothing for an ordinary user. Call it before there are
 * other threads.
 */
void capabilities_keep(uint64_t needed);

#endif
