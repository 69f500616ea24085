/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that run on a node at the same time show the same meters: here each counts once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/steps/view.h"

/* Relation between the meters of two steps, by the names of their events. */
enum relation { SAME, SEPARATE, MIXED };

static bool nodes_is_meter(const struct top_event *event, enum apapi_domain domain)
{
    return event->domain == domain &&
           (event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER);
}

static size_t count_meters(const struct top_step *step, enum apapi_domain domain)
{
    size_t count = 0;

    for (size_t i = 0; i < step->event_count; i++) {
        count += nodes_is_meter(&step->events[i], domain);
    }
    return count;
}

static size_t count_shared(const struct top_step *a, const struct top_step *b,
                           enum apapi_domain domain)
{
    size_t count = 0;

    for (size_t i = 0; i < a->event_count; i++) {
        for (size_t j = 0; nodes_is_meter(&a->events[i], domain) && j < b->event_count; j++) {
            if (b->events[j].domain == domain &&
                strcmp(a->events[i].name, b->events[j].name) == 0) {
                count++;
                break;
            }
        }
    }
    return count;
}

static enum relation relate(const struct top_step *a, const struct top_step *b,
                            enum apapi_domain domain)
{
    size_t shared = count_shared(a, b, domain);

    if (shared == count_meters(a, domain) && shared == count_meters(b, domain)) {
        return SAME;
    }
    return shared == 0 ? SEPARATE : MIXED;
}

static bool is_running(const struct top_step *step, enum apapi_domain domain)
{
    return step->state == APAPI_LIVE_RUNNING && step->domains[domain].measured;
}

static bool is_fresher(const struct top_figure *a, const struct top_figure *b)
{
    return isnan(b->now) || (!isnan(a->now) && a->age_s < b->age_s);
}

/* The newest figure of the steps that read the same meters as the first one. */
static struct top_figure freshest(const struct top_step *steps, size_t count, size_t first,
                                  enum apapi_domain domain)
{
    struct top_figure best = steps[first].domains[domain];

    for (size_t i = first + 1; i < count; i++) {
        const struct top_figure *figure = &steps[i].domains[domain];

        if (is_running(&steps[i], domain) && is_fresher(figure, &best) &&
            (domain != APAPI_DOMAIN_GPU || relate(&steps[i], &steps[first], domain) == SAME)) {
            best = *figure;
        }
    }
    best.total = NAN; /* covers each step's own time */
    return best;
}

/*
 * For packages, memory and the whole node, each step reads everything. Steps may have GPUs of their
 * own, which add up. If they share some GPUs only, the node's power is not known.
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
                relation = domain == APAPI_DOMAIN_GPU ? relate(&steps[i], &steps[j], domain) : SAME;
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

static void sum_node(struct top_node *node, const struct top_step *steps, size_t count)
{
    *node = (struct top_node){.steps = count};
    snprintf(node->name, sizeof node->name, "%s", steps->id.node);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        node->domains[d] = (struct top_figure){.now = NAN, .total = NAN, .age_s = NAN};
        if (d != TOP_TOTAL) {
            sum_domain(node, steps, count, (enum apapi_domain)d);
        }
    }
    top_add_up(node->domains);
}

int top_sum_nodes(struct top_view *view)
{
    view->nodes = calloc(view->count + 1, sizeof *view->nodes);
    if (!view->nodes) {
        return -1;
    }
    for (size_t i = 0, next; i < view->count; i = next) {
        next = i + 1;
        while (next < view->count &&
               strcmp(view->steps[next].id.node, view->steps[i].id.node) == 0) {
            next++;
        }
        sum_node(&view->nodes[view->node_count++], &view->steps[i], next - i);
    }
    return 0;
}
