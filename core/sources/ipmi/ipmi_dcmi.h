/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_IPMI_DCMI_H
#define APAPI_SOURCES_IPMI_DCMI_H
#include <stdbool.h>
#include <stdint.h>

#define DCMI_NET_FN 0x2c /* requests of a group extension */
#define DCMI_REQUEST_SIZE 5
#define DCMI_RESPONSE_SIZE 20

/** The request for the power of the whole system: command, group, mode, attributes, reserved. */
extern const uint8_t dcmi_power_request[DCMI_REQUEST_SIZE];

struct dcmi_power {
    double power_w;     /* at present, > 0 */
    uint64_t period_ns; /* that the BMC's statistics span [ns]; 0: it does not say */
    bool active;        /* what the BMC says of its measuring; OpenBMC has said no and measured */
};

/**
 * What a BMC answers to it.
 * @param response  begins with the command and the completion code
 * @param power     set on success only
 * @return 0, ENOTSUP (no such command, or not at this privilege), ENODATA (no reading now), EBUSY,
 *         EBADMSG (no answer to this request), EIO.
 */
int dcmi_power_parse(const uint8_t *response, int size, struct dcmi_power *power);

#endif
