/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_PIECES_H
#define APAPI_TOTALS_PIECES_H
#include <math.h>
#include <stdio.h>

#include "apapi/job.h"
#include "apapi/record.h"
#include "base/names.h"
#include "cli/totals/rates.h"

/*
 * Records as a report needs them: some hundred bytes each. Timelines are kept for named jobs as far
 * as there is room; otherwise a constant power within a record is assumed. Buckets hold the
 * records, and each moment of a node counts once in a bucket. The rows of the report are sums of
 * buckets.
 */

enum report_by {
    REPORT_BY_JOB,
    REPORT_BY_STEP,
    REPORT_BY_NODE,
    REPORT_BY_GROUP, /* sums of jobs */
    REPORT_BY_DAY,   /* the same, with jobs divided at midnight */
    REPORT_BY_REGION /* regions of the same name, in jobs of the same group */
};

/** What the jobs of a row have in common. */
enum report_group {
    REPORT_GROUP_USER,
    REPORT_GROUP_ACCOUNT,
    REPORT_GROUP_PARTITION,
    REPORT_GROUP_QOS,
    REPORT_GROUP_CLUSTER,
    REPORT_GROUP_DAY,
    REPORT_GROUP_REGION,
    REPORT_GROUPS
};

/* The internals of a ledger. Numbers of texts refer to ledger->texts. */

/** A record, or its part within one day. */
struct report_piece {
    int64_t start_ns;
    uint64_t elapsed_ns;
    uint64_t whole_ns; /* of the record; elapsed_ns may be of a part */
    uint32_t next;     /* of the bucket; POOL_NONE: none */
    uint64_t monotonic_ns;
    uint32_t node, step, boot;
    uint32_t job, restarts; /* APAPI_UNKNOWN; restarts: also 0, then it is the first run */
    uint32_t code, signal;  /* APAPI_UNKNOWN */
    uint32_t reason;        /* POOL_NONE: complete */
    uint32_t nodes;         /* of its step; APAPI_UNKNOWN */
    uint32_t energy_at;     /* its energies in ledger->energies, one for each bit of the mask */
    float covered;          /* 0..1; NaN */
    float uncertainty;      /* of the energies, as a share; NaN: unknown */
    float window_s;         /* the shortest time that has a power; 0: not known */
    float max_w;            /* NaN: unknown */
    uint32_t nodelist;      /* of its step; a text of ledger->nodelists, POOL_NONE: not known */
    uint8_t domain_mask;    /* bit d: domain d is known */
    uint8_t unknown_mask;   /* bit d: it has meters, and is not known */
    bool delayed;
    bool exclusive; /* its share is all of the node */
    bool shareless; /* shares are wanted, and it has none */
};

/** Of a piece, in one domain. */
struct report_energy {
    double energy_j;
    double known; /* known share of the time, 0..1 */
};

/** A region of a piece. */
struct report_region {
    uint64_t count;
    double time_s;
    size_t energy_at; /* in ledger->regions.energies, one for each bit of the mask */
    uint32_t name;    /* as it is shown; "(idle)" */
    uint8_t kind;     /* enum apapi_region_kind */
    uint8_t domain_mask;
    uint8_t unknown_mask; /* bit d: its node has meters, and this region no energy */
};

struct report_region_energy {
    double energy_j, uncertainty_j;
};

/** The regions of all pieces, by region only. */
struct report_regions {
    struct report_region *list;
    struct report_region_energy *energies;
    size_t *ends; /* of each piece, in `list` */
    size_t count, room, energy_count, energy_room, end_room;
    struct report_row *rows; /* numbered as row_keys */
    size_t row_room;
};

/**
 * The pieces of a bucket sorted by step, node and start: sums do not depend on the order of
 * arrival. Of duplicates only the longer record is included.
 */
struct pieces {
    const struct report_piece **list;
    size_t count;
};

/** Records that are counted without overlap. */
struct report_bucket {
    int64_t first_ns;    /* start of its earliest record */
    int64_t last_ns;     /* end of its latest one */
    int64_t verified_ns; /* start of the earliest record with Slurm's own values; INT64_MAX: none */
    uint32_t first;      /* first piece */
    uint32_t next_of_row; /* bucket; POOL_NONE */
    uint32_t cluster, user, account, partition, qos, job_name, name, day;
    uint32_t
        own_job;  /* its own number, also in an array; APAPI_UNKNOWN: outside Slurm, or a node */
    uint32_t uid; /* APAPI_UNKNOWN */
    uint32_t batches; /* pieces of batch steps */
    uint32_t job, part, code, signal, restarts;
    char part_kind; /* '_' array, '+' het, '\0' none */
};

struct report_ledger {
    enum report_by by;
    enum report_group groups[REPORT_GROUPS]; /* in the order of the rows */
    size_t group_count;                      /* 0: a row is one bucket */
    bool shares;                             /* energies are what jobs were given of their nodes' */
    unsigned states;                         /* of the jobs that count; 0: all */
    struct pool texts, bucket_keys, row_keys;
    struct pool nodelists; /* of steps, as far as there is room */
    struct report_piece *pieces;
    size_t piece_count, piece_room;
    struct report_energy *energies;
    size_t energy_count, energy_room;
    bool keep_timelines; /* for named jobs, not by day. Then the known time of each domain is kept,
                            too */
    struct apapi_timeline *timelines; /* of the first energies; the others have none */
    size_t timeline_count, timeline_room;
    struct report_bucket *buckets; /* numbered as bucket_keys */
    size_t bucket_count, bucket_room;
    uint32_t
        *rows; /* the last bucket of each row, numbered as row_keys; NULL: each row is one bucket */
    size_t row_count, row_room;
    struct report_regions regions;
    struct namelist asked; /* nodes whose records were read, sorted; empty: all */
};

#define REPORT_REMARKS_MAX 5 /* shown as texts; more are only counted */

/** A row's remark for people: what is incomplete, missing or late. */
typedef void (*report_remark_f)(const char *text, void *context);

/** How to sum up. */
struct report_view {
    const struct rates *rates;
    bool nodelists;         /* collect the lists of nodes */
    report_remark_f remark; /* NULL: no remarks */
    void *context;
};

/** The texts of a bucket's groups in order. @param region  NULL: none */
#define REPORT_ROW_KEY_SIZE ((size_t)(APAPI_TEXT_SIZE + 1) * REPORT_GROUPS)
void report_row_key(const struct report_ledger *ledger, const struct report_bucket *bucket,
                    const struct report_region *region, char key[REPORT_ROW_KEY_SIZE]);

/** That order, for qsort_r() with the ledger's texts. */
int report_compare_pieces(const void *left, const void *right, void *texts);

/** The numbers of the nodes of some pieces, sorted and unique. @return their number */
size_t report_nodes(const struct report_piece *const *pieces, size_t count, uint32_t *nodes);

/** The pieces of a bucket. @return 0, the list is freed with free(); -1 with errno ENOMEM. */
int report_gather_pieces(const struct report_ledger *ledger, const struct report_bucket *bucket,
                         struct pieces *pieces);

/**
 * Move records without a cluster or user to the job with their number. A bucket may become empty.
 * @return 0; -1 with errno ENOMEM.
 */
int report_name_clusters(struct report_ledger *ledger);

/**
 * Find the run of its job for each record, by all records of the job. What a bucket says of its end
 * is that of its last run.
 * @return 0; -1 with errno ENOMEM.
 */
int report_find_runs(struct report_ledger *ledger);

/** @return the buckets of jobs sorted by job and cluster, to be freed; NULL with errno ENOMEM. */
uint32_t *report_sort_jobs(const struct report_ledger *ledger, size_t *count);

/** Its total. @return 0; -1 with errno ENOMEM. */
struct report_total {
    struct apapi_job_total job;
    size_t missing;            /* missing records of nodes in its steps */
    size_t delayed;            /* records that were written late */
    size_t shareless;          /* records without a share, if shares are wanted */
    double covered_s, known_s; /* covered time, and time of the records that know it */
    double max_w;
    double window_s; /* the shortest time that has a power; 0: not known */
    uint32_t reason; /* text or POOL_NONE */
    char job_id[32];
    char *nodelist, *missing_nodes; /* to be freed; NULL: not requested */
};
int report_bucket_sum(const struct report_ledger *ledger, const struct report_bucket *bucket,
                      const struct report_view *view, struct report_total *total);

/** @return a job of these pieces, free it with apapi_job_destroy(); NULL with errno ENOMEM. */
struct apapi_job *report_pieces_job(const struct report_ledger *ledger,
                                    const struct pieces *pieces);

/** Sum up pieces, each moment of a node once. @return 0; -1 with errno ENOMEM. */
int report_pieces_total(const struct report_ledger *ledger, const struct pieces *pieces,
                        struct apapi_job_total *total);

#define REPORT_LIST_COLUMNS 4000 /* of a list of nodes in a row; the rest is only counted */

/** Count the missing records of nodes in its steps, and name the nodes. 0; -1 with errno ENOMEM. */
int report_find_missing(const struct report_ledger *ledger, const struct pieces *pieces,
                        const struct report_view *view, struct report_total *total);

/** @return the sum of two numbers, of which each may be NaN: not known. */
static inline double report_plus(double known, double more)
{
    return isnan(known) ? more : isnan(more) ? known : known + more;
}

#endif
