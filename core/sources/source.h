/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SOURCE_H
#define SOURCES_SOURCE_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/source.h"

/**
 * A source; one constant of this type for each. open() and close() of all sources are called by one
 * thread at a time, and so is read() of one reader. Readers with `own_worker`, readers of slow
 * sources, and those that have failed for a while are opened, read and closed by threads of their
 * own, at the same time as others. No function prints, exits or changes signal handlers.
 */
struct apapi_source {
    const char *name; /* "sysfs", "papi": as in APAPI_SOURCES */
    bool common;      /* raw values are the same for all processes, whenever they opened it */

    /** Another process reads. NULL: this one does. Such a source has no way in components.def. */
    const struct source_relay {
        /** @return name of the source by which it reads; valid as long as the reader. */
        const char *(*origin)(const struct apapi_reader *reader);

        /**
         * Let read() return a reading that was made up to so long before the call, but after the
         * one before, until this is called again. At first: none.
         */
        void (*allow_age)(struct apapi_reader *reader, uint64_t age_ns);

        /** Tell when the latest good reading was made, CLOCK_MONOTONIC [ns]. */
        void (*when)(const struct apapi_reader *reader, uint64_t *begin_ns, uint64_t *end_ns);
    } * relay;

    bool slow; /* open() may take seconds: the component gets a thread of its own */

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

#endif
