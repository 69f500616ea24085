/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_SENDER_H
#define APAPI_GATHER_SENDER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "channel/channel.h"

/** The origin of a connection: a remote address, or a user of this machine. */
struct sender_origin {
    uint8_t bytes[17]; /* the first byte is the address family */
};

/** One connection to apapi-collect. It gets no memory before it has shown the token. */
struct sender {
    int fd;            /* -1: free */
    uint64_t begun_ns; /* when it was accepted */
    struct sender_origin origin;
    bool trusted; /* it has shown the token */
    char token[APAPI_TOKEN_LENGTH];
    size_t length; /* bytes of the token; once trusted, bytes of what follows */
    size_t room;
    char *bytes;
};

enum sender_state {
    SENDER_READING,
    SENDER_DONE,    /* everything has arrived */
    SENDER_LOST,    /* broken or too long, after the token */
    SENDER_FOREIGN, /* no valid token */
};

/** What a node has sent. Texts are borrowed from the sender. */
struct delivery {
    const char *word; /* APAPI_WORD_RECORD, APAPI_WORD_ABSENT */
    const char *node;
    const char *nodelist; /* of the step, "n[1-4]"; "": not sent */
    const char *payload;  /* followed by a NUL */
    size_t size;
};

/**
 * Find the origin of an accepted connection. Addresses that one host can choose freely are one
 * origin: the IPv4 loopback network, and each /64 of IPv6.
 * @param peer  from accept(2)
 */
struct sender_origin sender_find_origin(int fd, const struct sockaddr_storage *peer);

/** Start with an accepted, non-blocking connection. The sender owns it from now on. */
void sender_begin(struct sender *sender, int fd, const struct sender_origin *origin,
                  uint64_t now_ns);

/** Read what has arrived. Never blocks. @param most  bytes that it may have in memory */
enum sender_state sender_read(struct sender *sender, const char *token, size_t most);

/**
 * Split what a trusted sender has sent so far.
 * @return 0; -1: its first line is missing or malformed.
 */
int sender_parse(struct sender *sender, struct delivery *delivery);

/** Close the connection. What it has sent stays until sender_end(). */
void sender_close(struct sender *sender);

/** Close and free. */
void sender_end(struct sender *sender);

#endif
