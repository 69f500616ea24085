/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SOURCES_H
#define SOURCES_SOURCES_H
#include <stdbool.h>

#include "apapi/catalog.h"
#include "apapi/source.h"

/*
 * All sources, one constant each: a new one is a file with its constant and a line in
 * apapi/components.def.
 *
 * papi_gpu, called "papi" like all of PAPI, is PAPI's components for GPUs: they measure every GPU
 * or none, one GPU that is lost fails them all, and only some versions have the energy counter.
 * Where that is missing, the power is integrated.
 */
#define APAPI_WAY(source, name) extern const struct apapi_source apapi_source_##source;
#define APAPI_COMPONENT(name, ways) ways
#include "apapi/components.def"
#undef APAPI_COMPONENT
#undef APAPI_WAY

/** @return whether any source knows the component. */
bool apapi_route_known(const char *component);

/** @return whether the routes have a row for the component; all others are PAPI's. */
bool apapi_route_own(const char *component);

/** @return the number of ways to read a component, best first; valid as long as `component`. */
size_t apapi_route_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX]);

/** @return whether a way to read it, in this order of sources, is slow to open. */
bool apapi_route_slow(const char *component, const char *order);

/**
 * What PAPI says of a component that has no row of its own.
 * @return 0: PAPI knows it; -1 with errno ENOENT, ENOSYS (it cannot be asked), `err` says why.
 */
int apapi_route_papi_check(const char *component, struct apapi_error *err);

/** Call `visit` for each component that can be named. */
void apapi_route_list(apapi_component_f visit, void *context);

/** Announce that a component will be opened: all of them before the first is opened. */
void apapi_route_want(const char *component);

/**
 * The same for an event or a pattern of an event list: what is no measurement, and would cost each
 * reading, is offered only where a list names it.
 */
void apapi_route_want_event(const char *pattern);

/** Check an order of sources, "sysfs:papi". @return 0; -1 with errno EINVAL. */
int apapi_route_order_check(const char *order, struct apapi_error *err);

/**
 * Open a component with the first source that works.
 * @param order  "sysfs:papi" selects and sorts the sources; NULL: the component's own order
 * @return as apapi_source.open; `err` says why none worked.
 */
struct apapi_reader *apapi_route_open(const char *component, const char *order,
                                      struct apapi_error *err);

#endif
