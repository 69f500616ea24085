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
 * The limits of the node that the step's user has set; in a batch step those of the job as well,
 * its user's and the site's: its sampler measures its own node all the time, and the sruns of the
 * script say what their steps draw. The limits of the step are watched by its collector, which is
 * sent the node's total: by a task, as that may wait for a network. All members 0: none.
 */
struct limits {
    const struct step *step; /* borrowed */
    struct crossings crossings;
    struct user user;
    struct apapi_error trouble; /* what the user should know; "": nothing */
    uint64_t period_ns;         /* between two looks at the energy [ns] */
    uint64_t due_ns;            /* when the next one is due */
    /* of a job: */
    struct limit_sum sum;
    const struct parts *parts; /* borrowed; NULL: no srun is heard */
    bool of_job;               /* limits of it are watched */
    /* for the collector: */
    bool sends;
    struct apapi_live_page *page; /* shows the budget and what of it was used; NULL: none */
    struct report_collector collector;
    char address[64];
    uint64_t run; /* tells this measurement from others of the node */
    struct task sending;
    /* used by `sending` while it runs: */
    bool complained; /* that a total was not sent */
    char payload[LIMIT_REPORT_SIZE], answer[32768];
};

/**
 * Parse them and start the actor. Call it before there are threads, and before process_settle().
 * @return whether there are any; what is wrong is in `trouble`.
 */
bool limits_open(struct limits *limits, const struct step *step);

/** Hear what the sruns of the batch script say of their steps' energy. */
void limits_hear(struct limits *limits, struct parts *parts);

/** Set those of the node in the session. */
void limits_set(struct limits *limits, struct apapi_session *session);

/**
 * The measurement has begun.
 * @param page     NULL: none
 * @param message  with the collector, if it wants totals
 */
void limits_begin(struct limits *limits, struct apapi_live_page *page,
                  const struct message *message);

/** @return time until there is work without a message [ms]; -1: never. */
int limits_patience_ms(const struct limits *limits);

/**
 * Set those whose component was not open before; look at the job's energy, send that of the node
 * and show what the collector has answered, if it is due. Never waits.
 */
void limits_work(struct limits *limits, struct apapi_session *session);

/**
 * The tasks have ended: end commands, and copy what was crossed into the record, on the first node
 * with the limits of the step, which takes at most 0.3 s.
 */
void limits_record(struct limits *limits, struct apapi_record *record);

void limits_close(struct limits *limits);

#endif
