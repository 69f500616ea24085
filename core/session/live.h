/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_LIVE_H
#define SESSION_LIVE_H
#include "apapi/live.h"
#include "base/shared_page.h"

struct component;
struct feed;

/** Make a page of zeros one of which nothing is known yet. */
void live_page_init(struct apapi_live_page *page);

/** Put figures into a slot in one go, as its only writer. Their `sequence` does not matter. */
static inline void live_slot_write(struct apapi_live_slot *slot,
                                   const struct apapi_live_slot *figures)
{
    shared_record_write(slot, figures, sizeof *slot);
}

/** Set the least energy budget of the step and what of it was used [J], as its only writer. */
static inline void live_page_set_budget(struct apapi_live_page *page, double budget_j,
                                        double used_j)
{
    __atomic_store(&page->head.budget_used_j, &used_j, __ATOMIC_RELEASE);
    __atomic_store(&page->head.budget_j, &budget_j, __ATOMIC_RELEASE);
}

/*
 * A session's figures on its live page. A component's slots are written by whoever reads it, one
 * thread at a time. No call allocates, locks or logs. Where the page is NULL, nothing happens.
 */

/** A measurement begins. @param unix_ns, now_ns  the same moment, UTC and CLOCK_MONOTONIC */
void live_begin(struct apapi_live_page *page, int64_t unix_ns, uint64_t now_ns);

/** All have been read once. */
void live_run(struct apapi_live_page *page);

/** All figures are the last ones. */
void live_end(struct apapi_live_page *page, uint64_t now_ns);

/*
 * The following know by `feeds`, one for each domain, whose figures a domain's slot has: one call
 * at a time.
 */

/** A component is open and knows its domains: its events get their slots. */
void live_join(struct apapi_live_page *page, struct component *component, const struct feed *feeds);

/** A component's figures start again. */
void live_restart(struct apapi_live_page *page, const struct component *component,
                  const struct feed *feeds);

/** The component at `index` of the list has been read. */
void live_show(struct apapi_live_page *page, const struct component *component, size_t index,
               struct feed *feeds);

/** It will not be read any more: the figures become those of its result. */
void live_finish(struct apapi_live_page *page, const struct component *component, size_t index,
                 struct feed *feeds);

#endif
