/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_TALLY_H
#define VERIFY_TALLY_H
#include <stddef.h>

#include "verify/verify_run.h"

/** Runs added up. All of zero at first. */
struct tally {
    size_t runs;
    size_t known;     /* have an energy and an uncertainty */
    size_t covered;   /* of these: the uncertainty covers the error */
    size_t unflagged; /* of these: wrong by more than uncertainty and 1 %, and no flag says so */
    double worst;     /* greatest error / uncertainty */
    double *ratios;   /* uncertainty / error, of those that are known */
    size_t room;
};

/** @return 0; -1 with errno ENOMEM. */
int tally_add(struct tally *tally, const struct run_result *result);

/** Add all of another one. @return 0; -1 with errno ENOMEM. */
int tally_join(struct tally *tally, const struct tally *other);

/** @return median of uncertainty / error; NaN: of none. */
double tally_median(struct tally *tally);

struct tally_bounds {
    double least, most;
};

/** @return between which rates the true one lies with 95 % (Wilson); 0..1. */
struct tally_bounds tally_bounds(size_t covered, size_t known);

void tally_clear(struct tally *tally);

#endif
