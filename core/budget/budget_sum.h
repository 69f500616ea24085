/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BUDGET_BUDGET_SUM_H
#define BUDGET_BUDGET_SUM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The energy of a step's nodes, added up while they run. No I/O and no clock: the caller says what
 * time it is, on one clock of its own.
 */

/**
 * @return the time between two totals of a node [ns]: the interval, longer in steps of many nodes,
 *         so that at most 500 come in a second
 */
uint64_t budget_period_ns(uint64_t interval_ns, size_t nodes);

/** What a node says of itself. */
struct budget_report {
    uint64_t run;        /* another number: the node's measurement has begun again */
    uint64_t elapsed_ns; /* from the beginning of that run to its latest reading [ns] */
    double total_j;      /* energy of that time [J]; NaN: not known */
};

/** A node of the step. */
struct budget_node {
    char *name;
    struct budget_report latest;
    double before_j;   /* energy of earlier runs [J] */
    double power_w;    /* between the latest two readings [W]; NaN: not known */
    uint64_t heard_ns; /* when the latest report came */
    bool ended;        /* its part of the step is over */
    bool silent;       /* it has sent nothing for `silent_ns` */
};

/** All zero at the start but for silent_ns. */
struct budget_sum {
    uint64_t silent_ns; /* time after which a node counts as silent [ns] */
    struct budget_node *nodes;
    size_t count, room;
};

/**
 * Add a node's report. Reports may come late, twice and in any order: the newest counts.
 * @return 0; -1 with errno ENOMEM.
 */
int budget_sum_report(struct budget_sum *sum, const char *node, const struct budget_report *report,
                      uint64_t now_ns);

/**
 * The step has ended on a node, which is silent from now on.
 * @param total_j  its energy; NaN: not known, what it has reported counts
 */
int budget_sum_end(struct budget_sum *sum, const char *node, double total_j);

/**
 * Find a node that is newly silent, or that was silent and is heard again.
 * @return the node, whose `silent` has just changed; NULL: none
 */
const struct budget_node *budget_sum_look(struct budget_sum *sum, uint64_t now_ns);

/**
 * @return the energy of all nodes [J]. A silent node counts as drawing its latest power since its
 *         latest report. Nodes whose energy is not known are left out.
 */
double budget_sum_total_j(const struct budget_sum *sum, uint64_t now_ns);

/** @return the energy of one node [J]; 0: not known. */
double budget_node_total_j(const struct budget_node *node, uint64_t now_ns);

/** @return the nodes whose energy is known. */
size_t budget_sum_known(const struct budget_sum *sum);

/** @return the nodes on which the step has ended. */
size_t budget_sum_ended(const struct budget_sum *sum);

void budget_sum_clear(struct budget_sum *sum);

#endif
