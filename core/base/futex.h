/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_FUTEX_H
#define APAPI_BASE_FUTEX_H
#include <stdint.h>

/* Waiting for a word in memory that processes share. */

/**
 * Wait while `*word` is `value`, but not past `deadline_ns` (CLOCK_MONOTONIC). May return earlier.
 */
void futex_wait(const uint32_t *word, uint32_t value, uint64_t deadline_ns);

/** Wake all who wait for the word. */
void futex_wake(const uint32_t *word);

#endif
