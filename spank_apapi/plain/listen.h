/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_LISTEN_H
#define SPANK_APAPI_LISTEN_H
#include <stdint.h>

#include "apapi/error.h"

/**
 * Listen for the nodes, on IPv4 and, if available, IPv6.
 * @param first, last  range of ports; 0, 0: any
 * @param port         result, set on success only
 * @return descriptor, close-on-exec, above the standard ones; -1 with errno EADDRINUSE (all ports
 * are taken) or that of the call that failed.
 */
int spank_apapi_listen(uint16_t first, uint16_t last, uint16_t *port, struct apapi_error *err);

#endif
