/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_METERS_H
#define MS_COMMON_METERS_H
#include "apapi/events.h"
#include "apapi/session.h"
#include "ms_common/choice.h"
#include "ms_common/target.h"

/* The session that reads the meters of all resources with WAY_METER. */

struct meters {
    const char *order; /* APAPI_SOURCES */
    struct apapi_environment environment;
    struct apapi_event_rules rules; /* without lists: whatever has a field is measured */
    bool old_events;                /* the user has a list: look for the original's events, too */
    struct apapi_session *session;  /* NULL: there is nothing for it */
    char components[RESOURCES * APAPI_COMPONENT_SIZE];
    struct apapi_intervals intervals;
};

/** Read the environment and the user's files of events. @return 0; -1: a bad file, which is said */
int meters_init(struct meters *meters);

/**
 * Open what the targets need. A session for the same components and intervals stays open.
 * @param on_sample, context  as in struct apapi_session_config
 * @return 0; -1: nothing is open, and it is said why
 */
int meters_open(struct meters *meters, const struct choice choices[RESOURCES],
                const struct target targets[RESOURCES], apapi_sample_f on_sample, void *context);

void meters_clear(struct meters *meters);

#endif
