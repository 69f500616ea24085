/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENTS_FIELDS_H
#define EVENTS_FIELDS_H
#include "events/definition.h"
#include "events/problems.h"

/**
 * Parse one line of a definitions file. Reports all bad fields.
 * @param definition  set on success only; points into the line
 * @return 0; -1 if the line is bad.
 */
int event_fields_parse(struct problems *problems, const struct event_line *line,
                       struct apapi_definition *definition);

#endif
