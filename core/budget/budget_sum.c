/* SPDX-License-Identifier: BSD-3-Clause */
#include "budget/budget_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/grow.h"

#define PER_SECOND_MAX 500

uint64_t budget_period_ns(uint64_t interval_ns, size_t nodes)
{
    uint64_t least_ns = nodes * (NS_PER_S / PER_SECOND_MAX);

    return interval_ns > least_ns ? interval_ns : least_ns;
}

static struct budget_node *budget_sum_find(struct budget_sum *sum, const char *name)
{
    struct budget_node *node;

    for (size_t i = 0; i < sum->count; i++) {
        if (strcmp(sum->nodes[i].name, name) == 0) {
            return &sum->nodes[i];
        }
    }
    if (array_add(&sum->nodes, sum->count, &sum->room, sizeof *sum->nodes)) {
        return NULL;
    }
    node = &sum->nodes[sum->count];
    *node = (struct budget_node){.name = strdup(name), .power_w = NAN, .latest.total_j = NAN};
    sum->count += node->name != NULL;
    return node->name ? node : NULL;
}

/* What a total may lose is not given back: a meter that vanished has still drawn its energy. */
static void budget_sum_go_on(struct budget_node *node, const struct budget_report *report)
{
    double more_j = report->total_j - node->latest.total_j;

    if (more_j >= 0) {
        node->power_w =
            more_j / (duration(report->elapsed_ns - node->latest.elapsed_ns) / NS_PER_S);
    }
    if (isnan(node->latest.total_j) || more_j >= 0) {
        node->latest.total_j = report->total_j;
    }
    node->latest.elapsed_ns = report->elapsed_ns;
}

static void budget_sum_begin(struct budget_node *node, const struct budget_report *report)
{
    double seconds = duration(report->elapsed_ns) / NS_PER_S;

    node->before_j += isnan(node->latest.total_j) ? 0 : node->latest.total_j;
    node->latest = *report;
    if (seconds > 0 && !isnan(report->total_j)) {
        node->power_w = report->total_j / seconds;
    }
}

int budget_sum_report(struct budget_sum *sum, const char *name, const struct budget_report *report,
                      uint64_t now_ns)
{
    struct budget_node *node = budget_sum_find(sum, name);

    if (!node) {
        return -1;
    }
    if (node->ended || report->run < node->latest.run) {
        return 0;
    }
    if (report->run > node->latest.run) {
        budget_sum_begin(node, report);
    } else if (report->elapsed_ns > node->latest.elapsed_ns) {
        budget_sum_go_on(node, report);
    } else if (report->elapsed_ns < node->latest.elapsed_ns) {
        return 0;
    }
    node->heard_ns = now_ns;
    return 0;
}

int budget_sum_end(struct budget_sum *sum, const char *name, double total_j)
{
    struct budget_node *node = budget_sum_find(sum, name);

    if (!node) {
        return -1;
    }
    if (!isnan(total_j) && (isnan(node->latest.total_j) || total_j > node->latest.total_j)) {
        node->latest.total_j = total_j;
    }
    node->ended = true;
    return 0;
}

const struct budget_node *budget_sum_look(struct budget_sum *sum, uint64_t now_ns)
{
    for (size_t i = 0; i < sum->count; i++) {
        struct budget_node *node = &sum->nodes[i];
        bool silent =
            !node->ended && now_ns > node->heard_ns && now_ns - node->heard_ns > sum->silent_ns;

        if (silent != node->silent) {
            node->silent = silent;
            return node;
        }
    }
    return NULL;
}

double budget_node_total_j(const struct budget_node *node, uint64_t now_ns)
{
    double total_j = node->before_j + (isnan(node->latest.total_j) ? 0 : node->latest.total_j);

    if (node->silent && !isnan(node->power_w)) {
        total_j += node->power_w * duration(now_ns - node->heard_ns) / NS_PER_S;
    }
    return total_j;
}

double budget_sum_total_j(const struct budget_sum *sum, uint64_t now_ns)
{
    double total_j = 0;

    for (size_t i = 0; i < sum->count; i++) {
        total_j += budget_node_total_j(&sum->nodes[i], now_ns);
    }
    return total_j;
}

size_t budget_sum_known(const struct budget_sum *sum)
{
    size_t known = 0;

    for (size_t i = 0; i < sum->count; i++) {
        known += !isnan(sum->nodes[i].latest.total_j) || sum->nodes[i].before_j > 0;
    }
    return known;
}

size_t budget_sum_ended(const struct budget_sum *sum)
{
    size_t ended = 0;

    for (size_t i = 0; i < sum->count; i++) {
        ended += sum->nodes[i].ended;
    }
    return ended;
}

void budget_sum_clear(struct budget_sum *sum)
{
    for (size_t i = 0; i < sum->count; i++) {
        free(sum->nodes[i].name);
    }
    free(sum->nodes);
    *sum = (struct budget_sum){.silent_ns = sum->silent_ns};
}
