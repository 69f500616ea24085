/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_LEDGER_H
#define APAPI_TOTALS_LEDGER_H
#include "cli/totals/pieces.h"
#include "record/record.h"

/** A row. What is unknown, or differs within it, is "", 0 or NaN. Texts belong to the ledger. */
struct report_row {
    const char *cluster, *user, *account, *partition, *qos, *job_name, *name;
    const char *reason;     /* of the first incomplete record */
    const char *day, *node; /* by day, by node */
    const char *region;     /* by region, as the next two */
    double count, time_s;   /* passes; time of all threads */
    const char *state;
    char job_id[32], step_id[80], exit[32];
    char *nodelist, *missing_nodes; /* NULL: not requested, or none */
    int64_t start_ns, end_ns;
    double jobs, steps, nodes, records, incomplete, missing, delayed, restarts;
    double shareless; /* records without a share; NaN: shares are not wanted */
    double elapsed_s; /* sum over the jobs */
    double energy_j, domain_j[APAPI_DOMAINS], energy_per_node_j;
    double uncertainty_j; /* of energy_j */
    double power_w;       /* mean of all nodes while they were measured */
    double max_power_w;   /* of one node: sum of its domains' maxima */
    double measured_pct, covered_pct;
    char missing_domains[DOMAIN_LIST_SIZE]; /* those that energy_j lacks: "package,dram" */
    double co2_g, cost;
    bool complete;
    bool brief; /* too short for a power */
};

/** Add a record. Its end must fit into 64 bits. @return 0; -1 with errno ENOMEM. */
int report_ledger_add(struct report_ledger *ledger, const struct apapi_record *record);

/** Note that only records of these nodes were read ("n[1-4]"). @return 0; -1 with errno ENOMEM. */
int report_ledger_ask(struct report_ledger *ledger, const char *nodes);

/** Call it once after the last record. @return 0; -1 with errno ENOMEM. */
int report_ledger_chain(struct report_ledger *ledger);

/**
 * Rows by region: keep the regions of the record that was added last. Nothing for other rows.
 * @return 0; -1 with errno ENOMEM.
 */
int report_regions_add(struct report_ledger *ledger, const struct apapi_record *record);

/** Sum up the rows by region, after report_ledger_chain(). @return 0; -1 with errno ENOMEM. */
int report_regions_chain(struct report_ledger *ledger);

/** Free what the rows by region take. */
void report_regions_free(struct report_ledger *ledger);

/** Keep what is the same in all buckets of the row. */
void report_row_identify(const struct report_ledger *ledger, const struct report_bucket *bucket,
                         struct report_row *row);

/**
 * Sum up a row.
 * @param row  result, free it with report_row_free()
 * @return 0; -1 with errno ENOMEM.
 */
int report_ledger_sum(const struct report_ledger *ledger, uint32_t number,
                      const struct report_view *view, struct report_row *row);

/**
 * @param shared_j  energy that rows count more than once because jobs shared nodes [J]; 0: none, or
 * rows by node or step
 * @return 0; -1 with errno ENOMEM.
 */
int report_ledger_shared(const struct report_ledger *ledger, double *shared_j);

/** Free what the row owns. */
void report_row_free(struct report_row *row);

void report_ledger_free(struct report_ledger *ledger);

#endif
