/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SENDER_H
#define SAMPLER_SENDER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/channel.h"

/** One connection to apapi-collect. Until it has shown the token it gets no memory. */
struct sender {
    int fd;            /* -1: free */
    uint64_t begun_ns; /* when it was accepted */
    bool trusted;      /* it has shown the token */
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

/** Begin with an accepted, non-blocking connection, which the sender then owns. */
void sender_begin(struct sender *sender, int fd, uint64_t now_ns);

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
