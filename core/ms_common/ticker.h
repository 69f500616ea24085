/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_TICKER_H
#define MS_COMMON_TICKER_H
#include <stdint.h>

/** A thread that calls a function at an interval. It receives no signals. */
struct ticker;

/** @return CLOCK_MONOTONIC [ns] */
uint64_t ticker_now_ns(void);

typedef void (*ticker_f)(void *context);

/** @return stop it with ticker_stop(). NULL: no thread, or no memory */
struct ticker *ticker_start(uint64_t interval_ns, ticker_f call, void *context);

/** End the thread at once, but after a call. NULL is allowed. */
void ticker_stop(struct ticker *ticker);

#endif
