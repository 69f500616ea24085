/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit_sums.h"

#include <string.h>

void fit_sums_clear(struct fit_sums *sums)
{
    memset(sums, 0, sizeof(*sums));
    sums->block_rows = 1;
}

static void fit_block_add(struct fit_block *sum, const struct fit_block *block)
{
    sum->rows += block->rows;
    sum->yy += block->yy;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        sum->xy[i] += block->xy[i];
    }
    for (size_t i = 0; i < FIT_PAIRS; i++) {
        sum->xx[i] += block->xx[i];
    }
}

static void fit_sums_halve(struct fit_sums *sums)
{
    for (size_t i = 0; i < FIT_BLOCKS / 2; i++) {
        if (i > 0) {
            sums->blocks[i] = sums->blocks[2 * i];
        }
        fit_block_add(&sums->blocks[i], &sums->blocks[2 * i + 1]);
    }
    memset(&sums->blocks[FIT_BLOCKS / 2], 0, sizeof(sums->blocks) / 2);
    sums->used = FIT_BLOCKS / 2;
    sums->block_rows *= 2;
}

static struct fit_block *fit_sums_open(struct fit_sums *sums)
{
    if (sums->used > 0 && sums->blocks[sums->used - 1].rows < sums->block_rows) {
        return &sums->blocks[sums->used - 1];
    }
    if (sums->used == FIT_BLOCKS) {
        fit_sums_halve(sums);
    }
    return &sums->blocks[sums->used++];
}

/* Most columns of a row are 0: few regions are active in an interval. */
void fit_sums_add(struct fit_sums *sums, const double x[], size_t columns, double y)
{
    struct fit_block *block = fit_sums_open(sums);
    size_t active[FIT_COLUMNS], count = 0;

    for (size_t i = 0; i < columns; i++) {
        if (x[i] != 0) {
            active[count++] = i;
            sums->x[i] += x[i];
            block->xy[i] += x[i] * y;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double *row = &block->xx[fit_pair(active[i], 0)];

        for (size_t j = 0; j <= i; j++) {
            row[active[j]] += x[active[i]] * x[active[j]];
        }
    }
    block->yy += y * y;
    block->rows++;
    sums->rows++;
    sums->y += y;
}

static void fit_block_join(struct fit_block *block, size_t from, size_t to)
{
    double square = block->xx[fit_pair(from, from)], both = block->xx[fit_pair(from, to)];

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        if (i != from) {
            block->xx[fit_pair(to, i)] += block->xx[fit_pair(from, i)];
        }
        block->xx[fit_pair(from, i)] = 0;
    }
    /* (to + from)^2, of which `both` has been added once */
    block->xx[fit_pair(to, to)] += both + square;
    block->xy[to] += block->xy[from];
    block->xy[from] = 0;
}

void fit_sums_join(struct fit_sums *sums, size_t from, size_t to)
{
    for (size_t i = 0; i < sums->used; i++) {
        fit_block_join(&sums->blocks[i], from, to);
    }
    sums->x[to] += sums->x[from];
    sums->x[from] = 0;
}

void fit_sums_total(const struct fit_sums *sums, struct fit_block *total)
{
    memset(total, 0, sizeof(*total));
    for (size_t i = 0; i < sums->used; i++) {
        fit_block_add(total, &sums->blocks[i]);
    }
}
