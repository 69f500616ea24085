/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_ORDER_H
#define APAPI_TOTALS_ORDER_H
#include "cli/totals/pieces.h"

/** @return whether it is to be counted: it has records, and ended in one of the wanted states. */
bool report_bucket_counts(const struct report_ledger *ledger, uint32_t bucket);

/** @return numbers of all buckets that count in their order, to be freed; NULL without memory. */
uint32_t *report_order_buckets(const struct report_ledger *ledger, size_t *count);

/** Numbers of all rows in their order, and how many. @return to be freed; NULL without memory. */
uint32_t *report_ledger_order(const struct report_ledger *ledger, size_t *count);

#endif
