/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIST_H
#define APAPI_LIST_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/catalog.h"
#include "cli/wanted.h"

#define DESCRIPTION_SIZE 160

/** How often a counter moves, by a look at it. At most one of them is known, the others are 0. */
struct listed_update {
    double measured_s;
    double below_s; /* each reading found it moved */
    double above_s; /* it moved once at most */
};

/** What `apapi list` knows of an event. Unknown texts are "", other unknown numbers NaN. */
struct listed_event {
    struct apapi_event event;
    size_t slot; /* in the reader's events */
    struct listed_update update;
    char description[DESCRIPTION_SIZE];
    double range;   /* where a counter wraps [event.unit] */
    double width;   /* of a counter's raw values [bits] */
    double guard_s; /* it is read at least so often, as it would wrap unseen [s] */
    double value;   /* of one reading [event.unit] */
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
    bool events;  /* list_print_names(): of events */
};

/**
 * Read an open component again and again, for up to a second, and see how often its counters move.
 * @return 0; -1 with errno ENOMEM.
 */
int list_look_at_updates(const struct listed *listed);

/** @return 0; -1 with errno ENOMEM. */
int list_print_names(const struct listed *components, size_t count, const struct list_view *view);
int list_print_text(const struct listed *components, size_t count, const struct list_view *view);
int list_print_json(const struct listed *components, size_t count, const struct list_view *view);

#endif
