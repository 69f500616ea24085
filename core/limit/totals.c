/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/totals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"

#define PER_SECOND_MAX 500

void limit_report_write(const struct limit_report *report, char text[LIMIT_REPORT_SIZE])
{
    snprintf(text, LIMIT_REPORT_SIZE, "%" PRIu64 " %" PRIu64 " %.20s%.12s%s", report->run,
             report->elapsed_ns,
             isnan(report->total_j) ? "-" : units_part(true, "%.9g", report->total_j).text,
             units_part(report->job > 0, " %" PRIu32, report->job).text,
             report->last ? " ended" : "");
}

int limit_report_read(const char *text, struct limit_report *report)
{
    struct real_number total = {.value = NAN};
    uint64_t run, elapsed_ns, job = 0;
    const char *rest = text_digits(text, UINT64_MAX, &run), *more;

    rest = rest && *rest == ' ' ? text_digits(rest + 1, UINT64_MAX, &elapsed_ns) : NULL;
    if (!rest || *rest != ' ') {
        return -1;
    }
    total.rest = rest + 2;
    if (rest[1] != '-' &&
        (real_number_parse(rest + 1, &total) || !(total.value >= 0) || isinf(total.value))) {
        return -1;
    }
    more = *total.rest == ' ' ? text_digits(total.rest + 1, UINT32_MAX, &job) : NULL;
    more = more ? more : total.rest;
    *report = (struct limit_report){.run = run,
                                    .elapsed_ns = elapsed_ns,
                                    .total_j = total.value,
                                    .last = strcmp(more, " ended") == 0,
                                    .job = (uint32_t)job};
    return *more && !report->last ? -1 : 0;
}

uint64_t limit_period_ns(uint64_t interval_ns, size_t nodes)
{
    uint64_t least_ns = nodes * (NS_PER_S / PER_SECOND_MAX);

    return interval_ns > least_ns ? interval_ns : least_ns;
}

/* --- a step on a node ------------------------------------------------------------------------- */

/* @return the node or step, added if it is new; NULL with errno ENOMEM, ENOSPC: one too many. */
static struct limit_node *sum_node(struct limit_sum *sum, const char *name)
{
    struct limit_node *node = sum->nodes;

    while (node < sum->nodes + sum->count && strcmp(node->name, name) != 0) {
        node++;
    }
    if (node < sum->nodes + sum->count) {
        return node;
    }
    errno = ENOSPC;
    if ((sum->most && sum->count >= sum->most) ||
        array_add(&sum->nodes, sum->count, &sum->room, sizeof *sum->nodes)) {
        return NULL;
    }
    node = &sum->nodes[sum->count];
    *node = (struct limit_node){.name = strdup(name),
                                .power_w = NAN,
                                .latest.total_j = NAN,
                                .steps.silent_ns = sum->silent_ns};
    sum->count += node->name != NULL;
    return node->name ? node : NULL;
}

/* Energy that a step has used between two reports [J]; NaN: not known. */
struct step_news {
    double more_j;
    uint64_t from_ns;
};

/* @return whether the report comes late: there was a newer one. */
static bool step_knows(const struct limit_node *step, const struct limit_report *report)
{
    return report->run &&
           (report->run < step->latest.run ||
            (report->run == step->latest.run && report->elapsed_ns < step->latest.elapsed_ns));
}

/*
 * Take a report of a step, which the node has sent at that time. If it is from the step's record,
 * only the total counts.
 */
static struct step_news step_take(struct limit_node *step, const struct limit_report *report,
                                  uint64_t sent_ns)
{
    struct limit_report *latest = &step->latest;
    bool begins = report->run > latest->run || step->heard_ns == 0;
    uint64_t before_ns = begins ? 0 : latest->elapsed_ns;
    double before_j = begins || isnan(latest->total_j) ? 0 : latest->total_j;
    /* a repeated report; the last one may be passed on with the total of the record */
    bool again = report->run && !begins && !report->last && report->elapsed_ns == before_ns;
    double total_j = again ? NAN : report->total_j;
    struct step_news news = {total_j - before_j, step->heard_ns};

    if (begins) {
        news.from_ns = sent_ns - (report->elapsed_ns < sent_ns ? report->elapsed_ns : sent_ns);
        step->begun_ns = news.from_ns;
        latest->total_j = NAN;
    }
    if (report->elapsed_ns > before_ns && news.more_j >= 0) {
        step->power_w = news.more_j / ((double)(report->elapsed_ns - before_ns) / NS_PER_S);
    }
    /* a total that falls is not taken: a meter that vanished has still counted its energy */
    if (isnan(latest->total_j) || news.more_j >= 0) {
        latest->total_j = total_j;
    }
    if (report->run) {
        latest->run = report->run;
        latest->elapsed_ns = report->elapsed_ns;
    }
    step->heard_ns = sent_ns;
    return news;
}

/* --- a node ----------------------------------------------------------------------------------- */

/* @return the step that has run longest, heard ones before silent ones; NULL: none. */
static const struct limit_node *node_leader(const struct limit_node *node)
{
    const struct limit_node *best = NULL, *step = node->steps.nodes;

    for (; step < node->steps.nodes + node->steps.count; step++) {
        if (!step->ended && !isnan(step->latest.total_j) &&
            (!best || step->silent < best->silent ||
             (step->silent == best->silent && step->begun_ns < best->begun_ns))) {
            best = step;
        }
    }
    return best;
}

/* @return the node's energy [J]; since its leader is silent, by the leader's latest power. */
static double node_total_j(const struct limit_node *node, const struct limit_node *leader,
                           uint64_t now_ns)
{
    return node->done_j + (leader && leader->silent && !isnan(leader->power_w)
                               ? leader->power_w * (double)(now_ns - node->done_ns) / NS_PER_S
                               : 0);
}

/* If another step leads now instead of a silent one, keep the energy up to now. */
static void node_hand_over(struct limit_node *node, const struct limit_node *before,
                           uint64_t now_ns)
{
    if (before && before->silent && node_leader(node) != before) {
        node->done_j = node_total_j(node, before, now_ns);
        node->done_ns = now_ns;
    }
}

/* Add new energy of the leader: only the part of its time that is not counted yet. */
static void node_add(struct limit_node *node, const struct step_news *news, uint64_t sent_ns)
{
    double length_ns = (double)(sent_ns - news->from_ns), part = 1;

    if (node->done_ns > news->from_ns && length_ns > 0) {
        part = sent_ns > node->done_ns ? (double)(sent_ns - node->done_ns) / length_ns : 0;
    }
    node->done_j += news->more_j > 0 ? news->more_j * part : 0;
    node->done_ns = sent_ns > node->done_ns ? sent_ns : node->done_ns;
}

/* Find silent steps. @return whether there are some, and no other step is heard */
static bool node_look(struct limit_node *node, uint64_t now_ns)
{
    const struct limit_node *leader = node_leader(node);
    bool silent = false, heard = false;

    for (size_t i = 0; i < node->steps.count; i++) {
        struct limit_node *step = &node->steps.nodes[i];

        step->silent = !step->ended && now_ns > step->heard_ns &&
                       now_ns - step->heard_ns > node->steps.silent_ns;
        silent |= step->silent;
        heard |= !step->silent && !step->ended;
    }
    node_hand_over(node, leader, now_ns);
    return silent && !heard;
}

/* --- the nodes -------------------------------------------------------------------------------- */

/* The first report of a short step may be its last. */
int limit_sum_report(struct limit_sum *sum, const char *name, const char *step_name,
                     const struct limit_report *report, uint64_t now_ns)
{
    struct limit_node *node = sum_node(sum, name);
    struct limit_node *step = node ? sum_node(&node->steps, step_name) : NULL;
    const struct limit_node *leader = step ? node_leader(node) : NULL;
    uint64_t sent_ns = now_ns > report->age_ns ? now_ns - report->age_ns : 0;
    struct step_news news;

    if (!step) {
        return -1;
    }
    if (!step->ended && !step_knows(step, report)) {
        news = step_take(step, report, sent_ns);
        step->silent = now_ns - sent_ns > sum->silent_ns;
        sum->begun_ns = sum->begun_ns ? sum->begun_ns : news.from_ns;
        node_hand_over(node, leader, now_ns);
        if (node_leader(node) == step) {
            node_add(node, &news, sent_ns);
        }
        step->ended = report->last;
        sum->ended += report->last;
    }
    return 0;
}

/* A step that has ended is freed; the last one in the list takes its place. */
void limit_sum_end_step(struct limit_sum *sum, const char *name, uint64_t now_ns)
{
    for (struct limit_node *node = sum->nodes; node < sum->nodes + sum->count; node++) {
        struct limit_node *step = node->steps.nodes, *end = step + node->steps.count;
        const struct limit_node *leader = node_leader(node);

        while (step < end && strcmp(step->name, name) != 0) {
            step++;
        }
        if (step < end) {
            step->ended = true;
            node_hand_over(node, leader, now_ns);
            free(step->name);
            *step = end[-1];
            node->steps.count--;
        }
    }
}

const struct limit_node *limit_sum_look(struct limit_sum *sum, uint64_t now_ns)
{
    for (struct limit_node *node = sum->nodes; node < sum->nodes + sum->count; node++) {
        bool silent = node_look(node, now_ns);

        if (silent != node->silent) {
            node->silent = silent;
            return node;
        }
    }
    return NULL;
}

struct limit_value limit_sum_value(struct limit_sum *sum, uint64_t now_ns)
{
    struct limit_value total = {.time_ns = now_ns, .from_ns = sum->begun_ns};
    double total_j = 0;

    for (struct limit_node *node = sum->nodes; node < sum->nodes + sum->count; node++) {
        node_look(node, now_ns);
        total_j += node_total_j(node, node_leader(node), now_ns);
    }
    total.value = total_j;
    return total;
}

size_t limit_sum_known(const struct limit_sum *sum)
{
    size_t known = 0;

    for (size_t i = 0; i < sum->count; i++) {
        known += sum->nodes[i].done_ns > 0;
    }
    return known;
}

void limit_sum_clear(struct limit_sum *sum)
{
    for (size_t i = 0; i < sum->count; i++) {
        free(sum->nodes[i].name);
        limit_sum_clear(&sum->nodes[i].steps);
    }
    free(sum->nodes);
    *sum = (struct limit_sum){.silent_ns = sum->silent_ns, .most = sum->most};
}

/* --- the limits of a sum ---------------------------------------------------------------------- */

/* @return the energy at which the limit was crossed [J]. */
static double reached_j(const struct limit *limit)
{
    return limit->condition == APAPI_OVERFLOW_EVERY ? limit->state.crossing.value : limit->amount;
}

size_t limit_list_look(struct limit_list *list, enum limit_scope scope, struct limit_value sum,
                       struct limit *crossed[LIMITS_ROOM])
{
    size_t count = 0;

    sum.from_ns = sum.from_ns > list->watch.last_ns ? sum.from_ns : 0;
    for (size_t i = 0; i < list->count; i++) {
        struct limit *limit = &list->limits[i];

        if (limit->scope == scope && limit->state.level == 0) {
            limit->state.mode = limit->condition;
            limit->state.level = limit->amount;
            limit_join(&list->watch, &limit->state);
        }
    }
    /* no report has come since: the sum rises evenly between two reports, not in a moment */
    if ((list->watch.known && sum.value <= list->watch.last && sum.value < list->watch.least) ||
        !limit_look(&list->watch, &sum)) {
        return 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct limit *limit = &list->limits[i];
        uint64_t times = limit->state.crossing.count;

        limit->state.crossing.count = 0;
        if (times > 0 && !(limit->warning && limit[-1].count > 0)) { /* its budget is reached */
            size_t k = count++;

            limit->count += times;
            for (; k > 0 && reached_j(crossed[k - 1]) > reached_j(limit); k--) {
                crossed[k] = crossed[k - 1];
            }
            crossed[k] = limit;
        }
    }
    return count;
}
