/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENTS_ENTRIES_H
#define EVENTS_ENTRIES_H
#include "events/problems.h"

/** What the lines of a file say. */
struct event_entries {
    char *text;       /* the elements point into it */
    const char *file; /* its name */
    size_t count, room;
    void *list;
};

/**
 * Parse the text of a file, which is freed with the elements; its name is copied.
 * @param text   NULL: errno and `err` say why
 * @param size   of an element [bytes]
 * @param parse  sets an element from a line. 0; -1: the line was reported
 * @return a struct event_entries, for event_entries_destroy(); NULL with errno EINVAL, ENOMEM.
 */
void *event_entries_create(char *text, size_t size,
                           int (*parse)(struct problems *problems, const struct event_line *line,
                                        void *entry),
                           struct problems *problems, struct apapi_error *err);

/** Free. NULL is allowed. errno is preserved. */
void event_entries_destroy(struct event_entries *entries);

#endif
