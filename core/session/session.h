/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H
#include "apapi/session.h"
#include "session/component.h"

/** Have on_reading() called for all readings, also of probes. Before the session is started. */
void session_listen(struct apapi_session *session, session_reading_f on_reading, void *context);

/**
 * Have a component read as soon as its source is free, by a reading that begins after this call.
 * One reading answers all requests that come before it begins. Does not wait. Any thread. Nothing
 * happens if the session does not run.
 * @param component  NULL: all
 * @param count      the reading counts as usual ones do, and on_sample() gets it; else on_reading()
 *                   of session_listen() alone gets it
 */
void session_read_now(struct apapi_session *session, const char *component, bool count);

/* For tests and simulated time. */

/**
 * apapi_session_create() with another clock.
 * @param clock  outlives the session; NULL: the system's
 */
struct apapi_session *session_create(const struct apapi_session_config *config,
                                     struct session_clock *clock, struct apapi_error *err);

struct overflow_sum;

/** @return the sum of a domain (NONE: of the node) that thresholds see, while there are any. */
const struct overflow_sum *session_sum(const struct apapi_session *session,
                                       enum apapi_domain domain);

/** Call the handlers of crossed thresholds. In simulated time no thread does this. */
void session_tell(struct apapi_session *session);

#endif
