/* SPDX-License-Identifier: BSD-3-Clause */
/* Get Power Reading of the Data Center Manageability Interface, DCMI 1.5 section 6.6.1. */
#include "sources/ipmi/ipmi_dcmi.h"

#include <errno.h>

#define COMMAND 0x02
#define GROUP 0xdc
#define MODE_SYSTEM_POWER 0x01

/* Offsets of the response's fields of 16 and 32 bits, lowest byte first. */
#define AT_COMPLETION 1
#define AT_GROUP 2
#define AT_CURRENT_W 3
#define AT_PERIOD_MS 15
#define AT_STATE 19

#define STATE_ACTIVE 0x40
#define NS_PER_MS UINT64_C(1000000)

const uint8_t dcmi_power_request[DCMI_REQUEST_SIZE] = {COMMAND, GROUP, MODE_SYSTEM_POWER, 0, 0};

/* Completion codes of the IPMI 2.0 specification, table 5-2. */
static int completion_error(uint8_t code)
{
    switch (code) {
    case 0x00:
        return 0;
    case 0xc0: /* node busy */
    case 0xc3: /* timeout */
    case 0xd2: /* the BMC is starting */
        return EBUSY;
    case 0xc1: /* invalid command */
    case 0xc2: /* invalid for this LUN */
    case 0xc9: /* parameter out of range */
    case 0xcc: /* invalid data field */
    case 0xd4: /* insufficient privilege */
        return ENOTSUP;
    case 0xcb: /* not present */
    case 0xd5: /* not supported in the present state */
        return ENODATA;
    default:
        return EIO;
    }
}

int dcmi_power_parse(const uint8_t *response, int size, struct dcmi_power *power)
{
    const uint8_t *current = response + AT_CURRENT_W, *period = response + AT_PERIOD_MS;
    int error;

    if (size <= AT_COMPLETION || response[0] != COMMAND) {
        return EBADMSG;
    }
    error = completion_error(response[AT_COMPLETION]);
    if (error) {
        return error;
    }
    if (size < DCMI_RESPONSE_SIZE || response[AT_GROUP] != GROUP) {
        return EBADMSG;
    }
    /* A machine that answers does not draw 0 W: its BMC has no reading but does not report that. */
    if (current[0] == 0 && current[1] == 0) {
        return ENODATA;
    }
    power->power_w = current[0] | (unsigned)current[1] << 8;
    power->period_ns = NS_PER_MS * (period[0] | (uint32_t)period[1] << 8 |
                                    (uint32_t)period[2] << 16 | (uint32_t)period[3] << 24);
    power->active = response[AT_STATE] & STATE_ACTIVE;
    return 0;
}
