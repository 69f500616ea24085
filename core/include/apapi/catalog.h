/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CATALOG_H
#define APAPI_CATALOG_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"
#include "apapi/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What can be measured here: components, the ways to read each of them, and the events that a way
 * finds. Nothing is sampled. One thread at a time (PAPI), and not while a session is created.
 */

#define APAPI_WAYS_MAX 4 /* ways to read one component */

/** One way to read a component. */
struct apapi_way {
    const struct apapi_source *source;
    const char *name; /* what the source calls the component, which lives as long as this */
};

/**
 * Call `visit` for every component that can be named here: those that APAPI has a route for, then
 * the other ones of the installed PAPI. Opens no device.
 */
APAPI_API void apapi_catalog_components(apapi_component_f visit, void *context);

/** @return whether APAPI has a route of its own for the component; others are read by PAPI only. */
APAPI_API bool apapi_catalog_has_route(const char *component);

/** @return whether opening it may take seconds; `order` as for apapi_catalog_open(). */
APAPI_API bool apapi_catalog_slow(const char *component, const char *order);

/**
 * The ways to read a component, the best one first, whether or not they work here.
 * @param ways  result; their names may be `component` itself
 * @return how many there are, at least 1: any name may be one of PAPI's
 */
APAPI_API size_t apapi_catalog_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX]);

/** Say that a component will be opened: for all of them, before the first is opened. */
APAPI_API void apapi_catalog_want(const char *component);

/** Check an order of sources. @return 0; -1 with errno EINVAL: a word in it is no source. */
APAPI_API int apapi_catalog_check_order(const char *order, struct apapi_error *err);

/**
 * Open a component as a session does: by the first way that works.
 * @param order  "sysfs:papi", checked, limits and sorts the sources; NULL: the component's own
 *               order
 * @return the reader, to be read with reader->source->read() and given back with
 *         apapi_catalog_close(); NULL with errno as apapi_source.open(), `err` tells why none
 * works.
 */
APAPI_API struct apapi_reader *apapi_catalog_open(const char *component, const char *order,
                                                  struct apapi_error *err);

/** Open one way only. As apapi_catalog_open(). */
APAPI_API struct apapi_reader *apapi_catalog_open_way(const struct apapi_way *way,
                                                      struct apapi_error *err);

/** Give a reader back. NULL is allowed. errno is preserved. */
APAPI_API void apapi_catalog_close(struct apapi_reader *reader);

/**
 * Where the sources look for a file of the kernel: below APAPI_SYSROOT where that is set.
 * @param absolute  "/sys/class/powercap"
 */
APAPI_API void apapi_catalog_path(char *path, size_t size, const char *absolute);

#ifdef __cplusplus
}
#endif
#endif
