/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SHARES_H
#define NODE_SHARES_H
#include "node/hours.h"

/** The steps that run on the node, and the share of its energy that each of them is given. */
struct node_shares;

/** @return free it with node_shares_free(); NULL: nothing is shared. */
struct node_shares *node_shares_new(const struct node_shares_settings *settings);

/**
 * Divide a reading of the node's meters. Called by one thread. Only node_hours_add() allocates.
 * @param shares  NULL is allowed
 */
void node_shares_add(struct node_shares *shares, const struct node_reading *reading);

/** Write the present hour and free `shares`. NULL is allowed. */
void node_shares_free(struct node_shares *shares);

#endif
