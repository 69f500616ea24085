/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_SORT_H
#define APAPI_TOTALS_SORT_H
#include "cli/totals/row_fields.h"

/**
 * Sort rows by a numeric field: the greatest first, unknown ones last, otherwise stable.
 * @param order  numbers of `count` rows; result
 * @return 0; -1 with errno ENOMEM.
 */
int report_sort(const struct report_ledger *ledger, const struct report_field *field,
                const struct rates *rates, uint32_t *order, size_t count);

#endif
