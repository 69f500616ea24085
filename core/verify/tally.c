/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define WRONG_SHARE 0.01
#define NORMAL_95 1.959964 /* standard deviations of 95 % */

static int tally_reserve(struct tally *tally, size_t count)
{
    double *ratios =
        array_reserve(tally->ratios, tally->known, count, &tally->room, sizeof *ratios);

    tally->ratios = ratios ? ratios : tally->ratios;
    return ratios ? 0 : -1;
}

static double tally_error_j(const struct run_result *result)
{
    return fabs(result->energy_j - result->truth_j);
}

bool tally_is_wrong(const struct run_result *result)
{
    double allowed_j = result->uncertainty_j + WRONG_SHARE * result->truth_j;

    return result->flags == 0 && tally_error_j(result) > allowed_j;
}

int tally_add(struct tally *tally, const struct run_result *result)
{
    double error_j = tally_error_j(result);

    tally->runs++;
    if (result->flags & RUN_UNKNOWN) {
        return 0;
    }
    if (tally_reserve(tally, 1)) {
        return -1;
    }
    tally->ratios[tally->known++] = error_j > 0 ? result->uncertainty_j / error_j : INFINITY;
    tally->covered += error_j <= result->uncertainty_j;
    tally->worst = fmax(tally->worst, error_j > 0 ? error_j / result->uncertainty_j : 0);
    tally->unflagged += tally_is_wrong(result);
    tally->rough += (result->flags & RUN_ROUGH) != 0;
    return 0;
}

int tally_join(struct tally *tally, const struct tally *other)
{
    if (other->known > 0) {
        if (tally_reserve(tally, other->known)) {
            return -1;
        }
        memcpy(tally->ratios + tally->known, other->ratios, other->known * sizeof *other->ratios);
    }
    tally->runs += other->runs;
    tally->known += other->known;
    tally->covered += other->covered;
    tally->unflagged += other->unflagged;
    tally->rough += other->rough;
    tally->worst = fmax(tally->worst, other->worst);
    return 0;
}

static int tally_compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

/* The ratio at a share of them, from 0 to 1; NaN: of none. They are sorted. */
static double tally_quantile(const struct tally *tally, double share)
{
    double rank = fmin(fmax(share, 0), 1) * (double)tally->known;

    if (tally->known == 0) {
        return NAN;
    }
    return tally->ratios[rank < (double)tally->known ? (size_t)rank : tally->known - 1];
}

struct tally_bounds tally_bounds(uint64_t count, uint64_t all)
{
    double n = (double)all, share = (double)count / n, z2 = NORMAL_95 * NORMAL_95;
    double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = NORMAL_95 / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));

    /* exact at the ends, where rounding would say a little more than 0 */
    return (struct tally_bounds){.least = count == 0 ? 0 : middle - half,
                                 .greatest = count == all ? 1 : middle + half};
}

struct figures tally_figures(struct tally *tally, const char *name, const char *what)
{
    const struct tally_bounds bounds = tally_bounds(tally->covered, tally->known);
    double half = NORMAL_95 / 2 / sqrt((double)tally->known); /* of the ranks around the median */
    struct figures figures = {
        .runs = tally->runs,
        .known = tally->known,
        .covered_pct = tally->known ? 100 * (double)tally->covered / (double)tally->known : NAN,
        .least_pct = 100 * bounds.least,
        .greatest_pct = 100 * bounds.greatest,
        .worst = tally->known ? tally->worst : NAN,
        .unflagged = tally->unflagged,
        .rough = tally->rough};

    snprintf(figures.name, sizeof figures.name, "%s", name);
    snprintf(figures.what, sizeof figures.what, "%s", what);
    if (tally->known > 0) {
        qsort(tally->ratios, tally->known, sizeof *tally->ratios, tally_compare);
    }
    figures.median = tally_quantile(tally, 0.5);
    figures.median_least = tally_quantile(tally, 0.5 - half);
    figures.median_greatest = tally_quantile(tally, 0.5 + half);
    return figures;
}

void tally_clear(struct tally *tally)
{
    free(tally->ratios);
    memset(tally, 0, sizeof *tally);
}
