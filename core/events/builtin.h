/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENTS_BUILTIN_H
#define EVENTS_BUILTIN_H
#include "events/definition.h"

/**
 * @return the built-in definition for the event's kind, used if no file defines it. Static storage.
 */
const struct apapi_definition *event_builtin_definition(const struct apapi_event *event);

#endif
