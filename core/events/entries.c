/* SPDX-License-Identifier: BSD-3-Clause */
#include "events/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void *event_entries_create(char *text, size_t size,
                           int (*parse)(struct problems *problems, const struct event_line *line,
                                        void *entry),
                           struct problems *problems, struct apapi_error *err)
{
    size_t name_size = strlen(problems->file) + 1;
    struct event_entries *entries = text ? calloc(1, sizeof *entries + name_size) : NULL;
    struct event_lines lines;
    struct event_line line;
    int result = 0;

    if (!entries) {
        if (text) {
            apapi_fail(err, ENOMEM, "no memory");
            free(text);
        }
        return NULL;
    }
    entries->text = text;
    entries->file = problems->file = memcpy(entries + 1, problems->file, name_size);
    lines = event_lines_of(text);
    while (result == 0 && event_lines_next(&lines, &line)) {
        result = array_add(&entries->list, entries->count, &entries->room, size);
        if (result == 0 &&
            parse(problems, &line, (char *)entries->list + entries->count * size) == 0) {
            entries->count++;
        }
    }
    if (result ? apapi_fail(err, ENOMEM, "no memory") : problems_finish(problems, err)) {
        event_entries_destroy(entries);
        return NULL;
    }
    return entries;
}

void event_entries_destroy(struct event_entries *entries)
{
    int saved = errno;

    if (entries) {
        free(entries->list);
        free(entries->text);
        free(entries);
    }
    errno = saved;
}
