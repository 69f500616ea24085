/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_VERIFY_RUN_H
#define VERIFY_VERIFY_RUN_H
#include "apapi/error.h"
#include "verify/ensembles.h"

/** A result's own figures. */
enum run_flag {
    RUN_UNKNOWN = 1, /* a domain has no energy, or no uncertainty */
    RUN_REFUSED = 2,
    RUN_RESET = 4,
    RUN_GAP = 8,
    RUN_STALL = 16,
    RUN_FAILED = 32,
    RUN_UNCOVERED = 64, /* less than 99 % of the time are covered */
    RUN_ROUGH = 128,    /* the readings leave a greater error possible than the uncertainty says */
};

/** One run: what was measured, and what was true. */
struct run_result {
    double energy_j, uncertainty_j; /* of all meters together */
    double truth_j;                 /* in the time that was measured, from `start_ns` on */
    double elapsed_s, covered;      /* as the result says; covered: 0..1 */
    unsigned flags;
};

/**
 * Play the scene: a whole session in simulated time.
 * @param seed  of what is not in the scene: how long a few instructions take
 * @return 0; -1 with errno: it could not be played
 */
int verify_run(const struct scene *scene, uint64_t seed, struct run_result *result,
               struct apapi_error *err);

/** The same in real time, with a meter that is evaluated when it is read. */
int verify_run_real(const struct scene *scene, struct run_result *result, struct apapi_error *err);

#endif
