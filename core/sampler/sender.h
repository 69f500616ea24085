/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SENDER_H
#define SAMPLER_SENDER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"

/** One connection of a node to apapi-collect. */
struct sender {
    int fd; /* -1: free */
    uint64_t deadline_ns;
    size_t length, room;
    char *bytes;
};

enum sender_state {
    SENDER_READING,
    SENDER_DONE, /* all has arrived */
    SENDER_LOST  /* broken, too slow or too long */
};

/** Begin with an accepted, non-blocking connection, which the sender then owns. */
void sender_begin(struct sender *sender, int fd, uint64_t deadline_ns);

/** Take what has arrived. Blocks never. */
enum sender_state sender_read(struct sender *sender);

/**
 * Understand what a sender has sent and put it into the merge.
 * @return 0; -1: not from one of our nodes (wrong token, no record, a node that is there already).
 */
int sender_deliver(const struct sender *sender, const char *token, struct apapi_merge *merge);

/** Close and free. */
void sender_end(struct sender *sender);

#endif
