/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_JOB_BUDGET_H
#define SAMPLER_JOB_BUDGET_H
#include <stdint.h>
#include <sys/types.h>

#include "action/crossings.h"
#include "apapi/session.h"
#include "budget/budget_job.h"
#include "budget/budget_watch.h"
#include "gather/parts.h"
#include "sampler/step.h"

/** What happens at a budget: thresholds of the list that no meter of this node crosses. */
struct job_budget_acts {
    size_t warning; /* a line */
    size_t steps;   /* the action while steps run */
    size_t alone;   /* the same when the script is alone */
};

/**
 * The budgets of a job, the user's and the site's, in the sampler of its batch step: it measures
 * its own node all the time, and the sruns of the script say what their steps draw. All members 0:
 * there is none.
 */
struct job_budget {
    const struct step *step;     /* borrowed; NULL: there is no budget */
    struct crossings *crossings; /* borrowed */
    const struct parts *parts;   /* the same; NULL: no srun is heard */
    uint64_t period_ns;          /* between two looks [ns] */
    uint64_t due_ns;             /* when the next one is due */
    uint64_t run;                /* of this node's measurement */
    struct budget_job sum;
    struct budget_watch watch;
    struct job_budget_acts acts[BUDGET_WATCHED];
};

/**
 * Find the budgets, and add what they do to the thresholds. Before there is an actor.
 * @param slurmstepd  which the commands of Slurm are found by; 0: not known
 * @return 0; -1 with `err`: it is no budget, or there are too many thresholds
 */
int job_budget_prepare(struct job_budget *budget, const struct step *step, pid_t slurmstepd,
                       struct threshold_list *thresholds, struct apapi_error *err);

/** Begin to watch. */
void job_budget_begin(struct job_budget *budget, struct crossings *crossings);

/** Hear what the sruns of the script say. */
void job_budget_hear(struct job_budget *budget, struct parts *parts);

/** Look at the sum, if that is due. Does not wait. */
void job_budget_work(struct job_budget *budget, struct apapi_session *session);

/** @return for how long there is nothing to do, for poll(2) [ms]; -1: indefinitely. */
int job_budget_pause_ms(const struct job_budget *budget);

void job_budget_close(struct job_budget *budget);

#endif
