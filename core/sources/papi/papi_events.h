/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_EVENTS_H
#define APAPI_SOURCES_PAPI_EVENTS_H
#include <papi.h>
#include <stdbool.h>

#include "apapi/event.h"

/**
 * What PAPI's event is about: by the unit that PAPI gives, or where that is known to be missing or
 * wrong, by a rule of our own. An unknown unit stays as it is, and its event is a count. Events of
 * component rapl that are no energy, and their raw counts, are each a register more to read: only
 * lists bring them in, see wanted_events.h.
 * @return false: the event is known to be of no use here, or no list names it.
 */
bool papi_event_describe(const PAPI_event_info_t *info, const char *name,
                         struct apapi_event *event);

/** @return whether the event is one that only lists bring in. */
bool papi_event_is_named_only(const char *name);

#endif
