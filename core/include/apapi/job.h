/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JOB_H
#define APAPI_JOB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/record.h"

APAPI_BEGIN_C

/*
 * The energy of a whole job. Steps of a job overlap in time: the batch step contains the sruns of
 * its script, several sruns run side by side, and the extern step contains them all. A meter
 * measures the node, not the step. So each moment of a node counts once, by the record that covers
 * most of it. Within one boot of a node, moments are times since the boot, so that jumps of the
 * clock do not matter. A step begins on all its nodes at once, whatever their clocks say.
 */

/** The records of one job. Opaque. One thread at a time. */
struct apapi_job;

/** A domain of all nodes together. */
struct apapi_job_domain {
    size_t nodes;         /* nodes whose energy in the domain is known for some time */
    double energy_j;      /* [J]; NaN: not known */
    uint64_t covered_ns;  /* time for which the energy is known, all nodes added up [ns] */
    uint64_t recorded_ns; /* time of the records that have the domain, also without energy [ns] */
    size_t unknown; /* nodes with a record that has meters for the domain, but not its energy */
    double mean_w;  /* the domain's part of the total's mean_w [W]; NaN: not known */
    double uncertainty_j; /* of energy_j [J]; NaN: not known */
};

/** The total of a job. */
struct apapi_job_total {
    int64_t start_unix_ns; /* of the first reading, UTC since 1970 [ns]; 0: no records */
    int64_t end_unix_ns;   /* of the last reading, UTC since 1970 [ns]; 0: no records */
    size_t records;
    size_t incomplete;   /* records that do not reach the end of their step */
    size_t steps;        /* steps with a record */
    size_t nodes;        /* nodes with a record */
    size_t runs;         /* times that the job was started, as far as records tell */
    size_t job_nodes;    /* nodes of the widest run, as far as records tell: of its batch step, its
                            widest step, or nodes with a record, whichever is most */
    uint64_t elapsed_ns; /* from the first to the last reading of each run, without the time that
                            the job waits between two runs [ns] */
    double node_s;       /* elapsed_ns times the nodes of each run [s] */
    uint64_t clock_jump_ns;  /* the greatest jump of a node's clock between two records [ns] */
    uint64_t clock_apart_ns; /* how far a node's clock is from the others', if that is ten minutes
                                or more [ns] */
    struct apapi_job_domain domains[APAPI_DOMAINS];
    double energy_j; /* of the domains that add up [J]; NaN: not known */
    double mean_w;   /* energy_j / busy_ns [W]; NaN: not known. For the time of a record in which
                        the energy is not known, the mean power of the rest is taken */
    uint64_t covered_ns;  /* node time for which energy_j is known [ns]: moments at which a node's
                             energy is known in all domains that add up and that a record of this
                             moment has; gaps of two domains are taken to be at the same time */
    double uncertainty_j; /* of energy_j [J]: the sum over the domains, because all may err in the
                             same direction; NaN: not known */
    uint32_t missing_domains; /* bit 1 << enum apapi_domain: the domain adds up, and energy_j lacks
                                 it for a time in which a node has meters for it; package also: for
                                 all the time of a node, as every node has a package */
    uint32_t cores;           /* allocated cores, of each node the most of a record; 0: not known */
    uint32_t node_cores;      /* cores of all nodes together; 0: not known */
    uint64_t busy_ns;         /* time in which at least one node was measured [ns] */
    uint64_t window_ns; /* shortest time that has a power [ns]; 0: not known. If busy_ns is shorter,
                           mean_w shows the updates of the meters rather than a power */
};

/** @return an empty job, for apapi_job_destroy(). NULL with errno ENOMEM. Any thread. Allocates. */
APAPI_API struct apapi_job *apapi_job_create(void);

/** Free a job. NULL is allowed. errno is preserved. */
APAPI_API void apapi_job_destroy(struct apapi_job *job);

/**
 * Add the record of one step on one node; the job copies what it needs. A record that was added
 * before (same step, node and start) is ignored.
 * @return 0; -1 with errno ENOMEM
 */
APAPI_API int apapi_job_add(struct apapi_job *job, const struct apapi_record *record);

/** Add up all records. `total` is set on success only. @return 0; -1 with errno ENOMEM */
APAPI_API int apapi_job_total(struct apapi_job *job, struct apapi_job_total *total);

/**
 * @param nodes  number of the job's nodes; 0: in each run, the nodes that its records know of
 * @return the part of node_s for which the energy is known, 0..1; NaN: none
 */
APAPI_API double apapi_job_measured(const struct apapi_job_total *total, size_t nodes);

/** @return whether the node has a record. Call apapi_job_total() before. */
APAPI_API bool apapi_job_has_node(const struct apapi_job *job, const char *node);

/**
 * One of the records that do not reach the end of their step. Call apapi_job_total() before.
 * @param number  from 0
 * @param node    result: the node of the record
 * @return the step of the record; NULL: there are no more. Both texts belong to the job
 */
APAPI_API const char *apapi_job_incomplete(const struct apapi_job *job, size_t number,
                                           const char **node);

/** Parts of the table of a job besides its total. */
struct apapi_job_table_head {
    const char *job;            /* "17", "17_3"; NULL: not known */
    size_t nodes;               /* nodes of the job; 0: count `nodelist`, or nodes with a record */
    const char *nodelist;       /* names of the nodes as Slurm writes them; NULL or "": not known */
    size_t left_out;            /* records that were not added, because there were too many */
    const char *const *running; /* names of steps that still run; none of their records was added */
    size_t running_count;
};

/**
 * The total of a job as a table for people: domains, their sum, how much of the job's node time is
 * covered, and what is missing. At most 80 columns; every line ends with a newline.
 * @param text  result; free it with free(). Set on success only
 * @return 0; -1 with errno ENOMEM
 */
APAPI_API int apapi_job_table_format(struct apapi_job *job, const struct apapi_job_table_head *head,
                                     char **text, struct apapi_error *err);

APAPI_END_C
#endif
