/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_LIVE_PAGE_H
#define SESSION_LIVE_PAGE_H
#include "apapi/live.h"

/** Make a page of zeros one of which nothing is known yet. */
void live_page_init(struct apapi_live_page *page);

/**
 * Put figures into a slot in one go, as its only writer.
 * @param figures  their `sequence` does not matter
 *
 * Whoever sees one of the words sees that the sequence was odd before it; whoever sees it even
 * again sees all of them.
 */
static inline void live_slot_write(struct apapi_live_slot *slot,
                                   const struct apapi_live_slot *figures)
{
    uint64_t sequence = slot->sequence;

    __atomic_store_n(&slot->sequence, sequence + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->time_ns, figures->time_ns, __ATOMIC_RELEASE);
    __atomic_store(&slot->total, &figures->total, __ATOMIC_RELEASE);
    __atomic_store(&slot->rate, &figures->rate, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->readings, figures->readings, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->interval_ns, figures->interval_ns, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->flags, figures->flags, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->spare, figures->spare, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
}

/** Set the least energy budget of the step and what of it was used [J], as its only writer. */
static inline void live_page_set_budget(struct apapi_live_page *page, double budget_j,
                                        double used_j)
{
    __atomic_store(&page->head.budget_used_j, &used_j, __ATOMIC_RELEASE);
    __atomic_store(&page->head.budget_j, &budget_j, __ATOMIC_RELEASE);
}

#endif
