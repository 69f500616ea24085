/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_LIBRARY_H
#define APAPI_SOURCES_PAPI_LIBRARY_H
#include <papi.h>
#include <stdbool.h>

#include "apapi/error.h"
#include "base/shared_library.h"

/*
 * libpapi, loaded on demand: a program that does not need it pays nothing and runs on machines
 * without it. The setting `library` of section papi names another one of the same version.
 * Everything except reading and PAPI's list of components belongs to one thread, see papi_thread.h.
 */

/** PAPI's functions, named as there without the prefix. */
#define PAPI_LIBRARY_FUNCTIONS(FUNCTION)                                                           \
    FUNCTION(library_init)                                                                         \
    FUNCTION(thread_init)                                                                          \
    FUNCTION(register_thread)                                                                      \
    FUNCTION(shutdown)                                                                             \
    FUNCTION(num_components)                                                                       \
    FUNCTION(get_component_info)                                                                   \
    FUNCTION(disable_component)                                                                    \
    FUNCTION(enum_cmp_event)                                                                       \
    FUNCTION(event_code_to_name)                                                                   \
    FUNCTION(get_event_info)                                                                       \
    FUNCTION(create_eventset)                                                                      \
    FUNCTION(add_named_event)                                                                      \
    FUNCTION(start)                                                                                \
    FUNCTION(read)                                                                                 \
    FUNCTION(stop)                                                                                 \
    FUNCTION(cleanup_eventset)                                                                     \
    FUNCTION(destroy_eventset)                                                                     \
    FUNCTION(strerror)

struct papi_library {
#define FUNCTION(name) __typeof__(PAPI_##name) *(name);
    PAPI_LIBRARY_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/** @return the library, not yet initialized; NULL with errno ENOSYS and the reason. */
const struct papi_library *papi_library_load(struct apapi_error *err);

/** After that: find further functions of it. 0; -1 with errno ENOSYS. */
int papi_library_resolve(const struct library_symbol *symbols, void *functions,
                         struct apapi_error *err);

/** @return the index of the component with this name or short name; -1: none. */
int papi_library_find(const struct papi_library *papi, const char *component);

/** Note that a component is wanted. Components never wanted are disabled. */
void papi_library_want(const char *component);

/**
 * Initialize PAPI with the wanted components and this one, or join its users. Called by
 * papi_thread_call() within papi_exit_guard().
 * @return 0, to be ended by papi_library_leave(); -1 with errno ENOSYS, ENOENT, ENODEV, EACCES
 */
int papi_library_enter(const struct papi_library *papi, const char *component,
                       struct apapi_error *err);

/**
 * Destroy a set of events. PAPI stays initialized, as some of its components do not survive a
 * shutdown. It is initialized again only when no one uses it, and either a component is wanted that
 * it was not started with, or its last use ended in disorder. Called by papi_thread_call().
 * @param set  running or not; PAPI_NULL: none
 */
void papi_library_leave(int set);

/** The same if PAPI has not returned from a call: nothing can be destroyed. Any thread. */
void papi_library_abandon(void);

/** @return "PAPI 7.0.0". Static storage. */
const char *papi_library_version(void);

#endif
