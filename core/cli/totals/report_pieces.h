/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_REPORT_PIECES_H
#define APAPI_TOTALS_REPORT_PIECES_H
#include "cli/totals/report_ledger.h"

/* The inside of a ledger. Numbers of texts are those of ledger->texts. */

/** A record, or the part of it that lies in one day. */
struct report_piece {
    int64_t start_ns;
    uint64_t elapsed_ns;
    uint64_t whole_ns; /* of the record; elapsed_ns may be that of a day */
    uint32_t next;     /* of the account; POOL_NONE: none */
    uint32_t node, step;
    uint32_t reason;     /* POOL_NONE: complete */
    uint32_t nodes;      /* of its step; APAPI_UNKNOWN */
    uint32_t energy_at;  /* its energies in ledger->energies, those of the mask only */
    float covered;       /* 0..1; NaN */
    float max_w;         /* NaN: unknown */
    uint32_t nodelist;   /* of its step; a text of ledger->nodelists, POOL_NONE: not known */
    uint16_t restarts;   /* of the job, as far as 16 bits count; 0: none, or not known */
    uint8_t domain_mask; /* bit d: domain d is known */
    bool delayed;
};

/** Of a piece, in a domain. */
struct report_energy {
    double energy_j;
    double known; /* share of the time in which it is known, 0..1 */
};

/**
 * The pieces of an account by step, node and start: sums do not depend on the order in which
 * records have come. Of a record that came twice the longer one is there.
 */
struct pieces {
    const struct report_piece **list;
    size_t count;
};

/** For qsort_r() with the ledger's texts: that order. */
int report_compare_pieces(const void *left, const void *right, void *texts);

/** The numbers of the nodes of some pieces, sorted, each once. @return how many */
size_t report_nodes(const struct report_piece *const *pieces, size_t count, uint32_t *nodes);

/** What is counted without overlap. */
struct report_account {
    int64_t first_ns;     /* when the earliest of its records began */
    int64_t verified_ns;  /* the earliest of those that say what Slurm says; INT64_MAX: none */
    uint32_t first;       /* piece */
    uint32_t next_of_row; /* account; POOL_NONE */
    uint32_t cluster, user, account, partition, qos, job_name, name, day;
    uint32_t own_job; /* its number, also in an array; APAPI_UNKNOWN: outside Slurm, or a node */
    uint32_t job, part, code, signal, restarts;
    char part_kind; /* '_' array, '+' het, '\0' none */
};

/**
 * Give records that do not name their cluster to the job of their number. An account whose records
 * have gone to another one is empty.
 * @return 0; -1 with errno ENOMEM.
 */
int report_name_clusters(struct report_ledger *ledger);

/** @return whether it is to be counted: it has records, and ended in one of the wanted states. */
bool report_account_counts(const struct report_ledger *ledger, uint32_t account);

/** @return numbers of all accounts that count in their order, to be freed; NULL without memory. */
uint32_t *report_order_accounts(const struct report_ledger *ledger, size_t *count);

/** Its total. @return 0; -1 with errno ENOMEM. */
struct report_total {
    struct apapi_job_total job;
    size_t missing;            /* records that nodes of its steps lack */
    size_t delayed;            /* records that were written late */
    double covered_s, known_s; /* covered time, of the time of records that know it */
    double max_w;
    uint32_t reason, nodes; /* the greatest number of a step; text or POOL_NONE */
    char job_id[32];
    char *nodelist, *missing_nodes; /* to be freed; NULL: not asked for */
};
int report_account_sum(const struct report_ledger *ledger, const struct report_account *account,
                       const struct report_view *view, struct report_total *total);

/** Sum pieces up, each moment of a node once. @return 0; -1 with errno ENOMEM. */
int report_pieces_total(const struct report_ledger *ledger, const struct pieces *pieces,
                        struct apapi_job_total *total);

#define REPORT_LIST_COLUMNS 4000 /* of a list of nodes in a row; the rest of it is counted */

/** Count the records that nodes of its steps lack, and name these. 0; -1 with errno ENOMEM. */
int report_find_missing(const struct report_ledger *ledger, const struct pieces *pieces,
                        const struct report_view *view, struct report_total *total);

#endif
