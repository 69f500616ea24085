/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_POWER_H
#define HISTORY_POWER_H
#include <stddef.h>
#include <stdint.h>

#include "history/random.h"

#define POWER_PARTS 12

/** The true power of one part of a node: constant for a while, then another, again and again. */
struct power {
    size_t count;
    uint64_t part_ns[POWER_PARTS];
    double part_w[POWER_PARTS];
    uint64_t period_ns;
    double period_j;
    double min_w, max_w;
};

/** @param most_w  never more than this */
void power_generate(struct power *power, struct random *random, double most_w);

/** @return energy from the beginning of the history until `ns` later [J]. */
double power_energy_j(const struct power *power, uint64_t ns);

/** @return [W] */
double power_at_w(const struct power *power, uint64_t ns);

static inline int power_varies(const struct power *power)
{
    return power->max_w > power->min_w;
}

#endif
