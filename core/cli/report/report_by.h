/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REPORT_BY_H
#define APAPI_REPORT_BY_H
#include <stddef.h>

#include "cli/totals/totals.h"

#define REPORT_BY_SIZE 64 /* for all its words */

/**
 * Set what a row is: "job", "step", "node", or a list of what its jobs have in common,
 * "user,account".
 * @return 0; -1 with errno EINVAL: the ledger is unchanged.
 */
int report_by_parse(const char *text, struct report_ledger *ledger, struct apapi_error *err);

/** Write it in the same words. */
void report_by_text(const struct report_ledger *ledger, char *text, size_t size);

/** The fields that are shown by default. */
void report_by_format(const struct report_ledger *ledger, char *text, size_t size);

#endif
