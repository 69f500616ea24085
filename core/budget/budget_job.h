/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BUDGET_JOB_H
#define APAPI_BUDGET_JOB_H
#include "budget/budget_sum.h"

/*
 * The energy of a job, added up while its steps run, one after the other and beside each other.
 * Each step measures the whole node. So of the steps of a node one leads, the others wait: when it
 * ends, or falls silent while another one is heard, the next one goes on from there, and no moment
 * of a node counts twice. No I/O and no clock.
 */

/** A node of the job. */
struct budget_job_node {
    char *name;
    struct budget_sum steps; /* its nodes are the steps that run on this node */
    size_t leader;           /* of them; BUDGET_JOB_NONE: no step has a known energy */
    double base_j;           /* what the leader had measured when it began to lead [J] */
    double done_j;           /* energy of those that led before [J] */
    uint64_t done_ns;        /* until when that is */
};

#define BUDGET_JOB_NONE SIZE_MAX

/** All zero at the start but for silent_ns. */
struct budget_job {
    uint64_t silent_ns; /* as of struct budget_sum */
    struct budget_job_node *nodes;
    size_t count, room;
};

/** Add what a step reports of a node. @return 0; -1 with errno ENOMEM. */
int budget_job_report(struct budget_job *job, const char *node, const char *step,
                      const struct budget_report *report, uint64_t now_ns);

/** A step has ended on a node. May be said again. @param last  its last report there */
void budget_job_end(struct budget_job *job, const char *node, const char *step,
                    const struct budget_report *last, uint64_t now_ns);

/** A step has ended on all nodes, and reports nothing any more. */
void budget_job_end_step(struct budget_job *job, const char *step, uint64_t now_ns);

/** Let steps lead that are heard where the leader is silent. Call it before the total. */
void budget_job_look(struct budget_job *job, uint64_t now_ns);

/** @return the energy of the job [J]; a silent node counts as drawing its latest power. */
double budget_job_total_j(const struct budget_job *job, uint64_t now_ns);

void budget_job_clear(struct budget_job *job);

#endif
