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

/** What one event gave at one reading. */
struct apapi_reading {
    uint64_t raw; /* as the event's type says; meaningless when `error` is not 0 */
    int error;    /* 0, or the errno with which the reading failed */
};

/** An open source. Each source embeds it as the first member of a structure of its own. */
struct apapi_reader {
    const struct apapi_source *source;
    const struct apapi_event *events; /* owned by the reader, unchanged until it is closed */
    size_t count;
    char detail[64]; /* what is being read, for the report: "sysfs powercap", "PAPI 7.1.0 rapl" */
    bool own_worker; /* a reading may take seconds or end its thread: one that reads nothing else */
};

/** Called once for each component that a source offers; `name` lives during the call only. */
typedef void (*apapi_component_f)(const char *name, void *context);

/**
 * Where numbers come from. One constant of this type for each source; open() and close() are called
 * by one thread at a time, read() of one reader likewise. Readers with an own worker, those of
 * slow sources and those that have failed for a while are opened, read and closed by other threads
 * than the rest, at the same time. No function prints, exits or changes signal handlers.
 */
struct apapi_source {
    const char *name; /* "sysfs", "papi": the word in APAPI_SOURCES */
    bool slow;        /* open() may take seconds: its component has an own worker */

    /**
     * Does the source know this component? Opens no device.
     * @return 0; -1 with errno ENOENT (no such component), ENOSYS (the source itself is absent).
     */
    int (*probe)(const char *component, struct apapi_error *err);

    /**
     * Say that a component will be opened soon, before the first is opened: some libraries
     * must be told at their start what to leave alone. NULL: not needed.
     */
    void (*want)(const char *component);

    /** Call `visit` for each component that the source knows here. */
    void (*list)(apapi_component_f visit, void *context);

    /**
     * Open all events of a component. Every descriptor is close-on-exec. When it returns, the first
     * readings, where they are not yet meaningful, have been made and thrown away.
     * @return the reader, freed by close(); NULL with errno and the reason in `err`
     *         ENOENT  no such component
     *         ENODEV  no hardware for it here
     *         EACCES  it exists and may not be read by this user
     *         ENOSYS  the source itself is absent
     *         EINVAL  a setting that it needs is missing or bad
     *         ENOMEM, EIO
     */
    struct apapi_reader *(*open)(const char *component, struct apapi_error *err);

    /**
     * Read all events now.
     * @param readings  one for each event, in the order of reader->events
     * Does not allocate, lock, log or look at the environment.
     */
    void (*read)(struct apapi_reader *reader, struct apapi_reading *readings);

    /**
     * One line about an event, for people: "energy of CPU package 0". NULL: nothing is known but
     * its kind and domain.
     * @param index  of reader->events
     * @param text   set to "" if there is nothing to say
     */
    void (*describe)(const struct apapi_reader *reader, size_t index, char *text, size_t size);

    /** Give everything back. NULL is allowed. errno is preserved. */
    void (*close)(struct apapi_reader *reader);
};

/**
 * Set something for a source, as a section of apapi.conf does: ("ipmi", "host", "10.0.0.7"). The
 * environment variable APAPI_<SECTION>_<KEY> wins over it.
 * @param section, key  lower case, together at most 50 characters; `value` is copied
 * @return 0; -1 with errno ENOMEM, ENOSPC (over 64 settings).
 * Thread-safety: before any session is created.
 */
APAPI_API int apapi_source_set(const char *section, const char *key, const char *value);

#ifdef __cplusplus
}
#endif
#endif
