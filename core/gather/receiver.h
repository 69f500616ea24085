/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_RECEIVER_H
#define APAPI_GATHER_RECEIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "channel/channel.h"

/* Most simultaneous senders, each with up to APAPI_PAYLOAD_MAX bytes; more wait in the backlog. */
#define RECEIVER_SENDERS 128

/** The origin of a connection: a remote address, or a user of this machine. */
struct sender_origin {
    uint8_t bytes[17]; /* the first byte is the address family */
};

/** One connection to a receiver. It gets no memory before it has shown the token. */
struct sender {
    int fd;            /* accepted, never blocks, owned; -1: free */
    uint64_t begun_ns; /* when it was accepted */
    struct sender_origin origin;
    bool trusted; /* it has shown the token */
    char token[APAPI_TOKEN_LENGTH];
    size_t length; /* bytes received: of the token; once trusted, of the message after it */
    size_t room;
    char *bytes;
};

/** The message of a sender that has shown the token. All texts are borrowed from the sender. */
struct delivery {
    const char *word;     /* APAPI_WORD_RECORD, APAPI_WORD_ABSENT ... */
    const char *node;     /* name of the node, or of the step */
    const char *nodelist; /* of the step, "n[1-4]"; "": not sent */
    const char *payload;  /* followed by a NUL */
    size_t size;
    bool whole; /* the message was not cut off */
    int fd;     /* for the answer to APAPI_WORD_TOTAL; -1: the connection is closed */
};

/** Counts of what was refused. */
struct receiver_refused {
    size_t foreign; /* connections without the token: wrong, missing or too slow */
    size_t damaged; /* unreadable messages */
    size_t twice;   /* records of nodes that have sent one already; the owner counts them */
    size_t surplus; /* records of nodes that are not in the step; the owner counts them */
};

/**
 * Receives messages on a listening socket as they arrive. Anyone can connect. A connection without
 * the token changes nothing and learns nothing.
 */
struct receiver {
    char token[APAPI_TOKEN_LENGTH + 1];
    void (*take)(void *context, const struct delivery *delivery); /* called with every message */
    void *context;
    struct receiver_refused refused;
    size_t most_bytes; /* of all senders in memory; a message beyond it is cut off; 0: no limit */
    uint64_t slice_ns; /* receiver_work() begins nothing more after this time; 0: no limit */
    int listener;
    int poll; /* an epoll descriptor, readable when there is work */
    bool listening;
    bool starved; /* accept4() has failed: no descriptors or memory until connections end */
    size_t free_count;
    size_t free[RECEIVER_SENDERS]; /* indexes into `senders` */
    struct sender senders[RECEIVER_SENDERS];
};

/**
 * Begin to listen. The caller has set token, take, context and the limits; all else is 0.
 * @param listener  listening socket, borrowed
 * @return 0; -1 with errno.
 */
int receiver_open(struct receiver *receiver, int listener);

/** Do pending work, all of it or for about slice_ns. Never blocks. */
void receiver_work(struct receiver *receiver);

/**
 * @return when to call receiver_work() again even if nothing happens [ms from now]; -1: no need to
 */
int receiver_patience_ms(const struct receiver *receiver);

/**
 * Find the origin of an accepted connection. Addresses that one host can choose freely are one
 * origin: the IPv4 loopback network, and each /64 of IPv6.
 * @param peer  from accept(2)
 */
struct sender_origin sender_find_origin(int fd, const struct sockaddr_storage *peer);

/** Close and free everything except the listening socket. */
void receiver_close(struct receiver *receiver);

#endif
