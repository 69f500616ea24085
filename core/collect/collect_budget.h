/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_COLLECT_BUDGET_H
#define APAPI_COLLECT_BUDGET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget/budget_site.h"
#include "budget/budget_sum.h"
#include "budget/budget_watch.h"
#include "channel/message.h"
#include "collect/enforce.h"
#include "collect/speak.h"
#include "collect/tool.h"
#include "config/config.h"
#include "gather/receiver.h"

#define COLLECT_NOTES_MAX ((size_t)2 * BUDGET_WATCHED)

/** What the nodes are told of a crossing. */
struct collect_note {
    char text[160];                  /* "UNIX_NS JOULES\tBUDGET\tACTION" */
    const struct enforcer *enforcer; /* of the action; NULL: none */
};

/** The energy budgets of a step: the user's and the site's. All zero at the start. */
struct collect_budget {
    bool active;
    uint64_t period_ns; /* time between two totals of a node [ns] */
    uint64_t next_ns;   /* when to look at the sum again */
    uint64_t begun_ns;
    uint64_t heard_ns;             /* when the first total came; 0: none has */
    uint64_t pass_ns;              /* when to pass the totals on again */
    const struct forward *forward; /* to the process that watches the job's budget, if any does */
    size_t nodes;                  /* of the step; 0: not known */
    bool of_job;                   /* the job has a budget of its user */
    bool counted;                  /* nodes that have sent nothing were reported */
    char step[64];
    char user_text[256]; /* "": the user gave no budget */
    struct config config;
    struct budget_site site;
    struct budget_sum sum;
    struct budget_watch watch;
    struct tool_place place;
    struct enforce_target target;
    struct tool asking; /* squeue, for partition and QOS */
    struct enforcer enforcers[BUDGET_WATCHED];
    struct speaker speaker;
    size_t note_count;
    struct collect_note notes[COLLECT_NOTES_MAX];
};

/**
 * Begin, if the configuration has budgets.
 * @param message   of the plugin
 * @param receiver  gets the functions that it calls with totals
 */
void collect_budget_begin(struct collect_budget *budget, const struct message *message,
                          struct receiver *receiver);

/** Do what is due. Never blocks. */
void collect_budget_work(struct collect_budget *budget);

/** @return when to call collect_budget_work() again [ms from now]; -1: no need to */
int collect_budget_pause_ms(const struct collect_budget *budget);

/** srun has ended, or soon will: no longer use its standard error. */
void collect_budget_end(struct collect_budget *budget);

#endif
