/* SPDX-License-Identifier: BSD-3-Clause */
#include "budget/budget_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/grow.h"

static struct budget_job_node *budget_job_find(const struct budget_job *job, const char *name)
{
    for (size_t i = 0; i < job->count; i++) {
        if (strcmp(job->nodes[i].name, name) == 0) {
            return &job->nodes[i];
        }
    }
    return NULL;
}

static struct budget_job_node *budget_job_make(struct budget_job *job, const char *name)
{
    struct budget_job_node *node = budget_job_find(job, name);

    if (node) {
        return node;
    }
    if (array_add(&job->nodes, job->count, &job->room, sizeof *job->nodes)) {
        return NULL;
    }
    node = &job->nodes[job->count];
    *node = (struct budget_job_node){
        .name = strdup(name), .steps.silent_ns = job->silent_ns, .leader = BUDGET_JOB_NONE};
    job->count += node->name != NULL;
    return node->name ? node : NULL;
}

static bool budget_job_is_known(const struct budget_node *step)
{
    return !isnan(step->latest.total_j) || step->before_j > 0;
}

/* What a step had measured at a time: between its begin and its latest report on a straight line.
 */
static double budget_job_at_j(const struct budget_node *step, uint64_t at_ns)
{
    uint64_t begun_ns =
        step->heard_ns -
        (step->latest.elapsed_ns < step->heard_ns ? step->latest.elapsed_ns : step->heard_ns);
    double total_j = budget_node_total_j(step, step->heard_ns);

    if (at_ns <= begun_ns) {
        return 0;
    }
    if (at_ns >= step->heard_ns) {
        return total_j + (isnan(step->power_w) ? 0 : step->power_w) *
                             duration(at_ns - step->heard_ns) / NS_PER_S;
    }
    return total_j * duration(at_ns - begun_ns) / duration(step->heard_ns - begun_ns);
}

/* The one that has run for longest, as it is likely to go on. */
static size_t budget_job_choose(const struct budget_job_node *node)
{
    const struct budget_node *steps = node->steps.nodes;
    size_t best = BUDGET_JOB_NONE;

    for (size_t i = 0; i < node->steps.count; i++) {
        if (!steps[i].ended && !steps[i].silent && budget_job_is_known(&steps[i]) &&
            (best == BUDGET_JOB_NONE ||
             steps[i].latest.elapsed_ns > steps[best].latest.elapsed_ns)) {
            best = i;
        }
    }
    return best;
}

static void budget_job_lead(struct budget_job_node *node)
{
    if (node->leader == BUDGET_JOB_NONE) {
        node->leader = budget_job_choose(node);
        if (node->leader != BUDGET_JOB_NONE) {
            node->base_j = budget_job_at_j(&node->steps.nodes[node->leader], node->done_ns);
        }
    }
}

/* Never less than nothing: a guess may have been too high. */
static double budget_job_led_j(const struct budget_job_node *node, uint64_t now_ns)
{
    return node->leader == BUDGET_JOB_NONE
               ? 0
               : fmax(0,
                      budget_node_total_j(&node->steps.nodes[node->leader], now_ns) - node->base_j);
}

static void budget_job_retire(struct budget_job_node *node, uint64_t now_ns)
{
    node->done_j += budget_job_led_j(node, now_ns);
    node->done_ns = now_ns;
    node->leader = BUDGET_JOB_NONE;
}

int budget_job_report(struct budget_job *job, const char *name, const char *step,
                      const struct budget_report *report, uint64_t now_ns)
{
    struct budget_job_node *node = budget_job_make(job, name);

    if (!node || budget_sum_report(&node->steps, step, report, now_ns)) {
        return -1;
    }
    budget_job_lead(node);
    return 0;
}

static bool budget_job_is_led_by(const struct budget_job_node *node, const char *step)
{
    return node->leader != BUDGET_JOB_NONE &&
           strcmp(node->steps.nodes[node->leader].name, step) == 0;
}

/* A short step may have been reported never before. */
void budget_job_end(struct budget_job *job, const char *name, const char *step,
                    const struct budget_report *last, uint64_t now_ns)
{
    struct budget_job_node *node;

    if (budget_job_report(job, name, step, last, now_ns)) {
        return;
    }
    node = budget_job_find(job, name);
    if (budget_job_is_led_by(node, step)) {
        budget_job_retire(node, now_ns);
    }
    budget_sum_end(&node->steps, step, last->total_j);
    budget_job_lead(node);
}

/* What has ended needs no memory; the last one takes its place. */
static void budget_job_forget(struct budget_job_node *node, const char *step)
{
    struct budget_sum *steps = &node->steps;

    for (size_t i = 0; i < steps->count; i++) {
        if (strcmp(steps->nodes[i].name, step) == 0) {
            free(steps->nodes[i].name);
            steps->nodes[i] = steps->nodes[--steps->count];
            node->leader = node->leader == steps->count ? i : node->leader;
            return;
        }
    }
}

void budget_job_end_step(struct budget_job *job, const char *step, uint64_t now_ns)
{
    for (size_t i = 0; i < job->count; i++) {
        struct budget_job_node *node = &job->nodes[i];

        if (budget_job_is_led_by(node, step)) {
            budget_job_retire(node, now_ns);
        }
        budget_job_forget(node, step);
        budget_job_lead(node);
    }
}

void budget_job_look(struct budget_job *job, uint64_t now_ns)
{
    for (size_t i = 0; i < job->count; i++) {
        struct budget_job_node *node = &job->nodes[i];

        while (budget_sum_look(&node->steps, now_ns)) {
        }
        if (node->leader != BUDGET_JOB_NONE && node->steps.nodes[node->leader].silent &&
            budget_job_choose(node) != BUDGET_JOB_NONE) {
            budget_job_retire(node, now_ns);
            budget_job_lead(node);
        }
    }
}

double budget_job_total_j(const struct budget_job *job, uint64_t now_ns)
{
    double total_j = 0;

    for (size_t i = 0; i < job->count; i++) {
        total_j += job->nodes[i].done_j + budget_job_led_j(&job->nodes[i], now_ns);
    }
    return total_j;
}

void budget_job_clear(struct budget_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        free(job->nodes[i].name);
        budget_sum_clear(&job->nodes[i].steps);
    }
    free(job->nodes);
    *job = (struct budget_job){.silent_ns = job->silent_ns};
}
