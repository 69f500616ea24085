/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SHARE_END_H
#define NODE_SHARE_END_H
#include "node/share_page.h"

/** A step at its end. */
struct share_end {
    struct share_found found;     /* energies up to the end */
    bool orphaned;                /* the node sampler that wrote them has ended */
    uint64_t tail_ns;             /* since the last reading */
    double cpu_s;                 /* used in that time [s] */
    double tail_j[APAPI_DOMAINS]; /* what `found.row` has of that time */
};

/** Longest time for which share_end_refresh() waits [ns]. */
#define SHARE_END_WAIT_NS UINT64_C(200000000)

/**
 * Have the node sampler read the meters, unless it has just done so, and wait until the page shows
 * it. If it does not answer, what comes after its last reading is extrapolated.
 */
void share_end_refresh(const struct share_asked *asked);

/**
 * Find what a step is given in all, while its control group is still there: what the node sampler
 * has found, and after its last reading by what the step has used since then. Does not wait.
 * @param end  result; `found.head.size` 0: the node has no page
 * @return 0; -1: the step is not known, or began after the node sampler had ended
 */
int share_end_look(const struct share_asked *asked, struct share_end *end);

/** Tell the node sampler that a record says so. */
void share_end_claim(const struct share_asked *asked, const struct share_end *end);

#endif
