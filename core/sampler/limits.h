/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_LIMITS_H
#define SAMPLER_LIMITS_H
#include <stdbool.h>

#include "apapi/live.h"
#include "apapi/session.h"
#include "channel/channel.h"
#include "channel/report.h"
#include "gather/parts.h"
#include "limit/crossings.h"
#include "limit/totals.h"
#include "sampler/step.h"
#include "sampler/userfiles.h"

/**
 * The limits of the node that the step's user has set. A batch step has the limits of its job, too,
 * from its user and the site: its sampler measures its own node all the time, and the sruns of the
 * script report the energy of their steps. The collector of a step watches the limits of the step:
 * a task sends the node's total, as sending may wait for a network. All members 0: no limits.
 */
struct limits {
    const struct step *step; /* borrowed */
    struct crossings crossings;
    struct user user;
    struct apapi_error trouble; /* what the user should know; "": nothing */
    uint64_t period_ns;         /* between two looks at the energy [ns] */
    uint64_t due_ns;            /* when the next look is due */
    /* of a job: */
    struct limit_sum sum;
    const struct parts *parts; /* borrowed; NULL: no srun reports */
    bool of_job;               /* limits of the job are watched */
    /* for the collector: */
    bool sends;
    struct apapi_live_page *page; /* shows the budget and the used part of it; NULL: none */
    struct report_collector collector;
    char address[64];
    uint64_t run; /* tells this measurement from others of the node */
    struct task sending;
    /* used by `sending` while it runs: */
    bool complained; /* the log says that a total was not sent */
    char payload[LIMIT_REPORT_SIZE], answer[32768];
};

/**
 * Parse the limits and start the actor. Call it before there are threads and process_settle().
 * @return whether there are limits; a problem is in `trouble`.
 */
bool limits_open(struct limits *limits, const struct step *step);

/** Begin to take the reports of the batch script's sruns on the energy of their steps. */
void limits_hear(struct limits *limits, struct parts *parts);

/** Set the limits of the node in the session. */
void limits_set(struct limits *limits, struct apapi_session *session);

/**
 * Begin to send totals, once the measurement has begun.
 * @param page     NULL: none
 * @param message  has the address of the collector, if it wants totals
 */
void limits_begin(struct limits *limits, struct apapi_live_page *page,
                  const struct message *message);

/** @return time until there is work without a message [ms]; -1: never. */
int limits_patience_ms(const struct limits *limits);

/**
 * Set the limits whose component was not open before. If a look is due, check the job's energy,
 * show the collector's last answer, and send the node's energy to the collector. Never waits.
 */
void limits_work(struct limits *limits, struct apapi_session *session);

/**
 * End commands after the tasks have ended, and copy crossed limits into the record; on the first
 * node those of the step, too, which takes at most 0.3 s.
 */
void limits_record(struct limits *limits, struct apapi_record *record);

void limits_close(struct limits *limits);

#endif
