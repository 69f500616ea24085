/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/totals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "base/number.h"
#include "budget/budget_sum.h"
#include "channel/deadline.h"
#include "sampler/log.h"
#include "session/live.h"

#define SEND_LIMIT_NS (2000 * DEADLINE_MS)
#define LAST_LIMIT_NS (300 * DEADLINE_MS)

void totals_begin(struct totals *totals, const struct step *step, struct apapi_live_page *page,
                  const struct message *message)
{
    const char *where = message_value(message, "collect");
    const char *address = message_value(message, "collect_address");
    size_t nodes = step->id.nodes == APAPI_UNKNOWN ? 1 : step->id.nodes;

    if (!where || !address || report_parse(where, &totals->collector) ||
        totals->collector.totals_ms == 0) {
        return;
    }
    totals->step = step;
    totals->page = page;
    totals->run = deadline_now();
    totals->period_ns = budget_period_ns(totals->collector.totals_ms * DEADLINE_MS, nodes);
    totals->due_ns = totals->run + totals->period_ns;
    snprintf(totals->address, sizeof totals->address, "%s", address);
}

static void totals_write(struct totals *totals, const struct apapi_measurement *measurement)
{
    double total_j = apapi_measurement_total_j(measurement);
    int length = snprintf(totals->payload, sizeof totals->payload, "%" PRIu64 " %" PRIu64 " ",
                          totals->run, measurement->elapsed_ns);
    char *rest = totals->payload + length;
    size_t room = sizeof totals->payload - (size_t)length;

    if (isnan(total_j)) {
        snprintf(rest, room, "- %u", totals->step->id.job);
    } else {
        snprintf(rest, room, "%.9g %u", total_j, totals->step->id.job);
    }
}

static void totals_send(struct totals *totals, uint64_t limit_ns)
{
    const struct report report = {.word = APAPI_WORD_TOTAL,
                                  .node = totals->step->id.node,
                                  .nodelist = "",
                                  .payload = totals->payload,
                                  .answer = totals->answer,
                                  .answer_size = sizeof totals->answer};
    struct apapi_error err;

    if (report_send(&totals->collector, totals->address, &report, deadline_now() + limit_ns,
                    &err)) {
        log_write(LOG_INFO, "job %u step %s: total not sent: %s", totals->step->id.job,
                  totals->step->id.step, err.text);
    }
}

static void do_send(void *context)
{
    totals_send(context, SEND_LIMIT_NS);
}

/* The collector belongs to the user: what cannot be true is not shown. */
static void totals_show(const struct totals *totals)
{
    const size_t word = sizeof(APAPI_ANSWER_BUDGET) - 1;
    struct real_number budget, used;

    if (totals->page && strncmp(totals->answer, APAPI_ANSWER_BUDGET, word) == 0 &&
        real_number_parse(totals->answer + word, &budget) == 0 && *budget.rest == ' ' &&
        real_number_parse(budget.rest + 1, &used) == 0 && *used.rest == '\n' &&
        isfinite(budget.value) && budget.value > 0 && isfinite(used.value) && used.value >= 0) {
        live_page_set_budget(totals->page, budget.value, used.value);
    }
}

void totals_work(struct totals *totals, struct apapi_session *session)
{
    struct apapi_measurement measurement;
    uint64_t now_ns = deadline_now();

    if (totals->period_ns == 0 || now_ns < totals->due_ns) {
        return;
    }
    totals->due_ns = now_ns + totals->period_ns;
    if (!task_wait(&totals->sending, 0)) {
        return;
    }
    totals_show(totals);
    if (apapi_session_snapshot(session, &measurement, NULL) == 0) {
        totals_write(totals, &measurement);
        apapi_measurement_clear(&measurement);
        task_start(&totals->sending, do_send, totals);
    }
}

int totals_pause_ms(const struct totals *totals)
{
    uint64_t now_ns = deadline_now();

    if (totals->period_ns == 0) {
        return -1;
    }
    return totals->due_ns > now_ns ? (int)((totals->due_ns - now_ns) / DEADLINE_MS) + 1 : 0;
}

/* Of a heterogeneous step, the first component's first node. */
static bool totals_is_first(const struct apapi_identity *id)
{
    return id->node_index == 0 && (id->het_offset == 0 || id->het_offset == APAPI_UNKNOWN);
}

const char *totals_end(struct totals *totals, const struct apapi_measurement *measurement)
{
    uint64_t deadline_ns = deadline_now() + LAST_LIMIT_NS;

    if (totals->period_ns == 0 || !totals_is_first(&totals->step->id) ||
        !task_wait(&totals->sending, deadline_ns)) {
        return "";
    }
    totals->period_ns = 0;
    totals_write(totals, measurement);
    totals_send(totals, deadline_ns - deadline_now());
    return totals->answer;
}
