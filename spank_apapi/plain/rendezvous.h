/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_RENDEZVOUS_H
#define SPANK_APAPI_RENDEZVOUS_H
#include "apapi/error.h"
#include "channel/channel.h"

/** Where the sruns of a job forward their records for the job's table: a socket of this machine. */
struct spank_apapi_rendezvous {
    int listener; /* close-on-exec; -1: none */
    char token[APAPI_TOKEN_LENGTH + 1];
    char where[APAPI_TOKEN_LENGTH + 32]; /* value of APAPI_JOB_ENV */
};

#define SPANK_APAPI_RENDEZVOUS_NONE ((struct spank_apapi_rendezvous){.listener = -1})

/** Listen. @return 0; -1 with errno. `rendezvous` is unchanged then. */
int rendezvous_open(struct spank_apapi_rendezvous *rendezvous, struct apapi_error *err);

/** Close this copy of the listener. */
void rendezvous_close(struct spank_apapi_rendezvous *rendezvous);

#endif
