/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIST_H
#define APAPI_LIST_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/catalog.h"
#include "cli/wanted.h"

#define DESCRIPTION_SIZE 160

/** What `apapi list` knows of an event. Unknown texts are "", unknown numbers NaN. */
struct listed_event {
    struct apapi_event event;
    char description[DESCRIPTION_SIZE];
    double range; /* where a counter wraps [event.unit] */
    double value; /* of one reading [event.unit] */
    char error[64];
};

/** One component: opened, or the reason why not. */
struct listed {
    const struct wanted_component *wanted;
    enum listed_state { LISTED_OPEN, LISTED_UNREADABLE, LISTED_SLOW, LISTED_NAME } state;
    struct apapi_reader *reader; /* LISTED_OPEN */
    struct apapi_error reason;   /* LISTED_UNREADABLE */
    int error;                   /* the errno of it */
    struct listed_event *events; /* the wanted ones */
    size_t event_count;
};

/** Options of the output. */
struct list_view {
    bool sources; /* show all ways to read a component */
    size_t width; /* of the terminal; 0: no limit */
};

/** @return 0; -1 with errno ENOMEM. */
int list_print_text(const struct listed *components, size_t count, const struct list_view *view);
int list_print_json(const struct listed *components, size_t count, const struct list_view *view);

#endif
