/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_MERGE_H
#define APAPI_RECORD_MERGE_H
#include <sys/types.h>

#include "apapi/record.h"

/** A node of the step. Without a record, `record` holds its name and the reason only. */
struct merge_node {
    bool absent;
    struct apapi_record record;
};

/** One domain on all nodes of a step. */
struct merge_domain {
    size_t nodes; /* on so many it was measured */
    double energy_j;
    struct apapi_summary power_w; /* min and max: sums of the nodes' own, bounds of the step's;
                                     p95: NaN with more than one node */
    double uncertainty_j;         /* sum of the nodes' own */
};

/**
 * All nodes, those with a record first, in the order of their index.
 * @param nodes  result, borrowed from `merge`; the array is freed with free(); set on success only
 * @return how many have a record; -1 with ENOMEM.
 */
ssize_t merge_nodes(const struct apapi_merge *merge, const struct merge_node ***nodes);

/** Add up a domain over `count` nodes with records. Nothing measured: all NaN. */
void merge_domain(const struct merge_node *const *nodes, size_t count, enum apapi_domain domain,
                  struct merge_domain *result);

#endif
