/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_TALLY_H
#define REGIONS_TALLY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "regions/counter_events.h"

/*
 * What the regions of each thread count: CPU counters, read at each begin and end. An event that is
 * instant has the sum of its values at the ends.
 */

#define TALLY_READS 8 /* apapi_region_read() in one pass of a region; later ones are not kept */

/** Sums over the passes of a thread through a region. */
struct tally_sums {
    uint64_t passes;
    long long totals[COUNTER_EVENTS_MAX];
    uint64_t reads[TALLY_READS];                            /* passes that had this reading */
    long long read_totals[TALLY_READS][COUNTER_EVENTS_MAX]; /* since the begin of the pass */
};

/**
 * Count from the next region on.
 * @param events  as in PAPI_EVENTS; NULL: those of the environment
 * @return 0; -1 with errno EALREADY
 * Thread-safety: any thread. Does not start PAPI, which the first region does.
 */
int tally_want(const char *events);

/** tally_want(NULL) if PAPI_EVENTS is in the environment and tally_want() was not called. */
void tally_want_if_asked(void);

/** @return events that are counted; 0: none. In any thread, after the first region. */
size_t tally_event_count(void);

/** @return one of them. */
const struct counter_event *tally_event(size_t index);

/** Copy the sums of a node in a slot of the program page. @return false: there are none. */
bool tally_copy(uint32_t slot, uint32_t node, struct tally_sums *copy);

#endif
