/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_TOTALS_H
#define SAMPLER_TOTALS_H
#include "apapi/live.h"
#include "apapi/session.h"
#include "channel/message.h"
#include "channel/report.h"
#include "sampler/step.h"
#include "sampler/task.h"

/**
 * The node's energy on its way to the step's collector, which watches a budget. A task sends it, as
 * that may wait for a network. All zero at the start.
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
    char payload[96], answer[2048]; /* used by `sending` while it runs */
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
