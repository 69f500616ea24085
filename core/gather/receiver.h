/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_RECEIVER_H
#define APAPI_GATHER_RECEIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "apapi/record.h"
#include "gather/forward.h"

/* Simultaneous senders with up to APAPI_PAYLOAD_MAX bytes each; more wait in the backlog. */
#define RECEIVER_SENDERS 128

/** The origin of a connection: a remote address, or a user of this machine. */
struct sender_origin {
    uint8_t bytes[17]; /* the first byte is the address family */
};

/** One connection to apapi-collect. It gets no memory before it has shown the token. */
struct sender {
    int fd;            /* accepted, never blocks, owned; -1: free */
    uint64_t begun_ns; /* when it was accepted */
    struct sender_origin origin;
    bool trusted; /* it has shown the token */
    char token[APAPI_TOKEN_LENGTH];
    size_t length; /* bytes of the token; once trusted, bytes of what follows */
    size_t room;
    char *bytes;
};

/** The message of a node. Texts are borrowed from the sender. */
struct delivery {
    const char *word; /* APAPI_WORD_RECORD, APAPI_WORD_ABSENT */
    const char *node;
    const char *nodelist; /* of the step, "n[1-4]"; "": not sent */
    const char *payload;  /* followed by a NUL */
    size_t size;
};

/** Counts of what was refused. */
struct receiver_refused {
    size_t foreign; /* connections without the token: wrong, missing or too slow */
    size_t damaged; /* unreadable records of our nodes */
    size_t twice;   /* of nodes that have sent one already */
    size_t surplus; /* of nodes that are not in the step */
};

/**
 * Receives the nodes' records on the listening socket and merges them as they arrive. Anyone can
 * connect. A connection without the token changes nothing and learns nothing.
 */
struct receiver {
    char token[APAPI_TOKEN_LENGTH + 1];
    size_t nodes; /* of the step; 0: not known */
    struct apapi_merge *merge;
    struct receiver_refused refused;
    size_t silent; /* nodes that have nothing to report */
    /* called with every record; NULL: not needed */
    void (*keep)(void *context, const char *line, size_t size);
    void *keep_context;
    struct forward *forward; /* also gets every record; NULL: not needed */
    /* if set, gets everything that is sent, cut off or not, and nothing is merged */
    void (*divert)(void *context, const struct delivery *delivery);
    void *divert_context;
    /* called with every total of a node, before its connection is closed; NULL: they are refused */
    void (*total)(void *context, const struct delivery *delivery, int fd);
    /* called when the step has ended on a node; energy [J], NaN: not known; NULL: not needed */
    void (*ended)(void *context, const char *node, double total_j);
    void *budget_context; /* of these two */
    size_t most_bytes;    /* of all senders together; what exceeds them is cut off; 0: no limit */
    uint64_t slice_ns;    /* receiver_work() begins nothing after so long; 0: it does all */
    int listener;
    int poll; /* readable when there is work */
    bool listening;
    bool starved;   /* out of descriptors until other connections end */
    char *nodelist; /* the last one received; NULL: none */
    size_t free_count;
    size_t free[RECEIVER_SENDERS]; /* indexes into `senders` */
    struct sender senders[RECEIVER_SENDERS];
};

/**
 * Begin to listen. The caller sets token, nodes and keep; everything else is 0.
 * @param listener  listening socket, borrowed
 * @return 0; -1 with errno.
 */
int receiver_open(struct receiver *receiver, int listener);

/** Do pending work: all of it, or a slice. Never blocks. */
void receiver_work(struct receiver *receiver);

/**
 * @return when to call receiver_work() again even if nothing happens [ms from now]; -1: no need to
 */
int receiver_patience_ms(const struct receiver *receiver);

/** Expect records of these nodes. */
void receiver_expect(struct receiver *receiver, const char *nodelist);

/** @return whether every node of the step has reported. */
bool receiver_is_complete(const struct receiver *receiver);

/** Describe what was refused. @return `text`; NULL: nothing was refused. */
const char *receiver_describe(const struct receiver *receiver, char *text, size_t size);

/**
 * Find the origin of an accepted connection. Addresses that one host can choose freely are one
 * origin: the IPv4 loopback network, and each /64 of IPv6.
 * @param peer  from accept(2)
 */
struct sender_origin sender_find_origin(int fd, const struct sockaddr_storage *peer);

/** Close and free everything except the listening socket. */
void receiver_close(struct receiver *receiver);

#endif
