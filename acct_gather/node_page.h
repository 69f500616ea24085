/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCT_GATHER_NODE_PAGE_H
#define ACCT_GATHER_NODE_PAGE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/live.h"

/* What the node sampler says, <live_dir>/<node>/node. No call waits for it, or allocates. */
struct node_page {
    const struct apapi_live_page *page; /* NULL: there is none (yet) */
    char path[512];
};

/** What the node has drawn, and draws. */
struct node_energy {
    double energy_j;  /* since the first node sampler of this boot [J] */
    double power_w;   /* now [W]; NaN: nobody reads the meters */
    double mean_w;    /* since then [W] */
    uint64_t read_ns; /* when the meters were read, CLOCK_MONOTONIC [ns] */
};

/** Say where the page is. */
void node_page_init(struct node_page *page, const char *live_dir, const char *node);

/**
 * What the page says of this moment. It is mapped if it is there by now, and again if nobody
 * writes the one that is mapped.
 * @param now_ns  CLOCK_MONOTONIC [ns]
 * @return whether the energy is known
 */
bool node_page_read(struct node_page *page, uint64_t now_ns, struct node_energy *energy);

void node_page_close(struct node_page *page);

#endif
