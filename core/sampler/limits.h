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
 * script say what their steps draw. All members 0: none.
 */
struct limits {
    struct crossings crossings;
    struct user user;
    struct apapi_error trouble; /* what the user should know; "": nothing */
    const struct step *job;     /* borrowed; NULL: no limit of a job is watched, or it is over */
    const struct parts *parts;  /* the same; NULL: no srun is heard */
    uint64_t period_ns;         /* between two looks at the job's energy [ns] */
    uint64_t due_ns;            /* when the next one is due */
    struct limit_sum sum;
};

/**
 * Parse them and start the actor. Call it before there are threads, and before process_settle().
 * @return whether there are any; what is wrong is in `trouble`.
 */
bool limits_open(struct limits *limits, const struct step *step);

/** Hear what the sruns of the batch script say of their steps' energy. */
void limits_hear(struct limits *limits, struct parts *parts);

/** Set them in the session. */
void limits_set(struct limits *limits, const struct step *step, struct apapi_session *session);

/** @return time until there is work without a message [ms]; -1: never. */
int limits_patience_ms(const struct limits *limits);

/** Set those whose component was not open before; look at the job's energy, if that is due. */
void limits_work(struct limits *limits, const struct step *step, struct apapi_session *session);

/** The tasks have ended: end commands, and copy what was crossed into the record. */
void limits_record(struct limits *limits, const struct step *step, struct apapi_record *record);

void limits_close(struct limits *limits);

/* --- the node's total ------------------------------------------------------------------------- */

/**
 * The node's energy on its way to the step's collector, which watches the limits of the step. A
 * task sends it, as that may wait for a network. All zero at the start.
 */
struct totals {
    const struct step *step;      /* borrowed */
    struct apapi_live_page *page; /* borrowed; NULL: none */
    struct report_collector collector;
    char address[64];
    uint64_t period_ns; /* between two totals [ns]; 0: no one wants them */
    uint64_t due_ns;    /* when the next one is due */
    uint64_t run;       /* tells this measurement from others of the node */
    struct task sending;
    char payload[96], answer[8192]; /* used by `sending` while it runs */
};

/**
 * The measurement has begun.
 * @param page     shows the budget and what of it was used; NULL: none
 * @param message  with the collector, if it wants totals
 */
void totals_begin(struct totals *totals, const struct step *step, struct apapi_live_page *page,
                  const struct message *message);

/** Send the energy so far, if that is due, and show what the collector has answered. No wait. */
void totals_work(struct totals *totals, struct apapi_session *session);

/** @return for how long there is nothing to do, for poll(2) [ms]; -1: indefinitely. */
int totals_pause_ms(const struct totals *totals);

/**
 * The measurement is over: the first node learns what has happened to the budgets. Waits for at
 * most 0.3 s.
 * @return the collector's answer, "": none. Valid as long as `totals`.
 */
const char *totals_end(struct totals *totals, const struct apapi_measurement *measurement);

#endif
