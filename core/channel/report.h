/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_REPORT_H
#define CHANNEL_REPORT_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "channel/channel.h"

/** The address at which srun collects reports, from APAPI_COLLECT_ENV. */
struct report_collector {
    uint16_t port; /* 0: srun does not collect */
    char token[APAPI_TOKEN_LENGTH + 1];
    uint32_t
        totals_ms; /* time between two totals that srun wants of each node [ms]; 0: it wants none */
};

/** The message of a node to srun. */
struct report {
    const char *word; /* APAPI_WORD_RECORD, APAPI_WORD_ABSENT or APAPI_WORD_TOTAL */
    const char *node;
    const char *nodelist; /* of the step, "n[1-4]"; "": not known */
    const char *payload;
    char *answer; /* result: srun's answer, "": none; NULL: not needed */
    size_t answer_size;
};

/**
 * Parse "PORT:TOKEN" or "PORT:TOKEN:TOTALS_MS".
 * @return 0; -1 with errno EINVAL. `collector` is unchanged then.
 */
int report_parse(const char *text, struct report_collector *collector);

/**
 * Send a report to srun. If srun closes the connection without reading because of too many others,
 * the report is sent again, up to a second beyond the deadline.
 * @param address  numeric, IPv4 or IPv6
 * @return 0; -1 with errno of the call that failed, EINVAL (not an address), ETIMEDOUT.
 */
int report_send(const struct report_collector *collector, const char *address,
                const struct report *report, uint64_t deadline_ns, struct apapi_error *err);

#endif
