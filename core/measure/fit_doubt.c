/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit_doubt.h"

#include <math.h>
#include <string.h>

#define PART 0.1 /* of the energy that moves, for a column that has to do with it */

/* Columns whose energy has to do with it. */
static size_t fit_doubt_columns(const struct fit_doubt *doubt, const double time_s[FIT_COLUMNS],
                                size_t columns[FIT_COLUMNS])
{
    size_t count = 0;
    double most_j = 0;

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        most_j = fmax(most_j, i == doubt->column ? 0 : fabs(doubt->w[i]) * time_s[i]);
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        if (i == doubt->column || fabs(doubt->w[i]) * time_s[i] > PART * most_j) {
            columns[count++] = i;
        }
    }
    return count;
}

/* The growth that is possible for the first one. */
struct fit_range {
    double least_w, greatest_w;
};

/* If no power is below 0. */
static struct fit_range fit_doubt_possible(const struct fit_doubt *doubt,
                                           const double p_w[FIT_COLUMNS],
                                           const double time_s[FIT_COLUMNS])
{
    struct fit_range range = {-INFINITY, INFINITY};
    size_t columns[FIT_COLUMNS], count = fit_doubt_columns(doubt, time_s, columns);

    for (size_t k = 0; k < count; k++) {
        size_t i = columns[k];

        if (doubt->w[i] > 0) {
            range.least_w = fmax(range.least_w, -p_w[i] / doubt->w[i]);
        } else if (doubt->w[i] < 0) {
            range.greatest_w = fmin(range.greatest_w, p_w[i] / -doubt->w[i]);
        }
    }
    return range;
}

/* And by the rows, unless they say that it is below 0. */
static struct fit_range fit_doubt_range(const struct fit_doubt *doubt,
                                        const double p_w[FIT_COLUMNS],
                                        const double time_s[FIT_COLUMNS])
{
    const struct fit_range possible = fit_doubt_possible(doubt, p_w, time_s);
    struct fit_range range = {
        fmax(possible.least_w, doubt->least_w - p_w[doubt->column]),
        fmin(possible.greatest_w, doubt->greatest_w - p_w[doubt->column]),
    };

    return range.least_w <= range.greatest_w ? range : possible;
}

bool fit_doubt_pair(const struct fit_doubt *doubt, const double p_w[FIT_COLUMNS],
                    const double time_s[FIT_COLUMNS], size_t pair[2])
{
    const struct fit_range range = fit_doubt_range(doubt, p_w, time_s);
    double middle_w = (range.least_w + range.greatest_w) / 2, nearest = INFINITY;
    size_t columns[FIT_COLUMNS], count = fit_doubt_columns(doubt, time_s, columns);

    for (size_t k = 0; k < count * count; k++) {
        size_t i = columns[k / count], j = columns[k % count];
        double step_w = (p_w[j] - p_w[i]) / (doubt->w[i] - doubt->w[j]);

        if (i < j && isfinite(step_w) && step_w >= range.least_w && step_w <= range.greatest_w &&
            fabs(step_w - middle_w) < nearest) {
            nearest = fabs(step_w - middle_w);
            pair[0] = i;
            pair[1] = j;
        }
    }
    return isfinite(nearest);
}

/* @return how far it goes in that direction, or back; 0: there is no end, so it is no doubt. */
static double fit_doubt_reach(const struct fit_doubt *doubt, const double p_w[FIT_COLUMNS],
                              const double time_s[FIT_COLUMNS])
{
    const struct fit_range range = fit_doubt_range(doubt, p_w, time_s);

    return isfinite(range.least_w) && isfinite(range.greatest_w)
               ? fmax(fmax(-range.least_w, range.greatest_w), 0)
               : 0;
}

void fit_doubts_within(const struct fit_doubts *doubts, const double p_w[FIT_COLUMNS],
                       const double time_s[FIT_COLUMNS], double within_w[FIT_COLUMNS])
{
    memset(within_w, 0, sizeof(double) * FIT_COLUMNS);
    for (size_t k = 0; k < doubts->count; k++) {
        double reach = fit_doubt_reach(&doubts->list[k], p_w, time_s);

        for (size_t i = 0; i < FIT_COLUMNS; i++) {
            within_w[i] += reach * fabs(doubts->list[k].w[i]);
        }
    }
}
