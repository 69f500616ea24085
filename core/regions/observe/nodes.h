/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_NODES_H
#define OBSERVE_NODES_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/region_result.h"
#include "regions/page.h"

/*
 * The regions of all programs of a step on this node. The same name in the same region is the same
 * node, whichever program has it.
 */

#define NODES_MAX 1024
enum { NODES_UNMARKED, NODES_REST, NODES_FIRST }; /* the first two have no name */

struct nodes_one {
    uint32_t parent; /* a node before this one, or NODES_UNMARKED */
    uint32_t programs, threads;
    uint64_t count;
    double time_s;
    char name[PAGE_NAME_SIZE];
};

struct nodes {
    size_t count;
    uint64_t lost; /* names that have no node */
    struct nodes_one list[NODES_MAX];
};

void nodes_init(struct nodes *nodes);

/** @return the node; NODES_REST: there is no room for it. Does not allocate. */
size_t nodes_find(struct nodes *nodes, size_t parent, const char *name);

/** Write "outer/inner"; of a longer path its end. */
void nodes_path(const struct nodes *nodes, size_t node, char path[APAPI_REGION_PATH_SIZE]);

#endif
