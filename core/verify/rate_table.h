/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_RATE_TABLE_H
#define VERIFY_RATE_TABLE_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"
#include "verify/tally.h"

#define RATE_TABLE_MAX 64

/** What an ensemble is known to reach. */
struct rate {
    char name[32];
    double covered_pct;   /* at least */
    double median;        /* uncertainty / error, at most */
    double unflagged_pct; /* at most */
    double rough_pct;     /* at most */
};

/** A table of them: a line "NAME COVERED MEDIAN UNFLAGGED ROUGH" for each; # begins a comment. */
struct rate_table {
    const char *path;
    struct rate rows[RATE_TABLE_MAX];
    size_t count;
};

/** What every ensemble should reach, and where a better figure need not be listed. */
struct rate rate_table_goal(bool gauge);

/** @param path  stays valid. @return 0; -1 with errno; `err` names the line. */
int rate_table_read(struct rate_table *rates, const char *path, struct apapi_error *err);

/**
 * Compare figures with their row, as far as the number of runs allows. What is worse than it is
 * listed, or better where the goal is not listed, is printed to standard error.
 * @return whether it is as listed
 */
bool rate_table_compare(const struct rate_table *rates, const struct figures *figures,
                        const struct rate *goal);

#endif
