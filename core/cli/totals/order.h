/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_ORDER_H
#define APAPI_TOTALS_ORDER_H
#include "cli/totals/pieces.h"

/** @return whether it counts: it has records, and ended in one of the wanted states. */
bool report_bucket_counts(const struct report_ledger *ledger, uint32_t bucket);

/** @return sorted numbers of all buckets that count, to be freed; NULL: out of memory. */
uint32_t *report_order_buckets(const struct report_ledger *ledger, size_t *count);

/** Numbers of all rows in order, and their count. @return free it with free(); NULL: ENOMEM. */
uint32_t *report_ledger_order(const struct report_ledger *ledger, size_t *count);

#endif
