/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_TOTALS_H
#define APAPI_TOTALS_TOTALS_H
#include "apapi/error.h"
#include "apapi/record.h"
#include "config/config.h"
#include "record/record.h"
#include "sum/sum.h"

/* --- rates ----------------------------------------------------------------------------------- */

/** The rates in section [report] of apapi.conf. */
struct rates {
    double co2_g_per_kwh; /* NaN: not set */
    double price_per_kwh;
    double pue;           /* 1 if not set */
    const char *currency; /* "": not set; borrowed from the configuration */
};

/** Read [report]. pue is at least 1. @return 0; -1 with errno EINVAL: `err` names file and line. */
int rates_read(const struct config *config, struct rates *rates, struct apapi_error *err);

/** Set one rate by its key; `text` is borrowed. @return 0; -1 with errno EINVAL. */
int rates_set(struct rates *rates, const char *key, const char *text, struct apapi_error *err);

/* --- sums ------------------------------------------------------------------------------------ */

/*
 * Sums of records by key, and the rows of a report. Each row is one of these sums, or several of
 * them together.
 */

enum report_by {
    REPORT_BY_JOB,
    REPORT_BY_STEP,
    REPORT_BY_NODE,
    REPORT_BY_GROUP, /* a row sums up several jobs */
    REPORT_BY_DAY    /* likewise; jobs are divided at midnight */
};

/** Texts about job and step in records. The jobs of a row can share those before REPORT_GROUPS. */
enum {
    REPORT_USER,
    REPORT_ACCOUNT,
    REPORT_PARTITION,
    REPORT_QOS,
    REPORT_CLUSTER,
    REPORT_DAY,
    REPORT_GROUPS,
    REPORT_JOB_ID = REPORT_GROUPS,
    REPORT_JOB_NAME,
    REPORT_NAME,
    REPORT_WORDS
};

/** Identity of job and step. `words` are numbers of texts in store.texts; 0 is "". */
struct report_identity {
    uint32_t words[REPORT_WORDS];
    uint32_t uid;  /* APAPI_UNKNOWN: not known */
    bool verified; /* the values come from Slurm itself */
};

/** Parts of records that are summed up together: a job, or its part in one step or on one day. */
struct report_bucket {
    uint32_t first, count; /* in `order` */
    uint32_t words[REPORT_WORDS];
    uint32_t batches; /* number of pieces of batch steps */
    bool repeats;     /* a node has a step twice */
    uint32_t code, signal, restarts;
};

struct report_ledger {
    enum report_by by;
    int groups[REPORT_GROUPS]; /* in the order of the rows */
    size_t group_count;        /* 0: each row is one bucket */
    struct sum_store store;    /* the settings are the caller's. A piece's mark is its identity's
                                  number, its bucket's after report_ledger_rows(), unless by node */
    struct pool identity_keys;
    struct report_identity *identities; /* by their numbers in identity_keys */
    size_t identity_room;
    /* after report_ledger_rows(): */
    bool clusters;                 /* by node: several clusters have a node of the same name; else:
                                      there are jobs of several clusters */
    uint32_t *order;               /* the pieces, sorted by cluster, job, user, and step or day */
    struct report_bucket *buckets; /* the buckets of a row are together */
    size_t bucket_count, bucket_room;
};

/** A row. Values that are unknown or differ in it are "", 0 or NaN. The ledger owns its texts. */
struct report_row {
    const char *words[REPORT_WORDS]; /* all but REPORT_JOB_ID */
    const char *reason;              /* why the first incomplete record is incomplete */
    const char *node;                /* by node only */
    const char *state;
    char job_id[32], step_id[80], exit[32];
    char *nodelist, *missing_nodes; /* NULL: not requested, or none */
    int64_t start_ns, end_ns;
    double jobs, steps, nodes, records, incomplete, missing, delayed, restarts;
    double shareless; /* records without a share; NaN: shares are not wanted */
    double with_idle; /* records whose share includes idle power; NaN: shares are not wanted */
    double elapsed_s; /* sum over the jobs */
    double energy_j, domain_j[APAPI_DOMAINS], energy_per_node_j;
    double uncertainty_j; /* of energy_j */
    double power_w;       /* mean of all nodes, in the time in which they were measured */
    double max_power_w;   /* greatest of one node: sum of the maxima of its domains */
    double measured_pct, covered_pct;
    char missing_domains[DOMAIN_LIST_SIZE]; /* domains that energy_j lacks: "package,dram" */
    double co2_g, cost;
    bool complete;
    bool brief; /* too short for a power to be known */
};

#define REPORT_REMARKS_MAX 5 /* remarks shown as texts; more are only counted */

/** How rows are summed up. */
struct report_view {
    const struct rates *rates;
    bool nodelists;          /* collect the lists of nodes */
    struct remarks *remarks; /* on what is incomplete, missing or late; NULL: not wanted */
};

/**
 * Add a record. Its end must fit into 64 bits.
 * @param digest  result of record_digest() for the record's line
 * @return 0; -1 with errno ENOMEM.
 */
int report_ledger_add(struct report_ledger *ledger, const struct apapi_record *record,
                      uint64_t digest);

/** @return into how many parts a record is divided. @param ledger  a struct report_ledger */
unsigned report_ledger_parts(const struct apapi_record *record, void *ledger);

/**
 * Put the records into rows. Call it once, after the last record.
 * @return the first bucket of each row, sorted by name, for free(); NULL with errno ENOMEM.
 */
uint32_t *report_ledger_rows(struct report_ledger *ledger, size_t *count);

/** @return whether two buckets belong to the same row. */
bool report_ledger_same_row(const struct report_ledger *ledger, uint32_t at, uint32_t other);

/**
 * Sum up a row.
 * @param at   the row's first bucket
 * @param row  result, free it with report_row_free()
 * @return 0; -1 with errno ENOMEM.
 */
int report_ledger_sum(const struct report_ledger *ledger, uint32_t at,
                      const struct report_view *view, struct report_row *row);

/**
 * @param shared_j  energy that rows count more than once because jobs shared nodes [J]; 0: none, or
 * the rows are nodes or steps. Of shares, only those of whole nodes can overlap
 * @return 0; -1 with errno ENOMEM.
 */
int report_ledger_shared(const struct report_ledger *ledger, double *shared_j);

/** Free what the row owns. */
void report_row_free(struct report_row *row);

void report_ledger_free(struct report_ledger *ledger);

#endif
