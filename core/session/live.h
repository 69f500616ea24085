/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_LIVE_H
#define SESSION_LIVE_H
#include "apapi/live.h"
#include "base/shared_page.h"

/** Turn a page of zeros into a live page on which no value is known yet. */
void live_page_init(struct apapi_live_page *page);

/** Write figures into a slot in one go, as its only writer. figures->sequence is ignored. */
static inline void live_slot_write(struct apapi_live_slot *slot,
                                   const struct apapi_live_slot *figures)
{
    shared_record_write(slot, figures, sizeof *slot);
}

/** Set the step's least energy budget, and the energy used of it [J], as the only writer. */
static inline void live_page_set_budget(struct apapi_live_page *page, double budget_j,
                                        double used_j)
{
    __atomic_store(&page->head.budget_used_j, &used_j, __ATOMIC_RELEASE);
    __atomic_store(&page->head.budget_j, &budget_j, __ATOMIC_RELEASE);
}

#endif
