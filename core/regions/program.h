/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_PROGRAM_H
#define REGIONS_PROGRAM_H
#include "apapi/live.h"
#include "apapi/region_result.h"
#include "regions/page.h"

/*
 * The state of this process: its program page with names and nodes, its connection with the step's
 * sampler, and whether there is anything to measure. The first call of any thread decides that; a
 * child process after fork decides again. Any thread may call these functions. They do not wait
 * for the sampler.
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

/** Set up this process at the first call. @return whether there is something to measure. */
bool program_start(void);

/** Keep regions from now on, even outside of a measured step. */
void program_want(void);

/** Add 1 to a number of the page's head. */
static inline void program_count(uint64_t *number)
{
    __atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

/** In the child of a fork: begin again at the next call, without the parent's figures of merit. */
void program_forget(void);

/** @return the sampler's page with results, which stays mapped; NULL: none so far. */
const struct page_results *program_results(void);

/*
 * Names have numbers from 1 on, and are kept for as long as the process runs. INTERN_OTHER stands
 * for all names that there is no room for.
 */

#define INTERN_NAMES 256
#define INTERN_OTHER (INTERN_NAMES - 1)

/** @return number of a name; a new name is added. Takes a lock only for a new name. */
uint32_t intern_name(const char *name);

/** @return whether intern_name() has returned this number. */
bool intern_knows(uint32_t number);

/** @return whether `number` stands for `name`; always true for INTERN_OTHER. */
bool intern_is(uint32_t number, const char *name);

/**
 * @return a name as it is shown: bytes that are not printable UTF-8, "/" and "\" are "\xNN", an
 *         empty name is two quotes, the middle of a long name is left out
 */
const char *intern_shown(uint32_t number);

/** Node of a name within a node, by node and number of the name; 0: not known, see tree_node(). */
extern uint8_t tree_children[PAGE_NODES][INTERN_NAMES] __attribute__((visibility("hidden")));

/** @return node of the name `number` within `parent`; a new node is added. Takes a lock. */
uint32_t tree_node(uint32_t parent, uint32_t number);

/** @return whether the node, or one that encloses it, has the name `number`. */
bool tree_has(uint32_t node, uint32_t number);

/** @return number of a node's name: 0 for node 0, INTERN_OTHER for PAGE_REST. */
uint32_t tree_name(uint32_t node);

/**
 * Keep the last value of a figure of merit, with its unit, in the page.
 * @return 0; -1 with errno ENOSPC (there are APAPI_FOMS_MAX names with units), ENOTCONN
 */
int foms_set(const char *name, double value, const char *unit);

#endif
