/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_AUDIT_RESULT_H
#define APAPI_AUDIT_RESULT_H
#include "cli/audit/audit.h"

/* What follows from a row, and how it is printed. */

#define AUDIT_REASONS (AUDIT_GAP_KINDS + 8)

/** What explains that not everything is accounted for. */
struct audit_reason {
    const char *text; /* "sampler down", "no record" */
    uint64_t count;   /* 0: not known, or it does not matter */
    double elapsed_s; /* [s]; NaN: not a time */
    double energy_j;  /* [J]; NaN: not an energy */
    int64_t until_ns; /* when it ended, instead of elapsed_s in a text; 0: not known */
};

struct audit_result {
    enum apapi_domain meter; /* of the figures below: AUDIT_TOTAL, or the node's meter */
    struct audit_sum sum;    /* of this meter */
    double closure_pct;      /* shares, idle and unattributed energy, of the meter's [%]; NaN */
    double unmeasured_s;
    double idle_w; /* NaN: not known */
    double worse;  /* the higher, the worse */
    struct audit_reason reasons[AUDIT_REASONS];
    size_t reason_count;
};

/** @param ledger  has the texts of the row, which the reasons refer to */
struct audit_result audit_evaluate(const struct audit_ledger *ledger, const struct audit_row *row);

/** Closure of one meter [%]; NaN: not known. */
double audit_closure(const struct audit_sum *sum);

/** "sampler down 5 min 00 s; no record 12.3 kJ" */
void audit_reasons_text(const struct audit_result *result, char *text, size_t size);

/** @return the rows' numbers, the worst first, free it with free(); NULL: out of memory. */
uint32_t *audit_order(const struct audit_ledger *ledger);

/** What is printed, and how. */
struct audit_page {
    const struct audit_ledger *ledger;
    const uint32_t *order; /* rows */
    size_t count;          /* of `order`; the total is of all rows */
    bool no_header;
};

/* Print to standard output. 0; -1: out of memory. */
int audit_print_table(const struct audit_page *page, bool csv);
int audit_print_json(const struct audit_page *page);

#endif
