/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_AUDIT_PRINT_H
#define APAPI_AUDIT_PRINT_H
#include "cli/audit/audit.h"

/** What is printed, and how. */
struct audit_page {
    const struct audit_ledger *ledger;
    const uint32_t *order; /* rows */
    size_t count;          /* of `order`; the total is of all rows */
    bool no_header;
};

/* Print to standard output. 0; -1: out of memory. */
int audit_print_table(const struct audit_page *page);
int audit_print_csv(const struct audit_page *page);
int audit_print_json(const struct audit_page *page);

/** @return the sum of all rows. */
struct audit_row audit_page_total(const struct audit_page *page);

/** The row's day as "2026-11-21". */
void audit_day_text(const struct audit_row *row, char *text, size_t size);

#endif
