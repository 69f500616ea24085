/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_PAGE_H
#define MS_COMMON_PAGE_H
#include <stdbool.h>
#include <stdint.h>

#include "ms_common/map.h"

/*
 * The live page of this process's job step, for users who may not read the meters themselves. One
 * thread at a time.
 */

struct page;

/** @return free it with page_close(). NULL: there is none, or no memory */
struct page *page_open(void);

/** @return whether the page has figures of a resource. NULL: it has not. */
bool page_has(const struct page *page, enum resource resource);

/** @return its events; what a domain has that no event shows is an event of its own. */
struct event_table page_events(const struct page *page);

/** Count from now on. @param now_ns  CLOCK_MONOTONIC [ns] */
void page_start(struct page *page, uint64_t now_ns);

/** Read all figures. @return one for each event, valid until the next call; since the start */
const struct figure *page_read(struct page *page, uint64_t now_ns);

/** NULL is allowed. */
void page_close(struct page *page);

#endif
