/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_COLLECT_PASS_TOTALS_H
#define APAPI_COLLECT_PASS_TOTALS_H
#include "budget/budget_sum.h"
#include "gather/forward.h"

/** Tell the process that watches the job's budget what the nodes of the step have drawn so far. */
void pass_totals(const struct budget_sum *sum, const struct forward *forward);

#endif
