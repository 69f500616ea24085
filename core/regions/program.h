/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_PROGRAM_H
#define REGIONS_PROGRAM_H
#include <stdbool.h>

#include "apapi/live.h"
#include "regions/page.h"
#include "regions/ticks.h"

/*
 * This process: its page, and whether there is anything to measure. The first call of any thread
 * decides; a process that was forked from this one starts again.
 */

enum program_state {
    PROGRAM_NEW, /* no call yet */
    PROGRAM_ON,
    PROGRAM_OFF /* nothing to measure: all calls do nothing */
};

struct program {
    enum program_state state;
    enum page_clock clock;
    struct ticks_moment start;
    struct page_program *page;          /* valid while PROGRAM_ON */
    const struct apapi_live_page *live; /* NULL: no measured step */
};

extern struct program program __attribute__((visibility("hidden")));

/** @return whether all calls do nothing. Costs next to nothing. */
static inline bool program_is_off(void)
{
    return __atomic_load_n(&program.state, __ATOMIC_RELAXED) == PROGRAM_OFF;
}

/** Set up, if that has not been done. @return whether there is something to measure. Any thread. */
bool program_start(void);

/** Keep regions from now on without a measured step, too: somebody else looks at them. */
void program_want(void);

/** Add 1 to a number of the page's head. Any thread. */
void program_count(uint64_t *number);

/** Publish that the figures are final. */
void program_finish(void);

/** In the child of a fork: begin again at the next call. */
void program_forget(void);

#endif
