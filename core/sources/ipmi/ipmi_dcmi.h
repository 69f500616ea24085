/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_DCMI_H
#define APAPI_SOURCES_IPMI_DCMI_H
#include <stdbool.h>
#include <stdint.h>

#define DCMI_NET_FN 0x2c /* requests of a group extension */
#define DCMI_REQUEST_SIZE 5
#define DCMI_RESPONSE_SIZE 20

/** Request for the power of the whole system: command, group, mode, attributes, reserved. */
extern const uint8_t dcmi_power_request[DCMI_REQUEST_SIZE];

struct dcmi_power {
    double power_w;     /* current power, > 0 */
    uint64_t period_ns; /* of the BMC's statistics [ns]; 0: not reported */
    bool active; /* whether the BMC says that it measures; OpenBMC said no although it measured */
};

/**
 * Parse the answer of a BMC.
 * @param response  begins with the command and the completion code
 * @param power     set on success only
 * @return 0, ENOTSUP (no such command, or not with this privilege), ENODATA (no reading now),
 * EBUSY, EBADMSG (not an answer to this request), EIO.
 */
int dcmi_power_parse(const uint8_t *response, int size, struct dcmi_power *power);

#endif
