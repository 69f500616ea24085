/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECT_LIMITS_H
#define COLLECT_LIMITS_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/channel.h"
#include "config/config.h"
#include "gather/receiver.h"
#include "limit/crossings.h"
#include "limit/totals.h"

#define COLLECT_JOBS_MAX 16

/** The limits of a step: its user's and the site's. All zero at the start. */
struct collect_limits {
    bool of_job;        /* the job has a budget of its user */
    bool counted;       /* nodes that have sent nothing were reported, or need not be */
    bool ending;        /* the step was sent SIGTERM */
    uint64_t period_ns; /* time between two totals of a node [ns]; 0: nothing is to be done */
    uint64_t next_ns;   /* when to look at the sum again */
    uint64_t begun_ns;
    uint64_t heard_ns;               /* when the first total came; 0: none has */
    uint64_t pass_ns;                /* when to pass the totals on again */
    const struct forward *forward;   /* to the process that watches the job, if any does */
    char step[64];                   /* "17.0" */
    size_t job_count;                /* of a heterogeneous job each component has an ID */
    uint32_t jobs[COLLECT_JOBS_MAX]; /* ascending */
    struct config config;
    struct limit_sum sum;
    struct crossings crossings;
    int speaker; /* srun's standard error, while the step runs; -1: it is not used */
};

/**
 * Begin, if the configuration has limits.
 * @param message   of the plugin
 * @param receiver  gets the functions that it calls with totals
 */
void collect_limits_begin(struct collect_limits *limits, const struct message *message,
                          struct receiver *receiver);

/** Do what is due. Never blocks. */
void collect_limits_work(struct collect_limits *limits);

/** @return when to call collect_limits_work() again [ms from now]; -1: no need to */
int collect_limits_pause_ms(const struct collect_limits *limits);

/** @return a descriptor that is readable when there is work, too; -1: none. */
int collect_limits_fd(const struct collect_limits *limits);

/** Tell the process that watches the limits of the job what the step's nodes have drawn so far. */
void collect_limits_pass(const struct collect_limits *limits);

/** srun has ended, or soon will: no longer use its standard error. */
void collect_limits_end(struct collect_limits *limits);

#endif
