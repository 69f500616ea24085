/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_COLLECT_ENFORCE_H
#define APAPI_COLLECT_ENFORCE_H
#include <stdbool.h>
#include <stdint.h>

#include "budget/budget.h"
#include "collect/tool.h"

enum enforce_stage {
    ENFORCE_IDLE,
    ENFORCE_SENDING, /* scancel runs, or waits for its next attempt */
    ENFORCE_ASKING,  /* scontrol says how long KillWait is */
    ENFORCE_WAITING, /* for KillWait to pass */
    ENFORCE_KILLING,
    ENFORCE_DONE,
    ENFORCE_FAILED
};

#define ENFORCE_JOBS_MAX 16

/** The step: one of each component of a heterogeneous job, which have job IDs of their own. */
struct enforce_target {
    size_t count;
    uint32_t jobs[ENFORCE_JOBS_MAX]; /* ascending */
    char step[64];                   /* "0" */
};

/** Add a job. One that is there already, or has no room, is not added. */
void enforce_add_job(struct enforce_target *target, uint32_t job);

/**
 * The action of one budget, carried out by Slurm's own commands as the user. Each signal is sent by
 * one successful scancel. All zero at the start, but for the borrowed ones.
 */
struct enforcer {
    const struct tool_place *place;      /* borrowed */
    const struct enforce_target *target; /* borrowed */
    enum enforce_stage stage;
    struct budget budget;
    int attempts;
    uint64_t sent_ns, due_ns; /* of the first signal; of what waits */
    struct tool tool;
};

/** Carry out the action of a budget of a step. Once. */
void enforce_begin(struct enforcer *enforcer, const struct budget *budget);

/** Do what is due. Never blocks. @return whether the stage has changed to DONE or FAILED. */
bool enforce_work(struct enforcer *enforcer);

/** @return when to call enforce_work() again [ms from now]; -1: no need to */
int enforce_pause_ms(const struct enforcer *enforcer);

#endif
