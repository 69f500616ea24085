/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCT_GATHER_TALLY_H
#define ACCT_GATHER_TALLY_H
#include <stdbool.h>
#include <stdint.h>

/*
 * The energy of a step in whole joules, as Slurm counts it. Slurm asks for each task of a step in
 * turn, with a sum of its own for each: every joule is told once. Pure arithmetic.
 */
struct tally {
    bool begun;
    double begin_j;  /* of the node, when the step began [J] */
    double latest_j; /* the greatest that was seen since [J] */
    uint64_t told_j; /* of this step, so far [J] */
};

/**
 * The node's energy at this moment.
 * @return what is new since the last call: whole joules, never taken back. 0 at the first call.
 */
uint64_t tally_add(struct tally *tally, double energy_j);

#endif
