/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_SELECTION_H
#define APAPI_CONFIG_SELECTION_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/event.h"
#include "apapi/events.h"

/** One line of an event list. Owned by its struct apapi_eventlist. */
struct apapi_listed {
    const char *name; /* an event or a pattern */
    const char *file;
    size_t line; /* in its file */
};

/** "FILE:LINE"; a long path is shortened to its end. */
struct listed_place {
    char text[112];
};

struct listed_place apapi_listed_place(const struct apapi_listed *listed);

/** @return entry number `index` in the order of the file, NULL beyond the last or of NULL. */
const struct apapi_listed *apapi_eventlist_at(const struct apapi_eventlist *list, size_t index);

/** @return whether the entry begins with the whole name of the component. */
bool apapi_listed_names(const struct apapi_listed *listed, const char *component);

/** The list that chose a component's events. */
enum apapi_choice { APAPI_CHOICE_ALL, APAPI_CHOICE_DEFAULT, APAPI_CHOICE_USER };

/** The events of a component that are to be measured. */
struct apapi_selection {
    enum apapi_choice choice;
    size_t count;
    size_t *indices; /* of the chosen events; each at most once, in the order of the list */
    size_t unmatched_count;
    const struct apapi_listed **unmatched; /* the user's entries that name this component and fit no
                                              event; the entries live as long as the user's list */
};

/**
 * Choose among the events of a component. A list speaks of a component if an entry begins with its
 * name or fits one of its events. If the user's list speaks of the component, its events are
 * chosen, even if that is none. Otherwise the events of the default list are chosen; if they are
 * none, all.
 * @param rules      NULL: all events
 * @param selection  set on success only; emptied by apapi_selection_clear()
 * @return 0; -1 with errno ENOMEM.
 */
int apapi_event_rules_select(const struct apapi_event_rules *rules, const char *component,
                             const struct apapi_event *events, size_t count,
                             struct apapi_selection *selection);

/** Free what `selection` owns and empty it. NULL is allowed. errno is preserved. */
void apapi_selection_clear(struct apapi_selection *selection);

#endif
