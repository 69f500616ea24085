/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_TRANSFER_H
#define APAPI_GATHER_TRANSFER_H
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
    int fd;            /* accepted, never blocks, owned; -1: free */
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

/** The message of a node. Texts are borrowed from the sender. */
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

/** Read what has arrived. Never blocks. @param most  bytes that it may have in memory */
enum sender_state sender_read(struct sender *sender, const char *token, size_t most);

/**
 * Split what a trusted sender has sent so far.
 * @return 0; -1: its first line is missing or malformed.
 */
int sender_parse(struct sender *sender, struct delivery *delivery);

/** Close the connection. Its messages stay until sender_end(). */
void sender_close(struct sender *sender);

/** Close and free. */
void sender_end(struct sender *sender);

#define FORWARD_BATCH 65536 /* bytes sent over one connection, unless a single line is longer */

/**
 * Forwards the records of a step to the process that makes the job's table. They are for display
 * only. What cannot be sent at once is dropped silently.
 */
struct forward {
    char name[32]; /* of an abstract socket of this machine; "": no one collects */
    char token[APAPI_TOKEN_LENGTH + 1];
    char step[64]; /* that is running; "": none */
    size_t length;
    char bytes[FORWARD_BATCH];
};

/** @param where  value of APAPI_JOB_ENV; if NULL or malformed, nothing is forwarded */
void forward_open(struct forward *forward, const char *where);

/** @return whether records are forwarded. */
static inline bool forward_is_open(const struct forward *forward)
{
    return *forward->name != '\0';
}

/** Report the start of a step. @param step  "17.0"; "": not known, nothing is reported */
void forward_begin(struct forward *forward, const char *step);

/** Send what is still buffered and report the end of the step. */
void forward_end(struct forward *forward);

/** Forward one line. */
void forward_record(struct forward *forward, const char *line, size_t size);

/** Forward the totals of the step's nodes, see channel.h. They are dropped if they cannot be sent.
 */
void forward_totals(const struct forward *forward, const char *lines, size_t size);

/** Send what is still buffered. */
void forward_flush(struct forward *forward);

#endif
