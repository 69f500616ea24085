/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SOURCES_H
#define SOURCES_SOURCES_H
#include <stdbool.h>

#include "apapi/source.h"

/* All sources, one constant each. A new one is a file with its constant and a line in routes.c. */
extern const struct apapi_source apapi_source_sysfs;
extern const struct apapi_source apapi_source_papi;

/** @return whether some source knows the component. */
bool apapi_route_known(const char *component);

/** Call `visit` for every component that can be named here. */
void apapi_route_list(apapi_component_f visit, void *context);

/** Say that a component will be opened soon; for all of them, before the first is opened. */
void apapi_route_want(const char *component);

/** Check an order of sources, "sysfs:papi". @return 0; -1 with errno EINVAL. */
int apapi_route_order_check(const char *order, struct apapi_error *err);

/**
 * Open a component by the first source that works.
 * @param order  "sysfs:papi" limits and sorts the sources; NULL: the component's own order
 * @return as apapi_source.open; `err` tells why none worked.
 */
struct apapi_reader *apapi_route_open(const char *component, const char *order,
                                      struct apapi_error *err);

#endif
