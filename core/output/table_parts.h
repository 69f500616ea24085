/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_OUTPUT_TABLE_PARTS_H
#define APAPI_OUTPUT_TABLE_PARTS_H
#include <stdio.h>

#include "sum/merge_parts.h"

/** The input of all parts of the report. */
struct table {
    FILE *out;
    const struct apapi_table_head *head;
    const struct apapi_merge *merge;
    const struct merge_node *const *nodes; /* the first `recorded` ones have a record */
    size_t recorded;
    size_t expected; /* nodes of the step, with or without a record */
};

/** Domains, their total, what is partial about them, nodes, coverage. Nothing if none is known. */
void table_put_domains(const struct table *table);

/** What the step is given of the nodes' energy, if that was asked for. */
void table_put_share(const struct table *table);

/** Events that are not part of a domain: one line each. */
void table_put_events(const struct table *table);

/** What was not measured and why, and what went wrong. 0; -1 with ENOMEM. */
int table_put_notes(const struct table *table);

/** How reliable the numbers of a single node are. */
void table_put_trust(const struct table *table);

#endif
