/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_TREE_H
#define REGIONS_TREE_H
#include <stdbool.h>
#include <stdint.h>

#include "regions/intern.h"

/*
 * The nodes of this process, in its program page: a name within another node. Any thread.
 */

/** Node of a name in a node; 0: not known, see tree_node(). */
extern uint8_t tree_children[PAGE_NODES][INTERN_NAMES] __attribute__((visibility("hidden")));

/** @return node of the name `number` in `parent`; it is added if it is new. Locks. */
uint32_t tree_node(struct page_program *page, uint32_t parent, uint32_t number);

/** @return whether a name is that of a node or of one that it is in. */
bool tree_has(const struct page_program *page, uint32_t node, uint32_t number);

/** @return name of a node; 0: of node 0, INTERN_OTHER: of PAGE_REST. */
uint32_t tree_name(uint32_t node);

/** Forget all nodes: for a new page. */
void tree_clear(void);

/** After a fork: the lock may have been held. */
void tree_unlock(void);

#endif
