/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_LINK_H
#define REGIONS_LINK_H
#include "regions/message.h"
#include "regions/page.h"

/*
 * The connection of this process with the step's sampler. Nothing here waits.
 */

/** Connect and hand the program page over. @param page  its memfd; -1: there is none */
void link_open(int page);

/** Send a message. 0; -1 with errno ENOTCONN or that of sendmsg(2). */
int link_send(const struct region_message *message);

/** @return the sampler's page with results, which stays mapped; NULL: none so far. */
const struct page_results *link_results(void);

/** Close the connection; also in the child of a fork, whose parent keeps it. */
void link_close(void);

#endif
