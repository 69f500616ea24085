/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_TALLY_H
#define VERIFY_TALLY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/verify_run.h"

/** Runs added up. All of zero at first. */
struct tally {
    uint64_t runs;
    uint64_t known;     /* have an energy and an uncertainty */
    uint64_t covered;   /* of these: the uncertainty covers the error */
    uint64_t unflagged; /* of these: wrong by more than uncertainty and 1 %, and no flag says so */
    uint64_t rough;     /* of these: the result says that it may be wrong by so much */
    uint64_t seconds;   /* of those that are known: lasted a second or longer */
    uint64_t remarked;  /* of these: a table has the remark on errors above 5 % */
    double worst;       /* greatest error / uncertainty */
    double *ratios;     /* uncertainty / error, of those that are known */
    size_t room;
};

/** Their figures. Numbers that are not known are NaN. */
struct figures {
    char name[48], what[96];
    uint64_t runs, known, covered;
    double covered_pct;                   /* of those that are known */
    double least_pct, greatest_pct;       /* between these lies the true share with 95 % (Wilson) */
    double worst;                         /* error / uncertainty */
    double median;                        /* of uncertainty / error */
    double slack;                         /* uncertainty / 95 % quantile of the error */
    double median_least, median_greatest; /* ... the true median of runs of any seed */
    uint64_t unflagged, rough, seconds, remarked;
};

/** @return whether it is wrong by more than its uncertainty and 1 %, and no flag says so. */
bool tally_is_wrong(const struct run_result *result);

/** @return 0; -1 with errno ENOMEM. */
int tally_add(struct tally *tally, const struct run_result *result);

/** Add all of another one. @return 0; -1 with errno ENOMEM. */
int tally_join(struct tally *tally, const struct tally *other);

/** @param what  in words */
struct figures tally_figures(struct tally *tally, const char *name, const char *what);

#define TALLY_95 1.959964 /* standard deviations of 95 % */
#define TALLY_SPREAD 3.5  /* of hundreds of figures none is farther off by chance */

/** Between which shares the true one of `count` among `all` lies (Wilson); 0..1. */
struct tally_bounds {
    double least, greatest;
};
struct tally_bounds tally_bounds(uint64_t count, uint64_t all, double deviations);

/** @return whether the 95 % interval of the covered share reaches 95 %. */
bool tally_is_right(const struct figures *figures);

/** @return whether at most 10 % of the results of a second or more may have the remark on errors
 * above 5 %. */
bool tally_is_quiet(const struct figures *figures);

void tally_clear(struct tally *tally);

#define RATE_TABLE_MAX 64

/** The figures that an ensemble is known to reach. */
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

/** The goals of every ensemble; a better figure need not be listed. */
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
