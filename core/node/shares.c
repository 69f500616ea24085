/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/shares.h"

#include <stddef.h>

struct node_shares *node_shares_new(const struct node_shares_settings *settings)
{
    (void)settings;
    return NULL;
}

void node_shares_add(struct node_shares *shares, const struct node_reading *reading)
{
    (void)shares;
    (void)reading;
}

void node_shares_free(struct node_shares *shares)
{
    (void)shares;
}
