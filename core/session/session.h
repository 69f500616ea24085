/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H
#include "apapi/session.h"
#include "session/component.h"

/** Have all readings told, those of probes included. Before the session is started. */
void session_listen(struct apapi_session *session, session_reading_f on_reading, void *context);

/**
 * Have a component read as soon as its source is free, by a reading that begins after this call.
 * Requests that come before it begins are answered by one. Does not wait. Any thread, as long as
 * the session runs; before and after that nothing happens.
 * @param component  NULL: all
 * @param count      it counts as usual readings do, and those who want samples get it; else
 *                   session_listen() alone tells it
 */
void session_read_now(struct apapi_session *session, const char *component, bool count);

/* For tests and simulated time. */

/**
 * apapi_session_create() with a clock of one's own, for tests.
 * @param clock  outlives the session; NULL: the system's
 */
struct apapi_session *session_create(const struct apapi_session_config *config,
                                     struct session_clock *clock, struct apapi_error *err);

struct overflow_sum;

/** For tests: what thresholds see of a domain, while there are any. @param domain  NONE: the node
 */
const struct overflow_sum *session_sum(const struct apapi_session *session,
                                       enum apapi_domain domain);

/** Simulated time, in which no thread does it: call the handlers of what was crossed. */
void session_tell(struct apapi_session *session);

#endif
