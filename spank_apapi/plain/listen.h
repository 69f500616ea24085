/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_LISTEN_H
#define SPANK_APAPI_LISTEN_H
#include <stdint.h>

#include "apapi/error.h"

/**
 * Listen where the nodes can connect to, with IPv4 and, if the machine has it, IPv6.
 * @param first, last  ports that may be taken; 0, 0: any
 * @param port         result, set on success only
 * @return descriptor, close-on-exec, above the standard ones; -1 with errno EADDRINUSE (all of them
 *         are taken) or that of the call that failed.
 */
int spank_apapi_listen(uint16_t first, uint16_t last, uint16_t *port, struct apapi_error *err);

#endif
