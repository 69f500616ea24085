/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SUM_H
#define NODE_SUM_H
#include <stdbool.h>

#include "apapi/live.h"

/**
 * What Slurm is told of a node: package, dram and gpu, or the node's own meter. Pure arithmetic.
 * @param domains     by enum apapi_domain, written by the caller alone; those without a total are
 *                    left out
 * @param node_meter  whether the node's own meter counts
 * @param sum         result: all at the time of the latest reading; total NaN: nothing is known
 */
void node_sum(const struct apapi_live_slot domains[APAPI_LIVE_DOMAINS], bool node_meter,
              struct apapi_live_slot *sum);

#endif
