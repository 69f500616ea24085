/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_file.h"
#include "events/problems.h"
#include "events/selection.h"

struct apapi_eventlist {
    char *text; /* the entries point into it */
    size_t count, room;
    struct apapi_listed *entries;
};

static int eventlist_add(struct apapi_eventlist *list, const struct event_line *line)
{
    if (array_add(&list->entries, list->count, &list->room, sizeof *list->entries)) {
        return -1;
    }
    list->entries[list->count++] = (struct apapi_listed){line->text, line->number};
    return 0;
}

static const char *find_control(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == '\x7f') {
            return text;
        }
    }
    return NULL;
}

static int check_line(struct problems *problems, const struct event_line *line)
{
    const char *control = find_control(line->text);

    if (strlen(line->text) > APAPI_EVENTS_LINE_MAX) {
        problems_error(problems, line, line->text, "expected the name of an event, found %zu bytes",
                       strlen(line->text));
        return -1;
    }
    if (control) {
        problems_error(problems, line, control,
                       "expected the name of an event, found byte 0x%02x in %s",
                       (unsigned)(unsigned char)*control, quote(line->text).text);
        return -1;
    }
    if (strstr(line->text, ",APAPI_OP1_")) {
        problems_error(problems, line, line->text,
                       "expected the name of an event, found a definition (those belong into the "
                       "file that APAPI_EVENTOPS names): %s",
                       quote(line->text).text);
        return -1;
    }
    return 0;
}

static int eventlist_parse_lines(struct apapi_eventlist *list, struct problems *problems,
                                 struct apapi_error *err)
{
    struct event_lines lines = event_lines_of(list->text);
    struct event_line line;

    while (event_lines_next(&lines, &line)) {
        if (check_line(problems, &line) == 0 && eventlist_add(list, &line)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return problems_finish(problems, err);
}

/* Takes ownership of the text. */
static struct apapi_eventlist *eventlist_create(char *text, struct problems *problems,
                                                struct apapi_error *err)
{
    struct apapi_eventlist *list = text ? calloc(1, sizeof *list) : NULL;

    if (!list) {
        if (text) {
            apapi_fail(err, ENOMEM, "no memory");
            free(text);
        }
        return NULL;
    }
    list->text = text;
    if (eventlist_parse_lines(list, problems, err)) {
        apapi_eventlist_destroy(list);
        return NULL;
    }
    return list;
}

struct apapi_eventlist *apapi_eventlist_read(const char *path,
                                             const struct apapi_problem_sink *sink,
                                             struct apapi_error *err)
{
    struct problems problems = {.file = path, .sink = sink};

    return eventlist_create(event_text_read(path, err), &problems, err);
}

struct apapi_eventlist *apapi_eventlist_parse(const char *name, const char *text, size_t size,
                                              const struct apapi_problem_sink *sink,
                                              struct apapi_error *err)
{
    struct problems problems = {.file = name, .sink = sink};

    return eventlist_create(event_text_copy(name, text, size, err), &problems, err);
}

size_t apapi_eventlist_count(const struct apapi_eventlist *list)
{
    return list ? list->count : 0;
}

const struct apapi_listed *apapi_eventlist_at(const struct apapi_eventlist *list, size_t index)
{
    return index < apapi_eventlist_count(list) ? &list->entries[index] : NULL;
}

bool apapi_listed_names(const struct apapi_listed *listed, const char *component)
{
    size_t length = strlen(component);

    return length > 0 && strncmp(listed->name, component, length) == 0 &&
           (listed->name[length] == '\0' || strchr(":*?[", listed->name[length]));
}

void apapi_eventlist_destroy(struct apapi_eventlist *list)
{
    int saved = errno;

    if (list) {
        free(list->entries);
        free(list->text);
        free(list);
    }
    errno = saved;
}
