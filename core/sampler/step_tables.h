/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_STEP_TABLES_H
#define SAMPLER_STEP_TABLES_H
#include <stdint.h>

#include "apapi/record.h"
#include "gather/parts.h"
#include "sampler/step.h"

/** What the report of a batch step is made of. Borrowed. */
struct step_tables {
    const struct step *step;
    struct parts *parts;    /* of the job; without `job`: no table of the whole job */
    uint64_t wait_until_ns; /* for steps that still run, CLOCK_MONOTONIC [ns] */
};

/**
 * The report in the step's format: its table, and the job's, or another form.
 * @param line  the record as JSON
 * @return free it with free(); NULL: no memory.
 */
char *step_tables_text(const struct step_tables *tables, const struct apapi_record *record,
                       const char *line);

#endif
