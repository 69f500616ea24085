/* SPDX-License-Identifier: BSD-3-Clause */
#include "budget/budget_watch.h"

#include <stdlib.h>

#include "base/duration.h"

void budget_watch_add(struct budget_watch *watch, const struct budget *budget)
{
    if (watch->count < BUDGET_WATCHED) {
        watch->budgets[watch->count++] = *budget;
    }
}

static double crossing_level_j(const struct budget_crossing *crossing)
{
    return crossing->budget->amount_j * (crossing->warning ? crossing->budget->warn : 1);
}

/* The sum is taken as rising evenly between two looks. */
static uint64_t budget_watch_reached_ns(const struct budget_watch *watch, double level_j,
                                        double sum_j, uint64_t now_ns)
{
    double more_j = sum_j - watch->sum_j;

    if (watch->looked_ns == 0 || more_j <= 0 || level_j <= watch->sum_j) {
        return now_ns;
    }
    return watch->looked_ns +
           (uint64_t)(duration(now_ns - watch->looked_ns) * ((level_j - watch->sum_j) / more_j));
}

static int compare_levels(const void *left, const void *right)
{
    double left_j = crossing_level_j(left), right_j = crossing_level_j(right);

    return (left_j > right_j) - (left_j < right_j);
}

static bool budget_watch_cross(struct budget_watch *watch, size_t index, double sum_j,
                               struct budget_crossing *crossing)
{
    const struct budget *budget = &watch->budgets[index];
    bool reached = !watch->reached[index] && sum_j >= budget->amount_j;
    bool warned =
        !watch->warned[index] && !watch->reached[index] && sum_j >= budget->amount_j * budget->warn;

    watch->reached[index] |= reached;
    watch->warned[index] |= warned;
    *crossing = (struct budget_crossing){.budget = budget, .warning = !reached, .sum_j = sum_j};
    return reached || warned;
}

size_t budget_watch_look(struct budget_watch *watch, double sum_j, uint64_t now_ns,
                         struct budget_crossing crossings[BUDGET_WATCHED])
{
    size_t count = 0;

    for (size_t i = 0; i < watch->count; i++) {
        struct budget_crossing *crossing = &crossings[count];

        if (budget_watch_cross(watch, i, sum_j, crossing)) {
            crossing->seen_ns = now_ns;
            crossing->reached_ns =
                budget_watch_reached_ns(watch, crossing_level_j(crossing), sum_j, now_ns);
            count++;
        }
    }
    qsort(crossings, count, sizeof *crossings, compare_levels);
    watch->sum_j = sum_j;
    watch->looked_ns = now_ns;
    return count;
}
