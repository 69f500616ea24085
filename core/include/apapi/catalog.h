/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CATALOG_H
#define APAPI_CATALOG_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"
#include "apapi/source.h"

APAPI_BEGIN_C

/*
 * Components of this machine, the ways to read each of them, and their events. Nothing is sampled.
 * PAPI allows one thread at a time: call these functions from one thread, and not while another
 * thread creates a session.
 */

#define APAPI_WAYS_MAX 4 /* most ways to read one component */

/** One way to read a component. */
struct apapi_way {
    const struct apapi_source *source;
    const char *name; /* the source's name for the component; valid as long as the way is used */
};

/**
 * Call `visit` for every component that can be named here: first those that APAPI has a route for,
 * then the others of the installed PAPI. Opens no device.
 * @param context  for visit()
 */
APAPI_API void apapi_catalog_components(apapi_component_f visit, void *context);

/** @return whether APAPI has a route of its own for the component; PAPI reads all others. */
APAPI_API bool apapi_catalog_has_route(const char *component);

/**
 * @param order  as for apapi_catalog_open()
 * @return whether opening the component may take seconds
 */
APAPI_API bool apapi_catalog_slow(const char *component, const char *order);

/**
 * The ways to read a component, the preferred one first. They need not work on this machine.
 * @param ways  result; a name in it may be `component` itself, which must then stay valid
 * @return the number of ways, at least 1: a name that is not known is offered to PAPI
 */
APAPI_API size_t apapi_catalog_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX]);

/**
 * Announce a component that will be opened. Some libraries must know all components when the first
 * one is opened: announce all of them before that.
 * @param component  its name, or a pattern of its events ("rapl:::?*": all), because some events
 *                   exist only if they are named
 */
APAPI_API void apapi_catalog_want(const char *component);

/**
 * Check an order of sources.
 * @param order  "sysfs:papi"
 * @return 0; -1 with errno EINVAL: a word is not a source
 */
APAPI_API int apapi_catalog_check_order(const char *order, struct apapi_error *err);

/**
 * Open a component by the first way that works, as a session does. May block for seconds if
 * apapi_catalog_slow() says so.
 * @param order  "sysfs:papi": the sources to try; check it with apapi_catalog_check_order(). NULL
 *               or "": the component's own order
 * @return the reader, for apapi_catalog_read() and apapi_catalog_close(). NULL with errno, and the
 *         reason for each way in `err`
 *         ENOENT  no such component
 *         ENODEV  no hardware for it here
 *         EACCES  the component exists, but this user may not read it
 *         ENOSYS  no source for the component is available here
 *         EINVAL  a setting that the component needs is missing or wrong
 *         ENOMEM, EIO
 */
APAPI_API struct apapi_reader *apapi_catalog_open(const char *component, const char *order,
                                                  struct apapi_error *err);

/** Open a component by this way only. Result and errors are those of apapi_catalog_open(). */
APAPI_API struct apapi_reader *apapi_catalog_open_way(const struct apapi_way *way,
                                                      struct apapi_error *err);

/**
 * Read all events of a reader.
 * @param readings  result: reader->count readings, in the order of reader->events
 * Does not allocate, lock, log or read the environment.
 */
APAPI_API void apapi_catalog_read(struct apapi_reader *reader, struct apapi_reading *readings);

/**
 * Describe an event in one line, for people: "energy of CPU package 0".
 * @param index  of the event in reader->events
 * @param text   result, of `size` bytes; "": nothing to add to the event's kind and domain
 */
APAPI_API void apapi_catalog_describe(const struct apapi_reader *reader, size_t index, char *text,
                                      size_t size);

/** Close a reader. NULL is allowed. errno is preserved. */
APAPI_API void apapi_catalog_close(struct apapi_reader *reader);

APAPI_END_C
#endif
