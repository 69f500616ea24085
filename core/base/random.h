/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H
#include <stdint.h>

/** Numbers that depend on the seed alone (splitmix64). */
struct random {
    uint64_t state;
};

static inline uint64_t random_bits(struct random *random)
{
    uint64_t bits = random->state += UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/** @return 0 to count - 1. */
static inline uint64_t random_below(struct random *random, uint64_t count)
{
    return random_bits(random) % count;
}

/** @return a number from 0 to below 1, uniformly distributed. */
static inline double random_share(struct random *random)
{
    return (double)(random_bits(random) >> 11) * 0x1p-53;
}

static inline double random_between(struct random *random, double least, double most)
{
    return least + (most - least) * random_share(random);
}

#endif
