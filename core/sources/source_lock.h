/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SOURCE_LOCK_H
#define SOURCES_SOURCE_LOCK_H
#include "sources/source.h"

/*
 * One thread at a time calls open() and close() of a source. A call that does not return delays
 * others for one second at most.
 */

/** @return as apapi_source.open; NULL with errno EBUSY: another thread is stuck in the source. */
struct apapi_reader *source_open(const struct apapi_source *source, const char *component,
                                 struct apapi_error *err);

/** Close. If a thread is stuck in the source, it is left open. */
void source_close(struct apapi_reader *reader);

#endif
