/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_COUNTERS_H
#define REGIONS_COUNTERS_H
#include <stdbool.h>
#include <stddef.h>

#include "regions/counter_events.h"

/*
 * CPU counters of threads, by PAPI. What a process counts is chosen once; each thread counts for
 * itself, from its first region on.
 */

/** The counters of a thread (opaque). */
struct counters_thread;

/**
 * Choose what is counted, and start PAPI.
 * @param events  as in PAPI_EVENTS; NULL, "", or a list without a known event: PAPI's defaults
 * @return the number of events; 0: none can be counted here
 * Thread-safety: any thread; the first call decides. Allocates, and reads the environment:
 * PAPI_MULTIPLEX, PAPI_HL_VERBOSE.
 */
size_t counters_open(const char *events);

/** @return the events that counters_open() chose, in the order of counters_read(). */
const struct counter_events *counters_events(void);

/**
 * Start the calling thread's counters.
 * @return to be ended by counters_thread_end() in the same thread; NULL: nothing is counted
 */
struct counters_thread *counters_thread_begin(void);

/**
 * Read the calling thread's counters.
 * @param values  one for each event
 * @return whether they could be read
 */
bool counters_read(const struct counters_thread *thread, long long *values);

/** Stop the calling thread's counters. NULL is allowed. errno is preserved. */
void counters_thread_end(struct counters_thread *thread);

#endif
