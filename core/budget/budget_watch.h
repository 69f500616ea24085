/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BUDGET_BUDGET_WATCH_H
#define BUDGET_BUDGET_WATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget/budget.h"

#define BUDGET_WATCHED 2 /* the user's budget and the site's */

/** A sum has reached a budget or its warning. */
struct budget_crossing {
    const struct budget *budget;
    bool warning;
    double sum_j;        /* when it was seen [J] */
    uint64_t reached_ns; /* when it was reached, between the latest two looks */
    uint64_t seen_ns;
};

/** Budgets of one sum. All zero at the start. */
struct budget_watch {
    struct budget budgets[BUDGET_WATCHED];
    bool warned[BUDGET_WATCHED], reached[BUDGET_WATCHED];
    size_t count;
    double sum_j; /* at the latest look */
    uint64_t looked_ns;
};

/** Watch one more. A budget beyond BUDGET_WATCHED is not watched. */
void budget_watch_add(struct budget_watch *watch, const struct budget *budget);

/**
 * Look at the sum. Each warning and each budget is reported once, however the sum moves, lowest
 * first. A budget that is reached together with its warning is reported without it.
 * @param crossings  result
 * @return their number
 */
size_t budget_watch_look(struct budget_watch *watch, double sum_j, uint64_t now_ns,
                         struct budget_crossing crossings[BUDGET_WATCHED]);

#endif
