/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_AUDIT_AUDIT_LEDGER_H
#define APAPI_AUDIT_AUDIT_LEDGER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "base/names.h"
#include "record/hour.h"
#include "sum/sum.h"

/*
 * The energy of nodes by their meters, compared with its use. A row is a node on one day in
 * UTC. Sums of energies are NaN as long as nothing is known.
 */

#define AUDIT_GAP_KINDS 8
#define AUDIT_TOTAL APAPI_DOMAIN_NONE /* of struct audit_row, `sums`: the domains that add up */

/** Energy of a meter, and where it went [J]. */
struct audit_sum {
    struct hour_sum hours; /* by the node's own record */
    double shares_j;       /* in the records of steps */
};

/** Gaps for one reason. */
struct audit_gaps {
    uint32_t reason; /* a text of the ledger */
    uint64_t count;
    double elapsed_s;
};

struct audit_row {
    uint32_t cluster, node; /* texts of the ledger */
    uint32_t first_span;    /* of the node's own record; POOL_NONE: it has none for this day */
    int64_t day_ns, end_ns; /* its begin, and up to where lines can be expected [ns since 1970] */
    double expected_s;      /* between them [s] */
    struct sum sum;         /* of the records of steps */
    double measured_s, late_s; /* late_s: before the first line of the node's own record */
    double idle_sum_j, idle_s; /* idle power by its time */
    uint64_t steps, resets, gaps_total;
    uint64_t records, shareless; /* of steps; those without a share */
    struct audit_gaps gaps[AUDIT_GAP_KINDS];
    size_t gap_count; /* in `gaps` */
    struct audit_sum sums[APAPI_DOMAINS];
};

/** A line of a node's own record that was added. */
struct audit_span {
    int64_t start_ns, end_ns;
    uint32_t next; /* POOL_NONE: none */
};

struct audit_ledger {
    int64_t from_ns, to_ns; /* whole days */
    int64_t now_ns;
    bool open;               /* something of the present hour was left out */
    struct pool texts, keys; /* keys: of rows, numbered as they are */
    struct audit_row *rows;
    size_t row_count, row_room;
    struct audit_span *spans;
    size_t span_count, span_room;
    struct sum_store store; /* of the shares in records of steps */
};

/** Add a line of a node's own record. A line that was added before is ignored. 0; -1 with ENOMEM */
int audit_add_hour(struct audit_ledger *ledger, const struct hour *hour);

/** Add a step's record. @param digest  of its line. 0; -1 with ENOMEM */
int audit_add_record(struct audit_ledger *ledger, const struct apapi_record *record,
                     uint64_t digest);

/** Call it once at the end: adds up the records of steps. 0; -1 with ENOMEM */
int audit_settle(struct audit_ledger *ledger);

void audit_free(struct audit_ledger *ledger);

/** Add a row to another one: a total. */
void audit_total(const struct audit_row *row, struct audit_row *total);

/** An empty row without a name. */
struct audit_row audit_row_empty(void);

#endif
