/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_FIT_FIXTURE_H
#define UNIT_FIT_FIXTURE_H

#include "base/random.h"
#include "measure/fit.h"
#include "unit/unit.h"

#define RUNS 100
#define COVERED_LEAST 93 /* of 100, where 95 are meant */

static inline struct fit *new_fit(void)
{
    struct fit *fit = malloc(sizeof(*fit));

    assert_non_null(fit);
    fit_clear(fit);
    return fit;
}

static inline double sum_of(const struct fit_part parts[FIT_COLUMNS])
{
    double sum_j = 0;

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        sum_j += isnan(parts[i].energy_j) ? 0 : parts[i].energy_j;
    }
    return sum_j;
}

#endif
