/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_LISTEN_H
#define SPANK_APAPI_LISTEN_H
#include <stdint.h>

#include "apapi/error.h"
#include "channel/channel.h"

/*
 * Where nodes report to srun, and the sruns of a job to its batch step or salloc. All descriptors
 * are close-on-exec and above the standard ones.
 */

/** Make a random token. @return 0; -1 with errno. */
int spank_apapi_token(char token[APAPI_TOKEN_LENGTH + 1]);

/**
 * Listen for the nodes, on IPv4 and, if available, IPv6.
 * @param first, last  range of ports; 0, 0: any
 * @param port         result, set on success only
 * @return descriptor; -1 with errno EADDRINUSE (all ports are taken) or that of the call that
 * failed.
 */
int spank_apapi_listen(uint16_t first, uint16_t last, uint16_t *port, struct apapi_error *err);

/** Where the sruns of a job forward their records for the job's table: a socket of this machine. */
struct spank_apapi_rendezvous {
    int listener; /* -1: none */
    char token[APAPI_TOKEN_LENGTH + 1];
    char where[APAPI_TOKEN_LENGTH + 32]; /* value of APAPI_JOB_ENV */
};

#define SPANK_APAPI_RENDEZVOUS_NONE ((struct spank_apapi_rendezvous){.listener = -1})

/** Listen. @return 0; -1 with errno. `rendezvous` is unchanged then. */
int rendezvous_open(struct spank_apapi_rendezvous *rendezvous);

/** Close this copy of the listener. */
void rendezvous_close(struct spank_apapi_rendezvous *rendezvous);

#endif
