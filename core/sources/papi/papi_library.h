/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_PAPI_LIBRARY_H
#define SOURCES_PAPI_LIBRARY_H
#include <papi.h>
#include <stdbool.h>

#include "apapi/error.h"
#include "base/shared_library.h"

/*
 * libpapi, loaded on demand: a program that does not need it pays nothing and runs on machines
 * without it. The setting `library` of section papi names another one of the same version.
 * Everything except reading and PAPI's list of components belongs to papi_thread_call().
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
    FUNCTION(strerror)                                                                             \
    FUNCTION(overflow)                                                                             \
    FUNCTION(get_overflow_event_index)                                                             \
    FUNCTION(event_name_to_code)

struct papi_library {
#define FUNCTION(name) __typeof__(PAPI_##name) *(name);
    PAPI_LIBRARY_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/**
 * @return the library, not yet initialized; NULL with errno ENOSYS and the reason. Its calls of
 * exit() and stdio are redirected, calls by libraries that it has loaded are not.
 */
const struct papi_library *papi_library_load(struct apapi_error *err);

/** @return the index of the component with this (short) name; -1: none. PAPI must be loaded. */
int papi_library_find(const char *component);

/** Note that a component is wanted. Components never wanted are disabled. */
void papi_library_want(const char *component);

/**
 * Initialize PAPI with the wanted components and this one, or join its users. Called by
 * papi_thread_call().
 * @return 0, to be ended by papi_library_leave(); -1 with errno ENOSYS, ENOENT, ENODEV, EACCES
 */
int papi_library_enter(const char *component, struct apapi_error *err);

/**
 * Destroy a set of events. PAPI stays initialized, as some of its components do not survive a
 * shutdown. It is initialized again only when no one uses it, and either a component is wanted that
 * it was not started with, or its last use ended in disorder. Called by papi_thread_call().
 * @param set  running or not; PAPI_NULL: none
 */
void papi_library_leave(int set);

/** Leave PAPI if it has not returned from a call: nothing can be destroyed. Any thread. */
void papi_library_abandon(void);

/** @return "PAPI 7.0.0". Static storage. */
const char *papi_library_version(void);

/*
 * PAPI's rapl component calls exit(127) if a register cannot be read; other components print.
 * libpapi's calls of exit(), err() and stdio are redirected to here. During papi_exit_guard(),
 * ending the process ends only that call, and nothing is printed. At other times, for other users
 * of the same libpapi, these functions do what they always do.
 */

#define PAPI_EXITED (-1000) /* not one of PAPI's codes */

/**
 * Call PAPI. Guards may be nested; each thread has its own.
 * @return what `call` returns; PAPI_EXITED if PAPI called exit(): its work is unfinished.
 */
int papi_exit_guard(int (*call)(void *context), void *context);

/** @return the status of the latest exit() caught in this thread. */
int papi_exit_status(void);

/*
 * PAPI keeps data of each thread that calls it. A shutdown frees the data of all threads, and PAPI
 * crashes in threads that it does not know or has forgotten. So one thread, which PAPI knows, opens
 * and closes everything. This thread sleeps in between and lives as long as the process. Any thread
 * may read.
 */

/**
 * Run `call` in that thread within papi_exit_guard(), and wait for it.
 * @return its result, with its errno; -1 with errno EAGAIN: the thread cannot be created.
 * Thread-safety: any thread, one after the other.
 */
int papi_thread_call(int (*call)(void *context), void *context, struct apapi_error *err);

#endif
