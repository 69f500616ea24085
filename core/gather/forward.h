/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_FORWARD_H
#define APAPI_GATHER_FORWARD_H
#include <stdbool.h>
#include <stddef.h>

#include "channel/channel.h"

#define FORWARD_BATCH 65536 /* bytes sent over one connection, unless a single line is longer */

/**
 * Forwards the records of a step to the process that makes the job's table. The records are for
 * display only. A record that cannot be sent at once is dropped silently.
 */
struct forward {
    char name[32]; /* of the abstract socket to connect to; "": nothing is forwarded */
    char token[APAPI_TOKEN_LENGTH + 1];
    char step[64]; /* the running step; "": none */
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

/** Forward the totals of the step's nodes (see channel.h); drop them if they cannot be sent. */
void forward_totals(const struct forward *forward, const char *lines, size_t size);

/** Send what is still buffered. */
void forward_flush(struct forward *forward);

#endif
