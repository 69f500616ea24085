/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PROGRAM_REPORT_PIECES_H
#define APAPI_PROGRAM_REPORT_PIECES_H
#include "apapi/report_ledger.h"

/* The inside of a ledger. Numbers of texts are those of ledger->texts. */

/** A record, or the part of it that lies in one day. */
struct report_piece {
    int64_t start_ns;
    uint64_t elapsed_ns;
    uint32_t next; /* of the account; POOL_NONE: none */
    uint32_t node, step;
    uint32_t reason;     /* POOL_NONE: complete */
    uint32_t nodes;      /* of its step; APAPI_UNKNOWN */
    uint32_t energy_at;  /* its energies in ledger->energies, those of the mask only */
    float covered;       /* 0..1; NaN */
    float max_w;         /* NaN: unknown */
    uint8_t domain_mask; /* bit d: domain d is known */
    bool delayed;
};

/** What is counted without overlap. */
struct report_account {
    int64_t first_ns;     /* when the earliest of its records began */
    int64_t verified_ns;  /* the earliest of those that say what Slurm says; INT64_MAX: none */
    uint32_t first;       /* piece */
    uint32_t next_of_row; /* account; POOL_NONE */
    uint32_t cluster, user, account, partition, qos, job_name, name, day;
    uint32_t job, part, code, signal, restarts;
    char part_kind; /* '_' array, '+' het, '\0' none */
};

/** Its total. @return 0; -1 with errno ENOMEM. */
struct report_total {
    struct apapi_job_total job;
    size_t missing;            /* records that nodes of its steps lack */
    size_t delayed;            /* records that were written late */
    double covered_s, known_s; /* covered time, of the time of records that know it */
    double max_w;
    uint32_t reason, nodes; /* the greatest number of a step; text or POOL_NONE */
    char job_id[32];
    char *nodelist;
};
int report_account_sum(const struct report_ledger *ledger, const struct report_account *account,
                       const struct report_view *view, struct report_total *total);

#endif
