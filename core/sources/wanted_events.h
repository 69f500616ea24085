/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_WANTED_EVENTS_H
#define SOURCES_WANTED_EVENTS_H
#include <stdbool.h>

#include "apapi/source.h"

/*
 * Events that the users' and the site's lists name: "rapl:::THERMAL_SPEC:*". A pattern for all
 * events of a component, "rapl:::*", names none. One thread at a time adds.
 */

/** Note a pattern of a list. Those beyond 512 are passed over. */
void wanted_events_add(const char *pattern);

/** @return whether a pattern names this event. */
bool wanted_events_name(const char *event);

/** @return how many patterns that name events of the component fit none of the reader's. */
size_t wanted_events_missing(const char *component, const struct apapi_reader *reader);

#endif
