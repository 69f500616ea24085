/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot of this machine's steps, from their live pages. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/steps/steps.h"
#include "sum/members.h"

/* --- figures -------------------------------------------------------------------------------- */

static const struct top_figure new = {.now = NAN, .total = NAN, .uncertainty_j = NAN, .age_s = NAN};

/* Add two figures of different meters. If one lacks a value, the sum lacks it, too. */
static struct top_figure top_sum(const struct top_figure *a, const struct top_figure *b)
{
    return (struct top_figure){.measured = true,
                               .estimated = a->estimated || b->estimated,
                               .failed = a->failed || b->failed,
                               .stale = a->stale || b->stale,
                               .now = a->now + b->now,
                               .total = a->total + b->total,
                               .uncertainty_j = a->uncertainty_j + b->uncertainty_j,
                               .age_s = fmax(a->age_s, b->age_s)};
}

/* Set the total of the domains that add up. */
static void top_add_up(struct top_figure domains[APAPI_DOMAINS])
{
    struct top_figure total = new;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct top_figure *part = &domains[d];

        if (part->measured && apapi_domain_adds_up((enum apapi_domain)d)) {
            total = total.measured ? top_sum(&total, part) : *part;
        }
    }
    domains[TOP_TOTAL] = total;
}

/* --- pages ---------------------------------------------------------------------------------- */

/* Copy a text of a page; it may not end with a NUL. */
#define COPY_TEXT(copy, text)                                                                      \
    snprintf(copy, sizeof(copy), "%.*s",                                                           \
             (int)(sizeof(text) < sizeof(copy) ? sizeof(text) : sizeof(copy) - 1), text)

static void copy_identity(const struct apapi_live_head *head, struct apapi_identity *id)
{
    *id = APAPI_IDENTITY_UNKNOWN;
    id->job = head->job;
    id->array_job = head->array_job;
    id->array_task = head->array_task;
    id->het_job = head->het_job;
    id->het_offset = head->het_offset;
    id->uid = head->uid;
    id->tasks = head->tasks;
    COPY_TEXT(id->step, head->step);
    COPY_TEXT(id->cluster, head->cluster);
    COPY_TEXT(id->node, head->node);
    COPY_TEXT(id->user, head->user);
    COPY_TEXT(id->job_name, head->job_name);
}

bool top_wants(const struct query *query, const struct apapi_live_page *page)
{
    struct apapi_identity id;

    copy_identity(&page->head, &id);
    return query_has(query, &id);
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / NS_PER_S : 0;
}

static bool is_old(const struct apapi_live_slot *slot, uint64_t now_ns)
{
    uint64_t limit_ns = slot->interval_ns > TOP_STALE_NS / 3 ? slot->interval_ns : TOP_STALE_NS / 3;
    uint64_t age_ns = now_ns > slot->time_ns ? now_ns - slot->time_ns : 0;

    return slot->time_ns > 0 && age_ns / 3 > limit_ns;
}

/* Read a slot. If it is being written all the time, its figure stays unknown. Figures of a step
 * that has ended are never stale.
 */
static void read_slot(const struct apapi_live_slot *slot, const struct top_view *view,
                      const struct top_step *step, struct top_figure *figure)
{
    struct apapi_live_slot copy;
    bool known = apapi_live_read(slot, &copy);

    *figure = new;
    figure->measured = !known || copy.flags & APAPI_LIVE_MEASURED;
    if (!known || !figure->measured) {
        return;
    }
    figure->estimated = copy.flags & APAPI_LIVE_ESTIMATED;
    figure->failed = copy.flags & APAPI_LIVE_FAILED;
    if (copy.time_ns > 0) {
        figure->now = copy.rate;
        figure->total = copy.total;
        figure->uncertainty_j = copy.uncertainty_j > 0 ? copy.uncertainty_j : NAN;
        figure->age_s = seconds_between(copy.time_ns, view->mono_ns);
        figure->stale = step->state != APAPI_LIVE_ENDED && is_old(&copy, view->mono_ns);
    }
}

int top_add(struct top_view *view, const struct apapi_live_page *page)
{
    const struct apapi_live_head *head = &page->head;
    uint32_t state = apapi_live_state(page); /* read first: when it is set, the rest is written */
    uint32_t events = apapi_live_event_count(page);
    struct top_step *step;

    if (array_add(&view->steps, view->count, &view->room, sizeof *view->steps)) {
        return -1;
    }
    step = &view->steps[view->count];
    *step = (struct top_step){.state = state <= APAPI_LIVE_ENDED ? (enum apapi_live_state)state
                                                                 : APAPI_LIVE_STARTING,
                              .elapsed_s = NAN};
    copy_identity(head, &step->id);
    step_id_text(&step->id, step->name, sizeof step->name);
    if (step->state != APAPI_LIVE_STARTING) {
        step->start_unix_ns = head->start_unix_ns;
        step->elapsed_s = seconds_between(
            head->start_ns, step->state == APAPI_LIVE_ENDED ? head->end_ns : view->mono_ns);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        read_slot(&page->domains[d], view, step, &step->domains[d]);
    }
    step->gpu_meters = calloc(events + 1, sizeof *step->gpu_meters);
    if (!step->gpu_meters) {
        return -1;
    }
    for (uint32_t i = 0; i < events; i++) {
        const struct apapi_live_event *event = &page->names[i];

        if (event->domain == APAPI_DOMAIN_GPU &&
            (event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER)) {
            COPY_TEXT(step->gpu_meters[step->gpu_meter_count], event->name);
            step->gpu_meter_count++;
        }
    }
    top_add_up(step->domains);
    view->count++;
    return 0;
}

void top_clear(struct top_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        free(view->steps[i].gpu_meters);
    }
    free(view->steps);
    free(view->nodes);
    *view = (struct top_view){0};
}

/* --- nodes ---------------------------------------------------------------------------------- */

/* Relation between the GPUs of two steps. */
enum relation { SAME, SEPARATE, MIXED };

static enum relation relate(const struct top_step *a, const struct top_step *b)
{
    size_t shared = 0;

    for (size_t i = 0; i < a->gpu_meter_count; i++) {
        for (size_t k = 0; k < b->gpu_meter_count; k++) {
            shared += strcmp(a->gpu_meters[i], b->gpu_meters[k]) == 0;
        }
    }
    return shared == a->gpu_meter_count && shared == b->gpu_meter_count ? SAME
           : shared == 0                                                ? SEPARATE
                                                                        : MIXED;
}

static bool is_running(const struct top_step *step, enum apapi_domain domain)
{
    return step->state == APAPI_LIVE_RUNNING && step->domains[domain].measured;
}

/* @return the newest figure of the steps that read the same meters as steps[first]. */
static struct top_figure freshest(const struct top_step *steps, size_t count, size_t first,
                                  enum apapi_domain domain)
{
    struct top_figure best = steps[first].domains[domain];

    for (size_t i = first + 1; i < count; i++) {
        const struct top_figure *figure = &steps[i].domains[domain];

        if (is_running(&steps[i], domain) &&
            (isnan(best.now) || (!isnan(figure->now) && figure->age_s < best.age_s)) &&
            (domain != APAPI_DOMAIN_GPU || relate(&steps[i], &steps[first]) == SAME)) {
            best = *figure;
        }
    }
    best.total = best.uncertainty_j = NAN; /* each step has counted over its own time */
    return best;
}

/*
 * Each step reads all packages, memory and the whole node. Steps may have GPUs of their own, which
 * add up. If steps share only some of their GPUs, the node's power is not known.
 */
static void sum_domain(struct top_node *node, const struct top_step *steps, size_t count,
                       enum apapi_domain domain)
{
    struct top_figure *sum = &node->domains[domain];

    for (size_t i = 0; i < count; i++) {
        enum relation relation = SEPARATE;
        struct top_figure figure;

        for (size_t j = 0; is_running(&steps[i], domain) && j < i && relation == SEPARATE; j++) {
            if (is_running(&steps[j], domain)) {
                relation = domain == APAPI_DOMAIN_GPU ? relate(&steps[i], &steps[j]) : SAME;
            }
        }
        if (!is_running(&steps[i], domain) || relation == SAME) {
            continue;
        }
        figure = freshest(steps, count, i, domain);
        if (relation == MIXED) {
            sum->now = NAN;
        } else {
            *sum = sum->measured ? top_sum(sum, &figure) : figure;
        }
    }
}

/* Sum up the nodes of the steps, which are sorted by node. @return 0; -1 with errno ENOMEM. */
static int top_sum_nodes(struct top_view *view)
{
    view->nodes = calloc(view->count + 1, sizeof *view->nodes);
    if (!view->nodes) {
        return -1;
    }
    for (size_t i = 0; i < view->count;) {
        struct top_node *node = &view->nodes[view->node_count++];
        const struct top_step *steps = &view->steps[i];

        snprintf(node->name, sizeof node->name, "%s", steps->id.node);
        for (; i < view->count && strcmp(view->steps[i].id.node, steps->id.node) == 0; i++) {
            node->steps++;
        }
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            node->domains[d] = new;
            if (d != TOP_TOTAL) {
                sum_domain(node, steps, node->steps, (enum apapi_domain)d);
            }
        }
        top_add_up(node->domains);
    }
    return 0;
}

/* --- order ---------------------------------------------------------------------------------- */

static double sort_value(const struct top_step *step, enum top_sort sort)
{
    return sort == TOP_BY_TIME    ? step->elapsed_s
           : sort == TOP_BY_POWER ? step->domains[TOP_TOTAL].now
                                  : step->domains[TOP_TOTAL].total;
}

/* Sort by job as pages are sorted: by node, job and step, with numbers by value. */
static int compare_steps(const void *left, const void *right, void *sort)
{
    const struct top_step *a = left, *b = right;
    enum top_sort by = *(const enum top_sort *)sort;
    int result = 0;

    if (by != TOP_BY_JOB) {
        double one = sort_value(a, by), other = sort_value(b, by);

        result = isnan(one) || isnan(other) ? isnan(one) - isnan(other) : COMPARE(other, one);
    }
    result = result ? result : strverscmp(a->id.node, b->id.node);
    result = result ? result : COMPARE(a->id.job, b->id.job);
    return result ? result : strverscmp(a->id.step, b->id.step);
}

static void top_sort(struct top_view *view, enum top_sort sort)
{
    if (view->count > 1) {
        qsort_r(view->steps, view->count, sizeof *view->steps, compare_steps, &sort);
    }
}

int top_work_out(struct top_view *view, enum top_sort sort)
{
    top_sort(view, TOP_BY_JOB);
    if (top_sum_nodes(view)) {
        return -1;
    }
    top_sort(view, sort);
    return 0;
}
