/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_OVERFLOW_DELIVER_H
#define SESSION_OVERFLOW_DELIVER_H
#include "session/session_common.h"

/*
 * The thread that calls the handlers of thresholds. In simulated time there is none: then
 * overflow_tell(), overflow_flush() and overflow_await_left() call them.
 */

/** With the mutex of the overflows: have a thread. @return 0; -1 with errno EAGAIN. */
int overflow_start(struct session_common *common);

/** @return whether the caller is that thread: a handler. */
bool overflow_is_handler(const struct overflows *overflows);

/** Simulated time: call the handlers of all that was crossed. */
void overflow_tell(struct session_common *common);

/** Wait until all is told, but not in a handler. */
void overflow_flush(struct session_common *common, uint64_t patience_ns);

/**
 * With the mutex of the overflows: wait until all is told of a threshold that was removed, but not
 * in a handler.
 * @return 0; -1 with errno EBUSY: it has taken too long, and the rest is dropped
 */
int overflow_await_left(struct session_common *common, int number, uint64_t patience_ns);

/** Begin no further call of a handler. */
void overflow_dismiss(struct session_common *common);

/** Wait until that thread has ended; if a handler hangs, it is left to itself. */
void overflow_end(struct session_common *common, uint64_t deadline_ns);

#endif
