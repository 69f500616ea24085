/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_STATE_H
#define NODE_STATE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"

/*
 * What a node sampler leaves behind for the next one, whenever it is killed: totals, and what the
 * counters showed at that moment. A file in memory, which ends with the boot as the counters do.
 * There are two copies; one is whole at any moment.
 */

#define NODE_COUNTERS 256 /* most counters that go on over a restart */

struct node_counter {
    uint64_t name;    /* a hash of the event's name; 0: none */
    uint64_t raw;     /* what it showed */
    uint64_t time_ns; /* when, CLOCK_MONOTONIC [ns] */
};

struct node_totals {
    uint64_t sequence;             /* the greater one is the newer; 0: not whole */
    uint64_t time_ns;              /* of the latest reading, CLOCK_MONOTONIC; 0: none [ns] */
    double total_j[APAPI_DOMAINS]; /* [J]; NaN: not known */
    struct node_counter counters[NODE_COUNTERS];
};

struct node_state {
    struct node_state_file *file; /* NULL: none */
    int descriptor;
    struct node_totals now; /* to be changed, then written */
};

#define NODE_STATE_NONE ((struct node_state){.descriptor = -1})

/**
 * Open the state of a node, and read into `now` what the last sampler has left; NaN and 0 if there
 * was none in this boot.
 * @param folder  of the node
 * @return 0; -1 with errno EWOULDBLOCK: another node sampler runs, or that of the call that failed.
 */
int node_state_open(struct node_state *state, int folder, struct apapi_error *err);

/** Write `now`. Does not allocate or block. */
void node_state_write(struct node_state *state);

/** @return what is known of an event; time_ns 0: it is new; NULL: no room. */
struct node_counter *node_state_counter(struct node_state *state, const char *name);

/** Free. */
void node_state_close(struct node_state *state);

#endif
