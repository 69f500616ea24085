/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SESSION_NOW_H
#define SESSION_SESSION_NOW_H
#include <stdbool.h>

#include "apapi/session.h"
#include "apapi/source.h"
#include "measure/moment.h"

/* Readings for others: raw values as they come, and readings at any moment. */

/** What a source returned. Nothing outlives the call. */
struct session_reading {
    const char *component;
    const struct apapi_reader *reader;
    const struct apapi_reading *raw; /* of reader->events */
    struct apapi_moment when;
};

/** Called by the thread that has read. It must not block, and calls nothing of the session. */
typedef void (*session_reading_f)(const struct session_reading *reading, void *context);

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

#endif
