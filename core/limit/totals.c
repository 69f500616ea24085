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

#define PER_SECOND_MAX 500

void limit_report_write(const struct limit_report *report, char text[LIMIT_REPORT_SIZE])
{
    char total[32] = "-", job[16] = "";

    if (!isnan(report->total_j)) {
        snprintf(total, sizeof total, "%.9g", report->total_j);
    }
    if (report->job) {
        snprintf(job, sizeof job, " %" PRIu32, report->job);
    }
    snprintf(text, LIMIT_REPORT_SIZE, "%" PRIu64 " %" PRIu64 " %s%s%s", report->run,
             report->elapsed_ns, total, job, report->last ? " ended" : "");
}

int limit_report_read(const char *text, struct limit_report *report)
{
    struct whole_number run, elapsed, job = {.value = 0};
    struct real_number total = {.value = NAN};

    if (whole_number_parse(text, &run) || run.negative || *run.rest != ' ' ||
        whole_number_parse(run.rest + 1, &elapsed) || elapsed.negative || *elapsed.rest != ' ') {
        return -1;
    }
    total.rest = elapsed.rest + 2;
    if (elapsed.rest[1] != '-' && (real_number_parse(elapsed.rest + 1, &total) ||
                                   !(total.value >= 0) || isinf(total.value))) {
        return -1;
    }
    if (*total.rest == ' ' && whole_number_parse(total.rest + 1, &job) == 0) {
        total.rest = job.rest;
    }
    *report = (struct limit_report){.run = run.value,
                                    .elapsed_ns = elapsed.value,
                                    .total_j = total.value,
                                    .last = strcmp(total.rest, " ended") == 0,
                                    .job = (uint32_t)job.value};
    return (*total.rest && !report->last) || job.negative || job.value > UINT32_MAX ? -1 : 0;
}

/* --- a step on a node ------------------------------------------------------------------------- */

uint64_t limit_period_ns(uint64_t interval_ns, size_t nodes)
{
    uint64_t least_ns = nodes * (NS_PER_S / PER_SECOND_MAX);

    return interval_ns > least_ns ? interval_ns : least_ns;
}

/* @return a node, which may be new; NULL with errno ENOMEM, ENOSPC: one too many. */
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
                                .steps.silent_ns = sum->silent_ns,
                                .leader = LIMIT_NO_STEP};
    sum->count += node->name != NULL;
    return node->name ? node : NULL;
}

/* Another run, a later moment of it, or the record. */
static void step_take(struct limit_node *step, const struct limit_report *report, uint64_t now_ns)
{
    struct limit_report *latest = &step->latest;
    double more_j = report->total_j - latest->total_j;

    if (report->run == 0) {
        if (more_j > 0 || (isnan(latest->total_j) && !isnan(report->total_j))) {
            latest->total_j = report->total_j;
        }
    } else if (report->run > latest->run) { /* it has begun again */
        step->before_j += isnan(latest->total_j) ? 0 : latest->total_j;
        *latest = *report;
        if (report->elapsed_ns > 0 && !isnan(report->total_j)) {
            step->power_w = report->total_j / (duration(report->elapsed_ns) / NS_PER_S);
        }
    } else if (report->run < latest->run || report->elapsed_ns < latest->elapsed_ns) {
        return;
    } else if (report->elapsed_ns > latest->elapsed_ns) {
        if (more_j >= 0) {
            step->power_w = more_j / (duration(report->elapsed_ns - latest->elapsed_ns) / NS_PER_S);
        }
        /* what a total may lose is not given back: a meter that vanished has drawn its energy */
        if (isnan(latest->total_j) || more_j >= 0) {
            latest->total_j = report->total_j;
        }
        latest->elapsed_ns = report->elapsed_ns;
    }
    step->heard_ns = now_ns;
    step->silent = false;
}

/* 0: not known. */
static double step_total_j(const struct limit_node *step, uint64_t now_ns)
{
    double total_j = step->before_j + (isnan(step->latest.total_j) ? 0 : step->latest.total_j);

    if (step->silent && !isnan(step->power_w)) {
        total_j += step->power_w * duration(now_ns - step->heard_ns) / NS_PER_S;
    }
    return total_j;
}

/* Its energy at a time: on a straight line between its begin and its latest report. */
static double step_at_j(const struct limit_node *step, uint64_t at_ns)
{
    uint64_t heard_ns = step->heard_ns, elapsed_ns = step->latest.elapsed_ns;
    uint64_t begun_ns = heard_ns - (elapsed_ns < heard_ns ? elapsed_ns : heard_ns);
    double total_j = step_total_j(step, heard_ns);

    if (at_ns <= begun_ns) {
        return 0;
    }
    if (at_ns >= heard_ns) {
        return total_j +
               (isnan(step->power_w) ? 0 : step->power_w) * duration(at_ns - heard_ns) / NS_PER_S;
    }
    return total_j * duration(at_ns - begun_ns) / duration(heard_ns - begun_ns);
}

/* --- the steps of a node ---------------------------------------------------------------------- */

/* The one that has run for longest, as it is likely to go on. */
static size_t node_choose(const struct limit_node *node)
{
    const struct limit_node *steps = node->steps.nodes;
    size_t best = LIMIT_NO_STEP;

    for (size_t i = 0; i < node->steps.count; i++) {
        bool known = !isnan(steps[i].latest.total_j) || steps[i].before_j > 0;

        if (!steps[i].ended && !steps[i].silent && known &&
            (best == LIMIT_NO_STEP || steps[i].latest.elapsed_ns > steps[best].latest.elapsed_ns)) {
            best = i;
        }
    }
    return best;
}

static void node_lead(struct limit_node *node)
{
    if (node->leader == LIMIT_NO_STEP) {
        node->leader = node_choose(node);
        if (node->leader != LIMIT_NO_STEP) {
            node->base_j = step_at_j(&node->steps.nodes[node->leader], node->done_ns);
        }
    }
}

/* Never less than nothing: a guess may have been too high. */
static double node_led_j(const struct limit_node *node, uint64_t now_ns)
{
    return node->leader == LIMIT_NO_STEP
               ? 0
               : fmax(0, step_total_j(&node->steps.nodes[node->leader], now_ns) - node->base_j);
}

static void node_retire(struct limit_node *node, uint64_t now_ns)
{
    node->done_j += node_led_j(node, now_ns);
    node->done_ns = now_ns;
    node->leader = LIMIT_NO_STEP;
}

/* Steps lead that are heard where the leader is silent. @return whether no step is heard */
static bool node_look(struct limit_node *node, uint64_t now_ns)
{
    bool silent = false, heard = false;

    for (size_t i = 0; i < node->steps.count; i++) {
        struct limit_node *step = &node->steps.nodes[i];

        step->silent = !step->ended && now_ns > step->heard_ns &&
                       now_ns - step->heard_ns > node->steps.silent_ns;
        silent |= step->silent;
        heard |= !step->silent && !step->ended;
    }
    if (node->leader != LIMIT_NO_STEP && node->steps.nodes[node->leader].silent &&
        node_choose(node) != LIMIT_NO_STEP) {
        node_retire(node, now_ns);
        node_lead(node);
    }
    return silent && !heard;
}

/* --- the nodes -------------------------------------------------------------------------------- */

/* A short step may have been reported never before. */
int limit_sum_report(struct limit_sum *sum, const char *name, const char *step_name,
                     const struct limit_report *report, uint64_t now_ns)
{
    struct limit_node *node = sum_node(sum, name);
    struct limit_node *step = node ? sum_node(&node->steps, step_name) : NULL;

    if (!step) {
        return -1;
    }
    if (!step->ended) {
        step_take(step, report, now_ns);
        node_lead(node);
    }
    if (report->last && !step->ended) {
        if (node->leader == (size_t)(step - node->steps.nodes)) {
            node_retire(node, now_ns);
        }
        step->ended = true;
        sum->ended++;
        node_lead(node);
    }
    return 0;
}

/* A step that has ended needs no memory; the last one takes its place. */
void limit_sum_end_step(struct limit_sum *sum, const char *step, uint64_t now_ns)
{
    for (struct limit_node *node = sum->nodes; node < sum->nodes + sum->count; node++) {
        struct limit_sum *steps = &node->steps;
        size_t i = 0;

        while (i < steps->count && strcmp(steps->nodes[i].name, step) != 0) {
            i++;
        }
        if (i == steps->count) {
            continue;
        }
        if (node->leader == i) {
            node_retire(node, now_ns);
        }
        free(steps->nodes[i].name);
        steps->nodes[i] = steps->nodes[--steps->count];
        node->leader = node->leader == steps->count ? i : node->leader;
        node_lead(node);
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

double limit_sum_total_j(struct limit_sum *sum, uint64_t now_ns)
{
    double total_j = 0;

    for (struct limit_node *node = sum->nodes; node < sum->nodes + sum->count; node++) {
        node_look(node, now_ns);
        total_j += node->done_j + node_led_j(node, now_ns);
    }
    return total_j;
}

size_t limit_sum_known(const struct limit_sum *sum)
{
    size_t known = 0;

    for (const struct limit_node *node = sum->nodes; node < sum->nodes + sum->count; node++) {
        known += node->leader != LIMIT_NO_STEP || node->done_j > 0;
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

/* That was reached. */
static double reached_j(const struct limit *limit)
{
    return limit->condition == APAPI_OVERFLOW_EVERY ? limit->state.crossing.value : limit->amount;
}

size_t limit_list_look(struct limit_list *list, enum limit_scope scope, double sum_j,
                       uint64_t now_ns, struct limit *crossed[LIMITS_ROOM])
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct limit *limit = &list->limits[i];

        if (limit->scope == scope && limit->state.level == 0) {
            limit->state.mode = limit->condition;
            limit->state.level = limit->amount;
            limit_join(&list->watch, &limit->state);
        }
    }
    /* no report has come since: the sum rises evenly between two reports, not in a moment */
    if ((list->watch.known && sum_j <= list->watch.last && sum_j < list->watch.least) ||
        !limit_look(&list->watch, &(struct limit_value){.value = sum_j, .time_ns = now_ns})) {
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
