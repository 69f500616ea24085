/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit_within.h"

#include <math.h>
#include <string.h>

#define BLOCKS_LEAST 8 /* to say anything */
#define NORMAL 1.959964

void fit_groups_fill(const struct fit_groups *groups, const struct fit_block *block,
                     struct fit_system *system)
{
    memset(system, 0, sizeof(*system));
    system->size = groups->count;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        if (groups->of[i] == FIT_COLUMNS) {
            continue;
        }
        system->xy[groups->of[i]] += block->xy[i];
        for (size_t j = 0; j < FIT_COLUMNS; j++) {
            if (groups->of[j] < FIT_COLUMNS) {
                system->xx[groups->of[i]][groups->of[j]] += block->xx[fit_pair(i, j)];
            }
        }
    }
}

/* Cornish and Fisher's series. */
double fit_student(double freedom)
{
    const double z = NORMAL, z2 = z * z;
    const double first = z * (z2 + 1) / 4;
    const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;

    return freedom >= 1 ? z + (first + (second + third / freedom) / freedom) / freedom : 12.7;
}

static double fit_within_variance(const struct fit_within *within, const struct fit_block *total,
                                  const struct fit_system *system, double noise_j)
{
    double squares = total->yy, freedom = (double)total->rows - (double)system->size;

    for (size_t i = 0; i < system->size; i++) {
        squares -= within->p[i] * system->xy[i];
    }
    return fmax(freedom > 0 ? squares / freedom : 0, noise_j * noise_j);
}

/* What the rows of a block leave of the equations: 0 on average. */
static void fit_within_scores(struct fit_within *within, const struct fit_block *block,
                              const struct fit_groups *groups, const struct fit_system *system,
                              double scores[FIT_COLUMNS])
{
    fit_groups_fill(groups, block, &within->of_block);
    for (size_t i = 0; i < system->size; i++) {
        double left = within->of_block.xy[i];

        for (size_t j = 0; j < system->size; j++) {
            left -= within->of_block.xx[i][j] * system->scale[j] * within->p[j];
        }
        scores[i] = left * system->scale[i];
    }
}

/* Add the squares of what each block alone moves the unknowns by. */
static void fit_within_add_block(struct fit_within *within, const struct fit_block *block,
                                 const struct fit_groups *groups, const struct fit_system *system,
                                 double variances[FIT_COLUMNS])
{
    double scores[FIT_COLUMNS];

    fit_within_scores(within, block, groups, system, scores);
    for (size_t i = 0; i < system->size; i++) {
        double moved = 0;

        for (size_t j = 0; j < system->size; j++) {
            moved += within->inverse[i][j] * scores[j];
        }
        variances[i] += moved * moved;
    }
}

size_t fit_within_make(struct fit_within *within, const struct fit_sums *sums,
                       const struct fit_block *total, const struct fit_groups *groups,
                       const struct fit_system *system)
{
    size_t result = fit_system_invert(system, within->inverse);
    double freedom = (double)total->rows - (double)system->size, variance;
    double blocks[FIT_COLUMNS] = {0}, count = (double)sums->used, correct;

    if (result < system->size) {
        return result;
    }
    for (size_t i = 0; i < system->size; i++) {
        within->p[i] = 0;
        for (size_t j = 0; j < system->size; j++) {
            within->p[i] += within->inverse[i][j] * system->xy[j];
        }
    }
    variance = fit_within_variance(within, total, system, within->noise_j);
    for (size_t b = 0; b < sums->used && sums->used >= BLOCKS_LEAST; b++) {
        fit_within_add_block(within, &sums->blocks[b], groups, system, blocks);
    }
    correct =
        count > 1 && freedom > 0 ? count / (count - 1) * ((double)total->rows - 1) / freedom : 0;
    for (size_t i = 0; i < system->size; i++) {
        double rows_w = fit_student(freedom) * sqrt(variance * within->inverse[i][i]);
        double blocks_w = fit_student(count - 1) * sqrt(blocks[i] * correct);

        within->half_w[i] = fmax(rows_w, blocks_w) * system->scale[i];
    }
    return result;
}
