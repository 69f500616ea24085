/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCE_H
#define APAPI_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sources read meters. Programs get a reader from apapi_catalog_open(), and need its `events`,
 * `count` and `detail`, and read() and describe() of its source.
 */

/** One event at one reading. */
struct apapi_reading {
    uint64_t raw; /* read it with apapi_event_value(); not valid if `error` is not 0 */
    int error;    /* 0, or the errno with which the reading failed */
};

/** An open source. Each source embeds it as the first member of a structure of its own. */
struct apapi_reader {
    const struct apapi_source *source;
    const struct apapi_event *events; /* owned by the reader; unchanged until it is closed */
    size_t count;                     /* of events */
    char detail[64]; /* what is read, for people: "sysfs powercap", "PAPI 7.1.0 rapl" */
    bool own_worker; /* a reading may take seconds, or end its thread: use a thread of its own */
};

/** Called once for each component that a source offers. `name` is valid only during the call. */
typedef void (*apapi_component_f)(const char *name, void *context);

/**
 * A source; one constant of this type for each. open() and close() of all sources are called by one
 * thread at a time, and so is read() of one reader. Readers with `own_worker`, readers of slow
 * sources, and those that have failed for a while are opened, read and closed by threads of their
 * own, at the same time as others. No function prints, exits or changes signal handlers.
 */
struct apapi_source {
    const char *name; /* "sysfs", "papi": as in APAPI_SOURCES */
    bool slow;        /* open() may take seconds: the component gets a thread of its own */

    /**
     * Is the component known? Opens no device.
     * @return 0; -1 with errno
     *         ENOENT  no such component
     *         ENOSYS  the source is not available here
     */
    int (*probe)(const char *component, struct apapi_error *err);

    /**
     * A component will be opened soon. Called before the first one is opened: some libraries must
     * know at their start what to leave out. NULL: not needed.
     */
    void (*want)(const char *component);

    /** Call `visit` for each component that the source knows here. */
    void (*list)(apapi_component_f visit, void *context);

    /**
     * Open all events of a component. Every descriptor is close-on-exec. First readings that are
     * not yet meaningful are made and dropped before it returns.
     * @return the reader, freed by close(); NULL with errno, and the reason in `err`
     *         ENOENT  no such component
     *         ENODEV  no hardware for it here
     *         EACCES  it exists, but this user may not read it
     *         ENOSYS  the source is not available here
     *         EINVAL  a setting that it needs is missing or wrong
     *         ENOMEM, EIO
     */
    struct apapi_reader *(*open)(const char *component, struct apapi_error *err);

    /**
     * Read all events.
     * @param readings  result: reader->count of them, in the order of reader->events
     * Does not allocate, lock, log or read the environment.
     */
    void (*read)(struct apapi_reader *reader, struct apapi_reading *readings);

    /**
     * Describe an event in one line, for people: "energy of CPU package 0". NULL: there is nothing
     * to add to the event's kind and domain.
     * @param index  of reader->events
     * @param text   result, of `size` bytes; "": nothing to add
     */
    void (*describe)(const struct apapi_reader *reader, size_t index, char *text, size_t size);

    /** Close and free the reader. NULL is allowed. errno is preserved. */
    void (*close)(struct apapi_reader *reader);
};

/**
 * Set a value for a source, as a section of apapi.conf does: ("ipmi", "host", "10.0.0.7"). The
 * environment variable APAPI_<SECTION>_<KEY> has precedence.
 * @param section, key  lower case, together at most 50 characters
 * @param value         copied
 * @return 0; -1 with errno
 *         ENOSPC  more than 64 settings
 *         ENOMEM
 * Thread-safety: before the first session is created and the first component is opened.
 */
APAPI_API int apapi_source_set(const char *section, const char *key, const char *value);

#ifdef __cplusplus
}
#endif
#endif
