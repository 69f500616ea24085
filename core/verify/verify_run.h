/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_VERIFY_RUN_H
#define VERIFY_VERIFY_RUN_H
#include "verify/scene.h"

/** What a result says of itself. */
enum run_flag {
    RUN_UNKNOWN = 1, /* no energy, or no uncertainty */
    RUN_REFUSED = 2,
    RUN_RESET = 4,
    RUN_GAP = 8,
    RUN_STALL = 16,
    RUN_FAILED = 32,
    RUN_UNCOVERED = 64, /* less than 99 % of the time are covered */
};

/** One run: what was measured, and what was true. */
struct run_result {
    double energy_j, truth_j, uncertainty_j;
    double elapsed_s, covered; /* as the result says; 0..1 */
    unsigned flags;
};

/**
 * Play the scene: a whole session in simulated time.
 * @param seed  of what is not in the scene: how long a few instructions take
 * @return 0; -1: it could not be played, and why is on standard error
 */
int verify_run(const struct scene *scene, uint64_t seed, struct run_result *result);

#endif
