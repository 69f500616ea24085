/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_COUNTERS_H
#define REGIONS_COUNTERS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Counts of the regions of each thread: CPU counters, by PAPI, read at each begin and end. An
 * event that is instant has the sum of its values at the ends.
 */

#define COUNTER_EVENTS_MAX 32
#define COUNTER_NAME_SIZE 128 /* PAPI's */
#define TALLY_READS 8 /* apapi_region_read() in one pass of a region; later ones are not kept */

/** An event as a program asks for it. */
struct counter_event {
    char name[COUNTER_NAME_SIZE];
    bool instant; /* the value at the end of a region, not the difference to its begin */
    int code;     /* PAPI's, as the component */
    int component;
};

/** Events; those that are counted are grouped by component. */
struct counter_events {
    struct counter_event events[COUNTER_EVENTS_MAX];
    size_t count;
};

/** Sums over the passes of a thread through a region. */
struct tally_sums {
    uint64_t passes;
    long long totals[COUNTER_EVENTS_MAX];
    uint64_t reads[TALLY_READS];                            /* passes that had this reading */
    long long read_totals[TALLY_READS][COUNTER_EVENTS_MAX]; /* since the begin of the pass */
};

/**
 * Read a list as in PAPI_EVENTS: names, divided by commas, each with "=instant" or "=delta" where
 * the program says so; blanks do not count. Of events without such a word those of nvml, and those
 * with "power" or "temperature" in their name, are instant, as in PAPI's high-level interface,
 * except for nvml's energy counter.
 * @return how many more there were than COUNTER_EVENTS_MAX, or whose name is too long
 */
size_t counters_parse(struct counter_events *list, const char *text);

/**
 * Count from the next region on, in a measured step or not.
 * @param events  as in PAPI_EVENTS; NULL: those of the environment. PAPI's default ones if none of
 *                them is known
 * @return 0; -1 with errno EALREADY
 * Thread-safety: any thread. Does not start PAPI, which the first region does.
 */
int tally_want(const char *events);

/** tally_want(NULL) if PAPI_EVENTS is in the environment and tally_want() was not called. */
void tally_want_if_asked(void);

/** Whether the calls below are wanted. */
extern bool tally_on __attribute__((visibility("hidden")));

/*
 * Of the calling thread's regions. errno is preserved.
 * @param slot  number of the thread in the program page, PAGE_THREADS if it has none
 * @param node  of the region
 */
void tally_begin(uint32_t slot, uint32_t node); /* before the region's time begins */
void tally_read(uint32_t slot, uint32_t node);
void tally_end(uint32_t slot, uint32_t node); /* after it */
void tally_leave(uint32_t slot);              /* the thread ends */

/** In the child of a fork, where the counters are the parent's. */
void tally_forget(void);

/** @return the events that are counted, maybe none. In any thread, after the first region. */
const struct counter_events *tally_events(void);

/** Put the name of an event's component. */
void counter_component(const struct counter_event *event, char name[COUNTER_NAME_SIZE]);

/** Copy the sums of a node in a slot of the program page. @return false: there are none. */
bool tally_copy(uint32_t slot, uint32_t node, struct tally_sums *copy);

#endif
