/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_TIMING_H
#define APAPI_SUM_TIMING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"

/*
 * When the records of a job began, and in which run of it. Clocks jump, and those of two nodes
 * differ; the time since a node's boot does neither.
 */

#define TIMING_APART_NS INT64_C(600000000000) /* a node of a step begins within this time */
#define TIMING_JUMP_NS INT64_C(1000000000)    /* a jump of a clock that is worth a word */
/** A job's number that comes again after this time, without a record, is another job's. */
#define TIMING_SAME_JOB_NS INT64_C(2592000000000000) /* 30 days */

struct sum_piece;
struct sum_domain;

/** A piece while it is added up. Texts are valid until the store gets another record. */
struct sum_entry {
    const struct sum_piece *piece;
    const char *cluster, *node, *step;
    const char *boot; /* "": not known */
    uint64_t monotonic_ns, elapsed_ns;
    uint32_t job, nodes; /* nodes of the step; both APAPI_UNKNOWN: not known */
    uint32_t restarts;   /* of the job before this run; APAPI_UNKNOWN; see timings_find_runs() */
    int64_t start_ns;    /* UTC since 1970 [ns], >= 0; `elapsed_ns` later is not beyond INT64_MAX */
    int64_t end_ns;
    int64_t jumped_ns; /* result: how far the node's clock has jumped since its first record */
    int64_t apart_ns;  /* result: how far the node's clock is ahead of the other nodes' */
    int64_t until_ns;  /* see sum_find_ends() */
    uint32_t number;   /* of its node, while they are aligned */
    const struct sum_domain *domain; /* while a domain is added up; NULL: not known */
    bool used;
};

/**
 * Move the start of records, so that
 * - those of a boot of a node are as far from each other as by the time since the boot,
 * - those of different boots of a node do not overlap,
 * - a step begins on all its nodes within TIMING_APART_NS.
 * Records that do not know their boot stay as they are.
 * @return 0; -1 with errno ENOMEM: some may have been moved
 */
int timings_align(struct sum_entry *timings, size_t count);

/**
 * Set `restarts`. Each run of a job has a batch step, or none has a record of it: then the records
 * that know their run tell the runs. The others are of the last run that had begun when they ended.
 * Sorts the timings.
 */
void timings_find_runs(struct sum_entry *timings, size_t count);

/** The time of a job: that of its runs, without what it waited between them. */
struct job_time {
    size_t runs;
    size_t nodes;      /* the most of a run: of its widest step in each component, or recorded */
    double elapsed_ns; /* from the first start to the last end of each run */
    double node_ns;    /* the same for each of the run's nodes */
};

/** Add up the runs, after timings_find_runs(). Sorts the timings. */
struct job_time timings_sum(struct sum_entry *timings, size_t count);

/*
 * The time by which energy is divided for a mean power: that in which at least one record measures.
 */

struct busy_span {
    int64_t start_ns, end_ns; /* [ns since 1970] */
};

/** All zero: nothing. Freed by busy_clear(). */
struct busy {
    struct busy_span *spans;
    size_t count, room;
};

/** Add a time; one that ends before it begins counts nothing. @return 0; -1 with errno ENOMEM. */
int busy_add(struct busy *busy, int64_t start_ns, int64_t end_ns);

/** @return length of the union of all times [ns]; 0: none. Sorts them. */
double busy_length_ns(const struct busy *busy);

/** How much of that union is in parts of the time. @param edges  of the parts, one more than these
 */
void busy_spread(const struct busy *busy, const int64_t *edges, size_t count, int64_t *lengths_ns);

void busy_clear(struct busy *busy);

#endif
