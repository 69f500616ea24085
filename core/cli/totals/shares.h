/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_SHARES_H
#define APAPI_TOTALS_SHARES_H
#include "cli/totals/pieces.h"

/*
 * What jobs were given of their nodes' energy. Shares of steps that run at the same time add up;
 * but each step that had the whole node has all of it, each moment of which counts once.
 */

/** @return the record with its share as its energy; valid until the next call. */
const struct apapi_record *report_share_of(const struct apapi_record *record);

/** Replace the energies of a total by those of the shares. 0; -1 with errno ENOMEM. */
int report_shares_total(const struct report_ledger *ledger, const struct pieces *pieces,
                        struct apapi_job_total *total);

/** Count the pieces without a share, and name them. @param job_id  "17" or "" */
size_t report_shareless(const struct report_ledger *ledger, const struct pieces *pieces,
                        const char *job_id, const struct report_view *view);

#endif
