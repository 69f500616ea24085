/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_REPORT_H
#define SPANK_APAPI_REPORT_H
#include <stdint.h>
#include <sys/socket.h>

#include "apapi/error.h"
#include "channel/channel.h"

/** Where srun collects, from APAPI_COLLECT_ENV. */
struct spank_apapi_collector {
    uint16_t port; /* 0: srun does not collect */
    char token[APAPI_TOKEN_LENGTH + 1];
};

/** A node's report to srun. */
struct spank_apapi_report {
    const char *word; /* APAPI_WORD_RECORD or APAPI_WORD_ABSENT */
    const char *node;
    const char *nodelist; /* of the step, "n[1-4]"; "": not known */
    const char *payload;
};

/**
 * Parse "PORT:TOKEN".
 * @return 0; -1 with errno EINVAL. `collector` is unchanged then.
 */
int spank_apapi_report_parse(const char *text, struct spank_apapi_collector *collector);

/**
 * Send a report to srun. If srun closes the connection without reading because of too many others,
 * the report is sent again, up to a second beyond the deadline.
 * @param address  numeric, IPv4 or IPv6
 * @return 0; -1 with errno EINVAL (not an address), ETIMEDOUT or that of the call that failed.
 */
int spank_apapi_report_send(const struct spank_apapi_collector *collector, const char *address,
                            const struct spank_apapi_report *report, uint64_t deadline_ns,
                            struct apapi_error *err);

#endif
