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

/**
 * The action of one budget, carried out by Slurm's own commands as the user. Each signal is sent by
 * one successful scancel. All zero at the start, but for `place`.
 */
struct enforcer {
    const struct tool_place *place; /* borrowed */
    enum enforce_stage stage;
    char target[64]; /* of scancel: "7.0", "7" */
    struct budget budget;
    int attempts;
    uint64_t sent_ns, due_ns; /* of the first signal; of what waits */
    struct tool tool;
};

/** Carry out the action of a budget of a step. Once. */
void enforce_begin(struct enforcer *enforcer, const struct budget *budget, const char *step);

/** Do what is due. Never blocks. @return whether the stage has changed to DONE or FAILED. */
bool enforce_work(struct enforcer *enforcer);

/** @return when to call enforce_work() again [ms from now]; -1: no need to */
int enforce_pause_ms(const struct enforcer *enforcer);

#endif
