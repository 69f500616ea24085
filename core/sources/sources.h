/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SOURCES_H
#define SOURCES_SOURCES_H
#include <stdbool.h>

#include "apapi/catalog.h"
#include "sources/source.h"

/*
 * All sources, one constant each: a new one is a file with its constant and a line in
 * apapi/components.def.
 *
 * papi_gpu, called "papi" like all of PAPI, is PAPI's components for GPUs: they measure every GPU
 * or none, one GPU that is lost fails them all, and only some versions have the energy counter.
 * Where that is missing, the power is integrated.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls" /* some are for several components */
#define APAPI_WAY(source, name) extern const struct apapi_source apapi_source_##source;
#define APAPI_COMPONENT(name, ways) ways
#include "apapi/components.def"
#undef APAPI_COMPONENT
#undef APAPI_WAY
#pragma GCC diagnostic pop
extern const struct apapi_source apapi_source_node; /* relays what the node sampler reads */

/** @return whether any source knows the component. */
bool apapi_route_known(const char *component);

/**
 * What PAPI says of a component that has no row of its own.
 * @return 0: PAPI knows it; -1 with errno ENOENT, ENOSYS (it cannot be asked), `err` says why.
 */
int apapi_route_papi_check(const char *component, struct apapi_error *err);

/* Shorter intervals are not worth the way to the node sampler and back [ns]. */
#define APAPI_ROUTE_RELAY_NS UINT64_C(100000000)

/**
 * Open a component for a session: as apapi_catalog_open(), but the node sampler reads it if it can
 * and if nobody says by which source.
 * @param interval_ns  between two readings
 */
struct apapi_reader *apapi_route_open(const char *component, const char *order,
                                      uint64_t interval_ns, struct apapi_error *err);

/** @return name of the source by which a component is read in the end; static. */
const char *apapi_route_source(const char *component, const struct apapi_reader *reader);

/**
 * Note that a list names an event or a pattern, before its component is opened: events that are not
 * a measurement, and would cost each reading, exist only then.
 */
void apapi_route_want_event(const char *pattern);

#endif
