/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JOB_H
#define APAPI_JOB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a whole job has used. Its steps overlap: the batch step and the sruns of its script on the
 * first node, several sruns at once, and the extern step with all of them. A meter speaks of the
 * node, so each moment of a node counts once, by the record that knows most of it.
 */

/** Records of one job (opaque). One thread at a time. */
struct apapi_job;

/** A domain of all nodes together. */
struct apapi_job_domain {
    size_t nodes;        /* that know something of it */
    double energy_j;     /* [J]; NaN: unknown */
    uint64_t covered_ns; /* how long it is known, all nodes added [ns] */
    double mean_w;       /* its part of the total's mean_w [W]; NaN: unknown */
};

/** The total. */
struct apapi_job_total {
    int64_t start_unix_ns; /* the earliest reading [ns since 1970]; 0 without records */
    int64_t end_unix_ns;   /* the latest */
    size_t records;
    size_t incomplete; /* records that do not reach to the end of their step */
    size_t steps;      /* different ones */
    size_t nodes;      /* that have a record */
    struct apapi_job_domain domains[APAPI_DOMAINS];
    double energy_j; /* of the domains that add up [J]; NaN: unknown */
    double mean_w;   /* that energy by the time in which at least one node was measured; time of a
                        record that is not known counts as its rest [W]; NaN: unknown */
    uint64_t covered_ns; /* node time for which that energy is known: of each moment of a node, all
                            the domains that add up and that a record of the moment has [ns] */
};

/** @return an empty job; freed by apapi_job_destroy(). NULL with errno ENOMEM. */
APAPI_API struct apapi_job *apapi_job_create(void);

/** Free. NULL is allowed. errno is preserved. */
APAPI_API void apapi_job_destroy(struct apapi_job *job);

/**
 * Add a node's record of one of the job's steps; what is needed of it is copied. A record that is
 * there already (same step, node and start) is not counted again.
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_job_add(struct apapi_job *job, const struct apapi_record *record);

/**
 * Add up, each moment of each node once.
 * @param total  result; set on success only
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_job_total(struct apapi_job *job, struct apapi_job_total *total);

/**
 * @param nodes  of the job; 0: those that have a record
 * @param start_unix_ns, end_unix_ns  of the job; 0: of its records
 * @return the share of the job's node time for which its energy is known, 0..1; NaN: none of it
 */
APAPI_API double apapi_job_measured(const struct apapi_job_total *total, size_t nodes,
                                    int64_t start_unix_ns, int64_t end_unix_ns);

/** @return whether there is a record of the node; to be asked after apapi_job_total(). */
APAPI_API bool apapi_job_has_node(const struct apapi_job *job, const char *node);

/**
 * Of the records that do not reach to the end of their step, the one with this number, from 0; to
 * be asked after apapi_job_total().
 * @param node  its node
 * @return its step; NULL: there are no more. Both are borrowed from the job.
 */
APAPI_API const char *apapi_job_incomplete(const struct apapi_job *job, size_t number,
                                           const char **node);

/** What the table of a job says besides its total. */
struct apapi_job_table_head {
    const char *job;            /* "17", "17_3"; NULL: not known */
    size_t nodes;               /* of the job; 0: those that are listed or have a record */
    const char *nodelist;       /* their names as Slurm writes them; NULL or "": not known */
    size_t left_out;            /* records that had no room */
    const char *const *running; /* names of steps that still run: no record of theirs was added */
    size_t running_count;
};

/**
 * The total for a person: domains, their sum, how much of the job's node time it covers, and what
 * is missing; at most 80 columns; every line ends with a newline.
 * @param text  result, to be freed with free(); set on success only
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_job_table_format(struct apapi_job *job, const struct apapi_job_table_head *head,
                                     char **text, struct apapi_error *err);

#ifdef __cplusplus
}
#endif
#endif
