/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_TURN_H
#define SOURCES_TURN_H
#include "apapi/source.h"

/*
 * open() and close() of one source are called by one thread at a time, and a call that does not
 * come back within a second holds up nobody for longer.
 */

/** @return as apapi_source.open; NULL with errno EBUSY: another thread is stuck in the source. */
struct apapi_reader *source_open(const struct apapi_source *source, const char *component,
                                 struct apapi_error *err);

/** Close; what cannot be closed because a thread is stuck in its source is left open. */
void source_close(struct apapi_reader *reader);

#endif
