/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_EVENTS_H
#define APAPI_EVENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Which events are measured (event lists) and what their values mean (event definitions,
 * "eventops"). docs/events.md describes the files for users.
 */

#define APAPI_EVENTS_FILE_MAX 10000000 /* bytes of a file */
#define APAPI_EVENTS_LINE_MAX 4095     /* bytes of a line; comments may be longer */
#define APAPI_PROBLEMS_MAX 100         /* errors of a file that are told one by one, and warnings */

/** How value1 comes from value0. */
enum apapi_operation {
    APAPI_OP1_NOP,
    APAPI_OP1_SAMPLE_DIFF,             /* this value0 less the one before */
    APAPI_OP1_DIV_DIFF_TIME,           /* value0 / time: power from energy */
    APAPI_OP1_SAMPLE1_MUL_DIFF_TIME,   /* value0 x time: energy from power, rectangle */
    APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME /* mean of two value0 x time: the same, trapezoid */
};

/** Statistics of a value, as bits; the same as enum apapi_shown. */
enum apapi_stat {
    APAPI_STAT_NO = 0,
    APAPI_STAT_MIN = 1,
    APAPI_STAT_MAX = 2,
    APAPI_STAT_AVG = 4,
    APAPI_STAT_ACC = 8,
    APAPI_STAT_ALL = 15
};

/** What a definition says of value0 or of value1. */
struct apapi_value_definition {
    unsigned stats;   /* APAPI_STAT_*; APAPI_STAT_NO: the value is not wanted */
    const char *type; /* "energy"; UTF-8 */
    const char *unit; /* "J"; UTF-8; "": the source's own */
    double factor;    /* divides the value; NaN: it was 0 or not finite, the value is missing */
};

/** One line of a definitions file. Owned by its struct apapi_eventops. */
struct apapi_definition {
    const char *name;   /* an event or a pattern */
    size_t line;        /* in its file; 0: built in */
    uint64_t range_max; /* with raw_units: the counter's greatest raw value; 0: unknown */
    struct apapi_value_definition values[2];
    enum apapi_operation operation;
    enum apapi_kind kind;
    enum apapi_domain domain;
    bool raw_units;   /* the maximum is a number: factors divide raw values and nanoseconds;
                         false (`auto`): they divide base units (J, W, ...) and seconds */
    bool accumulates; /* with raw_units: a counter; without: as the source says */
    bool has_kind;    /* else as the source says */
    bool has_domain;
};

/** What is wrong with a line of a file, or suspicious. Lives during the report only. */
struct apapi_problem {
    size_t line;      /* from 1; 0: what follows is the number of those that are not told */
    size_t column;    /* in characters, from 1; 0 with line 0 */
    bool warning;     /* the line was taken all the same */
    const char *text; /* one line to print: "FILE:LINE:COLUMN: expected ..., found ..." */
};

/** Where problems go, in the order of the file, errors and warnings mixed. */
struct apapi_problem_sink {
    void (*report)(const struct apapi_problem *problem, void *context);
    void *context;
};

/** Event definitions in the order of their file (opaque, constant once made). */
struct apapi_eventops;

/** An event list in the order of its file (opaque, constant once made). */
struct apapi_eventlist;

/**
 * Read a file of event definitions. All or nothing: one bad line and there are none, but all bad
 * lines are told.
 * Never blocks on a FIFO or a device.
 * @param sink  NULL: only `err` tells
 * @return definitions, freed by apapi_eventops_destroy(); NULL with errno, `err` names the file
 *         EINVAL  bad lines, an empty file, a file that is no text or no regular file
 *         EISDIR  a folder
 *         EFBIG   more than APAPI_EVENTS_FILE_MAX bytes
 *         ENOMEM, and those of open(2) and read(2)
 * Thread-safety: any thread.
 */
APAPI_API struct apapi_eventops *apapi_eventops_read(const char *path,
                                                     const struct apapi_problem_sink *sink,
                                                     struct apapi_error *err);

/**
 * The same for text in memory, which is copied.
 * @param name  stands for the file in messages
 */
APAPI_API struct apapi_eventops *apapi_eventops_parse(const char *name, const char *text,
                                                      size_t size,
                                                      const struct apapi_problem_sink *sink,
                                                      struct apapi_error *err);

/** @return number of definitions; 0 for NULL. */
APAPI_API size_t apapi_eventops_count(const struct apapi_eventops *eventops);

/** @return definition number `index` in the order of the file, NULL beyond the last. */
APAPI_API const struct apapi_definition *apapi_eventops_at(const struct apapi_eventops *eventops,
                                                           size_t index);

/** @return the first definition whose name or pattern fits, NULL if none does or for NULL. */
APAPI_API const struct apapi_definition *apapi_eventops_find(const struct apapi_eventops *eventops,
                                                             const char *event);

/** Free. NULL is allowed. errno is preserved. */
APAPI_API void apapi_eventops_destroy(struct apapi_eventops *eventops);

/** One line of an event list. Owned by its struct apapi_eventlist. */
struct apapi_listed {
    const char *name; /* an event or a pattern */
    size_t line;      /* in its file */
};

/** Read an event list. Errors as apapi_eventops_read(); freed by apapi_eventlist_destroy(). */
APAPI_API struct apapi_eventlist *apapi_eventlist_read(const char *path,
                                                       const struct apapi_problem_sink *sink,
                                                       struct apapi_error *err);

/** The same for text in memory, which is copied. */
APAPI_API struct apapi_eventlist *apapi_eventlist_parse(const char *name, const char *text,
                                                        size_t size,
                                                        const struct apapi_problem_sink *sink,
                                                        struct apapi_error *err);

/** @return number of entries; 0 for NULL. */
APAPI_API size_t apapi_eventlist_count(const struct apapi_eventlist *list);

/** @return entry number `index` in the order of the file, NULL beyond the last. */
APAPI_API const struct apapi_listed *apapi_eventlist_at(const struct apapi_eventlist *list,
                                                        size_t index);

/** @return whether the entry begins with the component's name, and it ends there. */
APAPI_API bool apapi_listed_names(const struct apapi_listed *listed, const char *component);

/** Free. NULL is allowed. errno is preserved. */
APAPI_API void apapi_eventlist_destroy(struct apapi_eventlist *list);

/** @return whether `name` is the same text as `pattern`, or fits its `*`, `?`, `[a-z]`, `[!a]`. */
APAPI_API bool apapi_pattern_matches(const char *pattern, const char *name);

/** What users say by the environment. The texts live until the environment is changed. */
struct apapi_environment {
    const char *eventlist;  /* APAPI_EVENTLIST; NULL: unset or empty */
    const char *eventops;   /* APAPI_EVENTOPS; NULL: unset or empty */
    const char *components; /* APAPI_CMPLIST; NULL: unset; may be empty */
    long verbose;           /* APAPI_VERBOSE; 0 where it is no complete integer */
    bool softfail;          /* APAPI_SOFTFAIL is an integer and not 0 */
};

/** Look at the environment now. Thread-safety: as getenv(3). */
APAPI_API void apapi_environment_read(struct apapi_environment *environment);

/** All files that speak of events. Any may be NULL: absent. */
struct apapi_event_rules {
    struct apapi_eventlist *user_list;
    struct apapi_eventlist *default_list;
    struct apapi_eventops *user_ops;
    struct apapi_eventops *default_ops;
};

/**
 * Read the user's files, and default_eventlist.txt and default_eventops.csv in a folder.
 * A default file that does not exist is no error. One that this user may not read is told and left
 * out, and a bad one, too, if softfail is set.
 * @param default_folder  NULL: no default files
 * @param rules           set on success only; emptied by apapi_event_rules_clear()
 * @return 0; -1 with errno as apapi_eventops_read(); `err` names the file.
 * Thread-safety: any thread.
 */
APAPI_API int apapi_event_rules_load(struct apapi_event_rules *rules,
                                     const struct apapi_environment *environment,
                                     const char *default_folder,
                                     const struct apapi_problem_sink *sink,
                                     struct apapi_error *err);

/** Free what `rules` owns and empty it. NULL is allowed. errno is preserved. */
APAPI_API void apapi_event_rules_clear(struct apapi_event_rules *rules);

/** Who chose a component's events. */
enum apapi_choice { APAPI_CHOICE_ALL, APAPI_CHOICE_DEFAULT, APAPI_CHOICE_USER };

/** The events of a component that are to be measured. */
struct apapi_selection {
    enum apapi_choice choice;
    size_t count;
    size_t *indices; /* into the events that were given; each at most once, in the list's order */
    size_t unmatched_count;
    const struct apapi_listed **unmatched; /* the user's entries for this component without any
                                              event; they live as long as the user's list */
};

/**
 * Choose among the events that a component has: those of the user's list if it speaks of this
 * component (even if it then fits none), else those of the default list, else, or if
 * the default list fits none, all.
 * A list speaks of a component by an entry that begins with its name or fits one of its events.
 * @param rules      NULL: all events
 * @param selection  set on success only; emptied by apapi_selection_clear()
 * @return 0; -1 with errno ENOMEM.
 * Thread-safety: any thread.
 */
APAPI_API int apapi_event_rules_select(const struct apapi_event_rules *rules, const char *component,
                                       const struct apapi_event *events, size_t count,
                                       struct apapi_selection *selection);

/** Free what `selection` owns and empty it. NULL is allowed. errno is preserved. */
APAPI_API void apapi_selection_clear(struct apapi_selection *selection);

/**
 * @param rules  NULL: no files
 * @return the definition of an event: the user's first that fits, else the default files' first
 *         that fits, else the built-in one for its kind. Never NULL; lives as long as `rules`.
 * Thread-safety: any thread. Does not allocate.
 */
APAPI_API const struct apapi_definition *
apapi_event_rules_define(const struct apapi_event_rules *rules, const struct apapi_event *event);

/**
 * Complete an event by its definition: kind and domain where the definition names them; and, where
 * the source itself knows nothing but a number (APAPI_KIND_COUNT) and the definition has raw units,
 * counter or gauge, range, kind, unit and scale. What the source knows stays; only what is in J
 * becomes energy, and only what is in W power.
 */
APAPI_API void apapi_definition_complete(const struct apapi_definition *definition,
                                         struct apapi_event *event);

/**
 * Does a definition in raw units agree with what the source knows of the event's unit?
 * To be asked before apapi_definition_complete().
 * @return 0: yes, or nobody knows; -1 with errno EDOM: they differ by more than 1 %, `err` tells.
 */
APAPI_API int apapi_definition_check(const struct apapi_definition *definition,
                                     const struct apapi_event *event, struct apapi_error *err);

/** @return whether value0 is an increment: the definition's word with raw units, else the event's.
 */
APAPI_API bool apapi_definition_accumulates(const struct apapi_definition *definition,
                                            const struct apapi_event *event);

/**
 * @param value  0 or 1
 * @return what divides value0 (raw units) or value1 (made by the operation from raw units and
 *         nanoseconds) to give the definition's unit; NaN: the value is missing.
 */
APAPI_API double apapi_definition_divisor(const struct apapi_definition *definition,
                                          const struct apapi_event *event, int value);

/** @return the unit of value0 (0) or value1 (1) for this event. Lives as long as both. */
APAPI_API const char *apapi_definition_unit(const struct apapi_definition *definition,
                                            const struct apapi_event *event, int value);

/** @return "APAPI_OP1_NOP", ...; "?" when out of range. Static storage. */
APAPI_API const char *apapi_operation_name(enum apapi_operation operation);

#ifdef __cplusplus
}
#endif
#endif
