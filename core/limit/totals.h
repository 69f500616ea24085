/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_TOTALS_H
#define LIMIT_TOTALS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limit/limit.h"

/*
 * The energy of a step's nodes and of a job's steps, added up while they run, from the reports of
 * the nodes. No I/O and no clock: the caller gives the time, always from the same clock.
 */

/** The report of a node. */
struct limit_report {
    uint64_t run;        /* another number: the node's measurement has begun again */
    uint64_t elapsed_ns; /* from the beginning of that run to its latest reading [ns] */
    double total_j;      /* energy of that time [J]; NaN: not known */
    bool last;           /* of a job's step: it has ended there; may be said again */
    uint32_t job;        /* of the node; 0: not told */
    uint64_t age_ns;     /* since the node has reported this [ns]; not in the message */
};

#define LIMIT_REPORT_SIZE 96
#define LIMIT_SILENT_PERIODS 3 /* without a report, until a node counts as silent */

/** Write a report as in messages, "RUN ELAPSED_NS JOULES[ JOB][ ended]"; JOULES "-": not known. */
void limit_report_write(const struct limit_report *report, char text[LIMIT_REPORT_SIZE]);

/** Read a report. @return 0; -1: it is malformed. */
int limit_report_read(const char *text, struct limit_report *report);

/**
 * @return the time between two totals of a node [ns]: the interval, longer in steps of many nodes,
 *         so that at most 500 come in a second
 */
uint64_t limit_period_ns(uint64_t interval_ns, size_t nodes);

/**
 * The nodes of a step or of a job, or the steps on one node. At the start all members are zero,
 * except the first two.
 */
struct limit_sum {
    uint64_t silent_ns; /* time after which a node counts as silent [ns] */
    size_t most;        /* greatest number of nodes: further ones are refused; 0: any */
    struct limit_node *nodes;
    size_t count, room;
    size_t ended;      /* nodes on which a step has ended */
    uint64_t begun_ns; /* when the first reported run began; 0: none was reported */
};

/**
 * A node of a step or a job, or a step on a node. The steps of a job may run at the same time, and
 * each measures the whole node. So one step, the leader, counts. When it ends, or is silent while
 * another step is heard, that step goes on from there: no moment of a node counts twice.
 */
struct limit_node {
    char *name;
    bool silent; /* it has sent nothing for `silent_ns` */
    /* set for a step: */
    struct limit_report latest;
    double power_w;    /* between the latest two readings [W]; NaN: not known */
    uint64_t begun_ns; /* when its run began */
    uint64_t heard_ns; /* when the latest report came; 0: none has */
    bool ended;
    /* set for a node: */
    struct limit_sum steps;
    double done_j;    /* energy that the leaders have reported [J] */
    uint64_t done_ns; /* time up to which `done_j` counts; 0: no energy is known */
};

/**
 * Add the report of a step on a node. Reports may come late, twice and in any order: the newest
 * counts.
 * @param report  run 0: from the step's record, of which only the total counts
 * @return 0; -1 with errno ENOMEM, ENOSPC: one node too many.
 */
int limit_sum_report(struct limit_sum *sum, const char *node, const char *step,
                     const struct limit_report *report, uint64_t now_ns);

/** Note that a step has ended on all nodes, and sends no more reports. */
void limit_sum_end_step(struct limit_sum *sum, const char *step, uint64_t now_ns);

/**
 * Find a node that is newly silent, or that was silent and is heard again.
 * @return the node, whose `silent` has just changed; NULL: none
 */
const struct limit_node *limit_sum_look(struct limit_sum *sum, uint64_t now_ns);

/**
 * @return the energy of all nodes [J], since the first run. A silent node counts as drawing its
 * latest power since its latest report. Nodes whose energy is not known are left out.
 */
struct limit_value limit_sum_value(struct limit_sum *sum, uint64_t now_ns);

/** @return the number of nodes whose energy is known. */
size_t limit_sum_known(const struct limit_sum *sum);

void limit_sum_clear(struct limit_sum *sum);

/**
 * Find the limits of one scope that the sum has crossed. The sum is taken to rise evenly between
 * two looks, but not before the first run. Each total is crossed once, however the sum moves. The
 * warning of a budget is left out if the budget is reached, too.
 * @param sum      by limit_sum_value()
 * @param crossed  result: the crossed limits, lowest amount first; `state` tells when, `count` how
 *                 often
 * @return their number
 */
size_t limit_list_look(struct limit_list *list, enum limit_scope scope, struct limit_value sum,
                       struct limit *crossed[LIMITS_ROOM]);

#endif
