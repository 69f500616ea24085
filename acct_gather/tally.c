/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#define HALF 0.5 /* to the nearest joule */

uint64_t tally_add(struct tally *tally, double energy_j)
{
    uint64_t told_j = tally->told_j;

    if (!tally->begun) {
        *tally = (struct tally){.begun = true, .begin_j = energy_j, .latest_j = energy_j};
        return 0;
    }
    if (energy_j > tally->latest_j) {
        tally->latest_j = energy_j;
    }
    tally->told_j = (uint64_t)(tally->latest_j - tally->begin_j + HALF);
    return tally->told_j - told_j;
}
