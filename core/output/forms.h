/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_OUTPUT_FORMS_H
#define APAPI_OUTPUT_FORMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apapi/record.h"
#include "config/config.h"

/*
 * The reports for programs: a JSON array of the nodes' records, their numbers as CSV, or the merged
 * record, which says everything of the step and little of each node.
 */

/** The records of a step, as lines of JSON in the order in which they came. */
struct forms {
    char **lines;
    size_t count, room;
    int error; /* ENOMEM: some are missing */
};

/** Keep a record's line; `context` is a struct forms: for struct receiver. */
void forms_keep(void *context, const char *line, size_t size);

/** @return whether the form is made of the nodes' records, which are to be kept for it. */
bool forms_keeps(enum config_format format);

/**
 * Write the report; nodes without a record stand behind the others, with the reason.
 * @param format  CONFIG_JSON, CONFIG_CSV or CONFIG_MERGED
 * @param step    "17.0"
 * @param merge   of all records, knows the nodes without one; NULL: there are none
 * @return 0; -1 with errno ENOMEM.
 */
int forms_write(const struct forms *forms, enum config_format format, const char *step,
                const struct apapi_merge *merge, FILE *out);

/** Free what it owns. */
void forms_clear(struct forms *forms);

#endif
