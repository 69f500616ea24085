/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_PAPI_CALLS_H
#define REGIONS_PAPI_CALLS_H
#include <stdbool.h>

#include "apapi/error.h"
#include "base/shared_library.h"

/*
 * What regions call of libpapi, which is loaded when a program wants CPU counters in its regions.
 * PAPI's header is not needed, so that each version of the library will do: no structure of PAPI
 * is used, and its version is found by asking.
 */

#define PAPI_CALLS_OK 0
#define PAPI_CALLS_NO_SET (-1)
#define PAPI_CALLS_EISRUN (-10)

/*
 * PAPI's functions, named as there without the prefix. What get_component_info() returns begins
 * with the component's name.
 */
#define PAPI_CALLS_FUNCTIONS(FUNCTION)                                                             \
    FUNCTION(int, is_initialized, (void))                                                          \
    FUNCTION(int, library_init, (int version))                                                     \
    FUNCTION(int, thread_init, (unsigned long (*self)(void)))                                      \
    FUNCTION(int, register_thread, (void))                                                         \
    FUNCTION(int, num_components, (void))                                                          \
    FUNCTION(const char *, get_component_info, (int component))                                    \
    FUNCTION(int, disable_component, (int component))                                              \
    FUNCTION(int, event_name_to_code, (const char *name, int *code))                               \
    FUNCTION(int, get_event_component, (int code))                                                 \
    FUNCTION(int, multiplex_init, (void))                                                          \
    FUNCTION(int, assign_eventset_component, (int set, int component))                             \
    FUNCTION(int, set_multiplex, (int set))                                                        \
    FUNCTION(int, create_eventset, (int *set))                                                     \
    FUNCTION(int, add_event, (int set, int code))                                                  \
    FUNCTION(int, start, (int set))                                                                \
    FUNCTION(int, read, (int set, long long *values))                                              \
    FUNCTION(int, stop, (int set, long long *values))                                              \
    FUNCTION(int, cleanup_eventset, (int set))                                                     \
    FUNCTION(int, destroy_eventset, (int *set))                                                    \
    FUNCTION(char *, strerror, (int code))

struct papi_calls {
    PAPI_CALLS_FUNCTIONS(LIBRARY_MEMBER)
};

/** @return whether PAPI is to start a component. */
typedef bool (*papi_calls_wanted_f)(const char *component, const void *context);

/**
 * Load PAPI and initialize it: the one that the program has, or else the one of the environment
 * variable APAPI_PAPI_LIBRARY, or of this build. The program's own one is started as the program
 * would, another one with the wanted components only.
 * @return the functions; NULL with errno ENOSYS and the reason
 * Thread-safety: none; once in a process. Allocates; reads the environment.
 */
const struct papi_calls *papi_calls_start(papi_calls_wanted_f wanted, const void *context,
                                          struct apapi_error *err);

#endif
