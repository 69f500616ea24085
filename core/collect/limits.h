/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECT_LIMITS_H
#define COLLECT_LIMITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "channel/channel.h"
#include "config/config.h"
#include "gather/forward.h"
#include "gather/receiver.h"
#include "limit/crossings.h"
#include "limit/totals.h"
#include "sum/merge.h"

/*
 * The limits of a step, which the collector watches beside srun: it adds up the totals of the
 * nodes, has the actor do what a crossed limit asks for, and says on srun's standard error what
 * happens. One thread. No call blocks.
 */

#define STEP_JOBS_MAX 16 /* components of a heterogeneous job */

/** The limits of a step: its user's and the site's. All zero at the start. */
struct step_limits {
    bool of_job;        /* the job has a budget of its user */
    bool counted;       /* nodes that have sent nothing were reported, or need not be */
    bool ending;        /* the step was sent SIGTERM */
    uint64_t period_ns; /* time between two totals of a node [ns]; 0: nothing is to be done */
    uint64_t next_ns;   /* when to look at the sum again */
    uint64_t begun_ns;  /* 0: srun wants no totals */
    uint64_t heard_ns;  /* when the first total came; 0: none has */
    uint64_t pass_ns;   /* when to pass the totals on again */
    const struct forward *forward; /* to the process that watches the job, if any does */
    char step[64];                 /* "17.0" */
    size_t job_count;              /* each component of a heterogeneous job has an ID */
    uint32_t jobs[STEP_JOBS_MAX];  /* ascending */
    struct config config;
    struct limit_site site; /* of `config`, without partition and QOS */
    struct limit_sum sum;
    struct crossings crossings;
    int speaker; /* srun's standard error, while the step runs; -1: it is not used */
    int asker;   /* of the first node, which has ended and waits for an answer; -1: none */
    struct apapi_record first; /* the first node's; all zero: it has not come */
};

/**
 * Begin, if the plugin asks for totals.
 * @param message  of the plugin
 * @param forward  to the process that watches the limits of the job; must stay valid
 */
void step_limits_begin(struct step_limits *limits, const struct message *message,
                       const struct forward *forward);

/** Take a node's total, and answer it. Call it only if `begun_ns` is not 0. */
void step_limits_take_total(struct step_limits *limits, const struct delivery *delivery);

/** Note that the step has ended on a node. @param total_j  its energy [J]; NaN: not known */
void step_limits_take_end(struct step_limits *limits, const char *node, double total_j);

/** Leave out of a node's record the crossings that step_limits_report() adds. */
void step_limits_take_record(struct step_limits *limits, struct apapi_record *record);

/** Tell the process that watches the limits of the job what the step's nodes have drawn so far. */
void step_limits_pass(const struct step_limits *limits);

/** Do what is due. */
void step_limits_work(struct step_limits *limits);

/** @return time until step_limits_work() has something to do [ms]; -1: it has nothing to do. */
int step_limits_pause_ms(const struct step_limits *limits);

/** @return a descriptor that is readable when there is work, too; -1: none. */
int step_limits_fd(const struct step_limits *limits);

/** Add the step's crossings: the last ones come after the record of the first node was written. */
void step_limits_report(struct step_limits *limits, struct apapi_merge *merge);

/** End: srun has ended, or soon will. The actor ends by itself, after its last work. */
void step_limits_end(struct step_limits *limits);

#endif
