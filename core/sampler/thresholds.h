/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_THRESHOLDS_H
#define SAMPLER_THRESHOLDS_H
#include <stdbool.h>
#include <sys/types.h>

#include "action/crossings.h"
#include "apapi/session.h"
#include "sampler/job_budget.h"
#include "sampler/step.h"
#include "sampler/user.h"

/** The thresholds of a step's user, and the budgets of his job. All members 0: none. */
struct thresholds {
    bool open;
    struct job_budget budget; /* of the job, in its batch step */
    struct threshold_list list;
    struct actor actor;
    struct crossings crossings;
    struct user user;
    struct apapi_error trouble; /* what the user should know; "": nothing */
};

/**
 * Parse them and start the actor. Call it before there are threads, and before process_settle().
 * @return whether there are any; what is wrong is in `trouble`.
 */
bool thresholds_open(struct thresholds *thresholds, const struct step *step);

/** Hear what the sruns of the batch script say of their steps' energy. */
void thresholds_hear(struct thresholds *thresholds, struct parts *parts);

/** Set them in the session. */
void thresholds_set(struct thresholds *thresholds, const struct step *step,
                    struct apapi_session *session);

/** The step has one more task. */
void thresholds_add_task(const struct thresholds *thresholds, pid_t pid);

/** @return time until there is work without a message [ms]; -1: never. */
int thresholds_patience_ms(const struct thresholds *thresholds);

/** Set those whose component was not open before; look at the job's budget, if that is due. */
void thresholds_work(struct thresholds *thresholds, const struct step *step,
                     struct apapi_session *session);

/** The tasks have ended: end commands, and copy what was crossed into the record. */
void thresholds_record(struct thresholds *thresholds, const struct step *step,
                       struct apapi_record *record);

void thresholds_close(struct thresholds *thresholds);

#endif
