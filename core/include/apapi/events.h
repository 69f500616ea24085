/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_EVENTS_H
#define APAPI_EVENTS_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/*
 * Event lists say which events are measured. Event definitions ("eventops") say what their values
 * mean. A session takes both as struct apapi_event_rules. events.md describes the files. All
 * functions here may be called from any thread, except apapi_environment_read(); those that read or
 * parse allocate.
 */

#define APAPI_EVENTS_FILE_MAX 10000000 /* longest file [bytes] */
#define APAPI_EVENTS_LINE_MAX 4095     /* longest line [bytes]; comments may be longer */
#define APAPI_PROBLEMS_MAX 100 /* most errors reported for one file; also the most warnings */

/** An error or a warning in a line of a file. Valid only during the call of report(). */
struct apapi_problem {
    size_t line;      /* from 1; 0: the text gives the number of problems that are not reported */
    size_t column;    /* in characters, from 1; 0 if line is 0 */
    bool warning;     /* the line is used nevertheless */
    const char *text; /* one line to print: "FILE:LINE:COLUMN: expected ..., found ..." */
};

/** Receives the problems of a file in the order of its lines. */
struct apapi_problem_sink {
    void (*report)(const struct apapi_problem *problem, void *context);
    void *context; /* for report() */
};

/** Event definitions in the order of their file. Opaque; never changes after it was read. */
struct apapi_eventops;

/** An event list in the order of its file. Opaque; never changes after it was read. */
struct apapi_eventlist;

/**
 * Read a file of event definitions. One bad line makes the whole file unusable; all bad lines are
 * reported. A FIFO or a device is refused and never blocks.
 * @param sink  NULL: the first problem is in `err` only
 * @return the definitions, for apapi_eventops_destroy(). NULL with errno; `err` names the file
 *         EINVAL  a bad line, an empty file, not a text, or not a regular file
 *         EISDIR  a folder
 *         EFBIG   more than APAPI_EVENTS_FILE_MAX bytes
 *         ENOMEM, or an error of open(2) or read(2)
 */
APAPI_API struct apapi_eventops *apapi_eventops_read(const char *path,
                                                     const struct apapi_problem_sink *sink,
                                                     struct apapi_error *err);

/**
 * Parse event definitions from memory. Result and errors are those of apapi_eventops_read().
 * @param name  stands for the file in messages
 * @param text  `size` bytes; copied, a NUL at the end is not needed
 */
APAPI_API struct apapi_eventops *apapi_eventops_parse(const char *name, const char *text,
                                                      size_t size,
                                                      const struct apapi_problem_sink *sink,
                                                      struct apapi_error *err);

/** Free event definitions. NULL is allowed. errno is preserved. */
APAPI_API void apapi_eventops_destroy(struct apapi_eventops *eventops);

/** Like apapi_eventops_read(), for an event list. @return it, for apapi_eventlist_destroy() */
APAPI_API struct apapi_eventlist *apapi_eventlist_read(const char *path,
                                                       const struct apapi_problem_sink *sink,
                                                       struct apapi_error *err);

/** Like apapi_eventops_parse(), for an event list. @return it, for apapi_eventlist_destroy() */
APAPI_API struct apapi_eventlist *apapi_eventlist_parse(const char *name, const char *text,
                                                        size_t size,
                                                        const struct apapi_problem_sink *sink,
                                                        struct apapi_error *err);

/** Free an event list. NULL is allowed. errno is preserved. */
APAPI_API void apapi_eventlist_destroy(struct apapi_eventlist *list);

/** The environment variables that choose events. The texts belong to the environment. */
struct apapi_environment {
    const char *eventlist;  /* APAPI_EVENTLIST, a path; NULL: not set, or empty */
    const char *eventops;   /* APAPI_EVENTOPS, a path; NULL: not set, or empty */
    const char *components; /* APAPI_CMPLIST; NULL: not set; may be empty */
    long verbose;           /* APAPI_VERBOSE; 0: not set, or not an integer */
    bool softfail;          /* APAPI_SOFTFAIL is an integer other than 0 */
};

/**
 * Read the environment. errno is preserved. Thread-safety: as getenv(3).
 * @param environment  result; its texts are valid until the environment changes
 */
APAPI_API void apapi_environment_read(struct apapi_environment *environment);

/** The event lists and definitions of a session. Any member may be NULL: there is no such file. */
struct apapi_event_rules {
    struct apapi_eventlist *user_list;
    struct apapi_eventlist *default_list; /* the site's */
    struct apapi_eventops *user_ops;
    struct apapi_eventops *default_ops; /* the site's */
};

/**
 * Read the user's files, and the site's default_eventlist.txt and default_eventops.csv. A default
 * file that does not exist is no error. A default file that this user may not read is reported
 * and left out. With environment->softfail a bad default file is reported and left out, too.
 * @param rules           result; empty it with apapi_event_rules_clear(). Set on success only
 * @param environment     names the user's files
 * @param default_folder  folder of the default files; NULL: none
 * @param sink            NULL: the first problem is in `err` only
 * @return 0; -1 with errno as apapi_eventops_read(); `err` names the file
 */
APAPI_API int apapi_event_rules_load(struct apapi_event_rules *rules,
                                     const struct apapi_environment *environment,
                                     const char *default_folder,
                                     const struct apapi_problem_sink *sink,
                                     struct apapi_error *err);

/** Free all members of `rules` and set them to NULL. NULL is allowed. errno is preserved. */
APAPI_API void apapi_event_rules_clear(struct apapi_event_rules *rules);

APAPI_END_C
#endif
