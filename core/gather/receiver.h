/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_RECEIVER_H
#define APAPI_GATHER_RECEIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "gather/forward.h"
#include "gather/sender.h"

/* At once, with at most APAPI_PAYLOAD_MAX bytes each; others wait in the listening socket's queue.
 */
#define RECEIVER_SENDERS 128

/** What was not taken. */
struct receiver_refused {
    size_t foreign; /* connections without the token: wrong, none, too slow */
    size_t damaged; /* of our nodes, which cannot be read */
    size_t twice;   /* of a node that is there already */
    size_t surplus; /* of nodes that the step does not have */
};

/**
 * Takes the nodes' records from the listening socket and merges them as they come. Everybody can
 * connect to it: without the token a connection changes and learns nothing.
 */
struct receiver {
    char token[APAPI_TOKEN_LENGTH + 1];
    size_t nodes; /* of the step; 0: not known */
    struct apapi_merge *merge;
    struct receiver_refused refused;
    size_t silent;                                              /* nodes that have nothing to say */
    void (*keep)(void *context, const char *line, size_t size); /* of every record; NULL: not */
    void *keep_context;
    struct forward *forward; /* every record goes on to there, too; NULL: not */
    /* gets what is sent, nothing is merged; what was cut off ends somewhere; NULL: not */
    void (*divert)(void *context, const struct delivery *delivery);
    void *divert_context;
    int listener;
    int poll; /* becomes readable when there is something to do */
    bool listening;
    bool starved;   /* no descriptors are left: others must end first */
    char *nodelist; /* the one heard last; NULL: none */
    size_t free_count;
    size_t free[RECEIVER_SENDERS]; /* indexes into `senders` */
    struct sender senders[RECEIVER_SENDERS];
};

/**
 * Begin to listen; token, nodes and keep are set by the caller, the rest is 0.
 * @param listener  listening socket, borrowed
 * @return 0; -1 with errno.
 */
int receiver_open(struct receiver *receiver, int listener);

/** Do what there is to do. Blocks never. */
void receiver_work(struct receiver *receiver);

/** @return when to work again even if nothing has happened [ms from now]; -1: no need to */
int receiver_patience_ms(const struct receiver *receiver);

/** Await the records of these nodes. */
void receiver_expect(struct receiver *receiver, const char *nodelist);

/** @return whether all nodes of the step have told what they have to tell. */
bool receiver_is_complete(const struct receiver *receiver);

/** What was not taken, in words. @return `text`; NULL: nothing. */
const char *receiver_describe(const struct receiver *receiver, char *text, size_t size);

/** Close and free all but the listening socket. */
void receiver_close(struct receiver *receiver);

#endif
