/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_SENDER_H
#define APAPI_GATHER_SENDER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "channel/channel.h"

/** Whose connection it is: an address, or the user of a process of this machine. */
struct sender_origin {
    uint8_t bytes[17]; /* the first is the family */
};

/** One connection to apapi-collect. Until it has shown the token it gets no memory. */
struct sender {
    int fd;            /* -1: free */
    uint64_t begun_ns; /* when it was accepted */
    struct sender_origin origin;
    bool trusted; /* it has shown the token */
    char token[APAPI_TOKEN_LENGTH];
    size_t length; /* bytes of the token or, once trusted, of what follows */
    size_t room;
    char *bytes;
};

enum sender_state {
    SENDER_READING,
    SENDER_DONE,    /* all has arrived */
    SENDER_LOST,    /* broken or too long, behind the token */
    SENDER_FOREIGN, /* nobody who has the token */
};

/** What a node has sent. Texts are borrowed from the sender. */
struct delivery {
    const char *word; /* APAPI_WORD_RECORD, APAPI_WORD_ABSENT */
    const char *node;
    const char *nodelist; /* of the step, "n[1-4]"; "": not told */
    const char *payload;  /* followed by a NUL */
    size_t size;
};

/**
 * Say whose an accepted connection is. One who may choose among many addresses is one all the same:
 * the loopback network of IPv4 counts as one, of IPv6 each /64.
 * @param peer  what accept(2) has said
 */
struct sender_origin sender_find_origin(int fd, const struct sockaddr_storage *peer);

/** Begin with an accepted, non-blocking connection, which the sender then owns. */
void sender_begin(struct sender *sender, int fd, const struct sender_origin *origin,
                  uint64_t now_ns);

/** Take what has arrived. Blocks never. */
enum sender_state sender_read(struct sender *sender, const char *token);

/**
 * Divide what a trusted sender has sent so far.
 * @return 0; -1: its first line is not there or is none of ours.
 */
int sender_parse(struct sender *sender, struct delivery *delivery);

/** Close and free. */
void sender_end(struct sender *sender);

#endif
