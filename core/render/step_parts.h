/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_STEP_PARTS_H
#define APAPI_RENDER_STEP_PARTS_H
#include <stdio.h>

#include "sum/merge.h"

/** The input of all parts of a step's table. */
struct step_table {
    FILE *out;
    const struct apapi_table_head *head;
    const struct apapi_merge *merge;
    struct merge_result sum;
};

/** Components that were not measured, with reasons, and problems. 0; -1 with ENOMEM. */
int table_put_notes(const struct step_table *table);

/** How reliable the numbers of a single node are. */
void table_put_trust(const struct step_table *table);

#endif
