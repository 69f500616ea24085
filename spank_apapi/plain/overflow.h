/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_OVERFLOW_H
#define SPANK_APAPI_OVERFLOW_H
#include <stdbool.h>

#include "apapi/error.h"

/*
 * What --apapi-overflow was given, one text a line. Slurm passes on only the last value of an
 * option that is repeated; so all of them travel in the option's own variable.
 */

#define OVERFLOW_LINES_SIZE 32768

struct overflow {
    bool asked; /* on this command line */
    char lines[OVERFLOW_LINES_SIZE];
};

/**
 * Add a text of this command line. The first one replaces what a job, or a variable, has said.
 * @return 0; -1 with errno E2BIG, EINVAL: a text of several lines.
 */
int overflow_add(struct overflow *overflow, const char *text, struct apapi_error *err);

/**
 * Check for limits of a step or a job, as apapi-sampler reads them: "step total >= 5kJ".
 * @param lines  checked already; NULL: none
 * @param scope  "step" or "job"
 */
bool overflow_has_scope(const char *lines, const char *scope);

/**
 * Take what the job was given.
 * @param last      the last of its texts
 * @param variable  the variable's value, all of its texts; NULL: it is not set. It belongs to
 *                  something else if its last line is another
 * @return 0; -1 with errno E2BIG.
 */
int overflow_inherit(struct overflow *overflow, const char *last, const char *variable,
                     struct apapi_error *err);

#endif
