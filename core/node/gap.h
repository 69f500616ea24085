/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_GAP_H
#define NODE_GAP_H
#include <stdint.h>

#include "apapi/event.h"
#include "node/state.h"

/**
 * What a counter has counted between two readings of two processes. Pure arithmetic.
 * @param before  what the earlier one saw
 * @param now_ns  of the later reading, CLOCK_MONOTONIC [ns]
 * @return [J]; NaN: not known, because the counter began again, or may have wrapped unseen
 */
double node_gap_j(const struct apapi_event *event, const struct node_counter *before, uint64_t raw,
                  uint64_t now_ns);

#endif
