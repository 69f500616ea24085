/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_REPORT_LEDGER_H
#define APAPI_TOTALS_REPORT_LEDGER_H
#include <stdio.h>

#include "apapi/job.h"
#include "apapi/record.h"
#include "base/namelist.h"
#include "base/pool.h"
#include "cli/totals/report_rates.h"

/*
 * Records as a report needs them: some hundred bytes each. Timelines are kept of jobs that were
 * named, as far as there is room; else the power within a record is taken for constant. They are
 * kept in accounts, in each of which a moment of a
 * node counts once; the rows of the report are sums of accounts.
 */

enum report_by {
    REPORT_BY_JOB,
    REPORT_BY_STEP,
    REPORT_BY_NODE,
    REPORT_BY_GROUP, /* sums of jobs */
    REPORT_BY_DAY    /* the same, a job divided at midnight */
};

/** What the jobs of a row have in common. */
enum report_group {
    REPORT_GROUP_USER,
    REPORT_GROUP_ACCOUNT,
    REPORT_GROUP_PARTITION,
    REPORT_GROUP_QOS,
    REPORT_GROUP_CLUSTER,
    REPORT_GROUP_DAY,
    REPORT_GROUPS
};

struct report_piece;
struct report_energy;
struct report_account;

struct report_ledger {
    enum report_by by;
    enum report_group groups[REPORT_GROUPS]; /* in the order of the rows */
    size_t group_count;                      /* 0: a row is one account */
    unsigned states;                         /* of the jobs that count; 0: all */
    struct pool texts, account_keys, row_keys;
    struct pool nodelists; /* of steps, as far as there is room */
    struct report_piece *pieces;
    size_t piece_count, piece_room;
    struct report_energy *energies;
    size_t energy_count, energy_room;
    bool keep_timelines;              /* of jobs that were named; not by day. Then each domain has
                                         a known time of its own, too */
    struct apapi_timeline *timelines; /* of the first energies; the rest has none */
    size_t timeline_count, timeline_room;
    struct report_account *accounts; /* numbered as account_keys */
    size_t account_count, account_room;
    uint32_t *rows; /* the last account of each row, numbered as row_keys; NULL: a row is one */
    size_t row_count, row_room;
    struct namelist asked; /* nodes whose records were read, sorted; empty: all */
};

/** A row. What is not known, or differs within it, is "", 0 or NaN. Texts live in the ledger. */
struct report_row {
    const char *cluster, *user, *account, *partition, *qos, *job_name, *name;
    const char *reason;     /* of the first record that is not complete */
    const char *day, *node; /* by day, by node */
    const char *state;
    char job_id[32], step_id[80], exit[32];
    char *nodelist, *missing_nodes; /* NULL: not asked for, or none */
    int64_t start_ns, end_ns;
    double jobs, steps, nodes, records, incomplete, missing, delayed, restarts;
    double elapsed_s; /* of the jobs, added up */
    double energy_j, domain_j[APAPI_DOMAINS], energy_per_node_j;
    double power_w;     /* mean, of all nodes, while they were measured */
    double max_power_w; /* of one node: sum of its domains' greatest */
    double measured_pct, covered_pct;
    double co2_g, cost;
    bool complete;
};

#define REPORT_REMARKS_MAX 5 /* whose texts are shown; the others only count */

/** A row's remark for people: what is incomplete, missing or late. */
typedef void (*report_remark_f)(const char *text, void *context);

/** How to sum up. */
struct report_view {
    const struct rates *rates;
    bool nodelists;         /* make them */
    report_remark_f remark; /* NULL: nobody is to hear of it */
    void *context;
};

/** Its end is a time that 64 bits hold. @return 0; -1 with errno ENOMEM. */
int report_ledger_add(struct report_ledger *ledger, const struct apapi_record *record);

/** Say that only records of these nodes were read ("n[1-4]"). @return 0; -1 with errno ENOMEM. */
int report_ledger_ask(struct report_ledger *ledger, const char *nodes);

/** To be called once, after the last record. @return 0; -1 with errno ENOMEM. */
int report_ledger_chain(struct report_ledger *ledger);

/** Numbers of all rows in their order, and how many. @return to be freed; NULL without memory. */
uint32_t *report_ledger_order(const struct report_ledger *ledger, size_t *count);

/**
 * Sum a row up.
 * @param row  result, to be freed by report_row_free()
 * @return 0; -1 with errno ENOMEM.
 */
int report_ledger_sum(const struct report_ledger *ledger, uint32_t number,
                      const struct report_view *view, struct report_row *row);

/**
 * @param shared_j  energy that rows count more than once, as jobs shared nodes [J]; 0: none, or
 * rows by node or step
 * @return 0; -1 with errno ENOMEM.
 */
int report_ledger_shared(const struct report_ledger *ledger, double *shared_j);

/** Free what the row owns. */
void report_row_free(struct report_row *row);

void report_ledger_free(struct report_ledger *ledger);

#endif
