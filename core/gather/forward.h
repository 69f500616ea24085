/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_FORWARD_H
#define APAPI_GATHER_FORWARD_H
#include <stdbool.h>
#include <stddef.h>

#include "channel/channel.h"

#define FORWARD_BATCH 65536 /* bytes that go over one connection, if no line is longer */

/**
 * Passes the records of a step on to whoever makes the job's table. Only for the display: what does
 * not work at once is given up without a word.
 */
struct forward {
    char name[32]; /* of an abstract socket of this machine; "": nobody wants them */
    char token[APAPI_TOKEN_LENGTH + 1];
    char step[64]; /* that has begun and not ended; "": none */
    size_t length;
    char bytes[FORWARD_BATCH];
};

/** @param where  value of APAPI_JOB_ENV; NULL and anything else that is none: forward nothing */
void forward_open(struct forward *forward, const char *where);

/** @return whether records are wanted. */
static inline bool forward_is_open(const struct forward *forward)
{
    return *forward->name != '\0';
}

/** Report that a step has begun. @param step  "17.0"; "": not known, nothing is reported */
void forward_begin(struct forward *forward, const char *step);

/** Pass on what has not been passed on yet, and report that the step has ended. */
void forward_end(struct forward *forward);

/** Pass on one line. */
void forward_record(struct forward *forward, const char *line, size_t size);

/** Pass on what has not been passed on yet. */
void forward_flush(struct forward *forward);

#endif
