/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SESSION_CREATE_H
#define SESSION_SESSION_CREATE_H
#include "apapi/session.h"
#include "session/session_clock.h"

/**
 * apapi_session_create() with a clock of one's own, for tests.
 * @param clock  outlives the session; NULL: the system's
 */
struct apapi_session *session_create(const struct apapi_session_config *config,
                                     struct session_clock *clock, struct apapi_error *err);

/** Simulated time, in which no thread does it: call the handlers of what was crossed. */
void session_tell(struct apapi_session *session);

#endif
