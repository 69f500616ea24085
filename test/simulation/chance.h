/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_CHANCE_H
#define SIMULATION_CHANCE_H
#include <math.h>
#include <stdbool.h>

#include "base/random.h"

/** @return true once in `times`. */
static inline bool random_once_in(struct random *random, uint64_t times)
{
    return random_below(random, times) == 0;
}

/** @return a number from least to most; each order of magnitude is equally likely; least > 0. */
static inline uint64_t random_scale(struct random *random, double least, double most)
{
    return (uint64_t)(least * pow(most / least, random_share(random)));
}

#endif
