/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit_system.h"

#include <math.h>
#include <string.h>

/* Sums. */

void fit_sums_clear(struct fit_sums *sums)
{
    memset(sums, 0, sizeof(*sums));
    sums->block_rows = 1;
}

static void fit_block_add(struct fit_block *sum, const struct fit_block *block)
{
    sum->rows += block->rows;
    sum->yy += block->yy;
    sum->y += block->y;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        sum->x[i] += block->x[i];
        sum->passes[i] += block->passes[i];
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
/* With a fixed number of columns the compiler takes several at once. */
static void fit_sums_add_passes(struct fit_sums *sums, const double x[], const double passes[],
                                size_t columns)
{
    struct fit_block *block = &sums->blocks[sums->used - 1];
    double all[FIT_COLUMNS] = {0};

    memcpy(all, passes, columns * sizeof(*passes));
    for (size_t i = 0; i < columns; i++) {
        double *sum = sums->x_passes[i], time_s = x[i];

        if (time_s > 0) {
            for (size_t j = 0; j < FIT_COLUMNS; j++) {
                sum[j] += time_s * all[j];
            }
        }
    }
    for (size_t j = 0; j < columns; j++) {
        sums->passes[j] += passes[j];
        block->passes[j] += passes[j];
    }
}

void fit_sums_add(struct fit_sums *sums, const double x[], const double passes[], size_t columns,
                  double y)
{
    struct fit_block *block = fit_sums_open(sums);
    size_t active[FIT_COLUMNS], count = 0;

    for (size_t i = 0; i < columns; i++) {
        if (x[i] != 0) {
            active[count++] = i;
            sums->x[i] += x[i];
            block->x[i] += x[i];
            block->xy[i] += x[i] * y;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double *row = &block->xx[fit_pair(active[i], 0)];

        for (size_t j = 0; j <= i; j++) {
            row[active[j]] += x[active[i]] * x[active[j]];
        }
    }
    if (passes) {
        fit_sums_add_passes(sums, x, passes, columns);
    }
    block->yy += y * y;
    block->y += y;
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
    block->x[to] += block->x[from];
    block->passes[to] += block->passes[from];
    block->xy[from] = block->x[from] = block->passes[from] = 0;
}

void fit_sums_join(struct fit_sums *sums, size_t from, size_t to)
{
    for (size_t i = 0; i < sums->used; i++) {
        fit_block_join(&sums->blocks[i], from, to);
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        sums->x_passes[to][i] += sums->x_passes[from][i];
        sums->x_passes[from][i] = 0;
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        sums->x_passes[i][to] += sums->x_passes[i][from];
        sums->x_passes[i][from] = 0;
    }
    sums->x[to] += sums->x[from];
    sums->passes[to] += sums->passes[from];
    sums->x[from] = sums->passes[from] = 0;
}

void fit_sums_total(const struct fit_sums *sums, struct fit_block *total)
{
    memset(total, 0, sizeof(*total));
    for (size_t i = 0; i < sums->used; i++) {
        fit_block_add(total, &sums->blocks[i]);
    }
}

/* Equations. */

#define GRADIENT_LEAST 1e-10 /* of the greatest xy: smaller ones are rounding */

void fit_system_scale(struct fit_system *system)
{
    for (size_t i = 0; i < system->size; i++) {
        double square = system->xx[i][i];

        system->scale[i] = square > 0 ? 1 / sqrt(square) : 0;
        system->xy[i] *= system->scale[i];
    }
    for (size_t i = 0; i < system->size; i++) {
        for (size_t j = 0; j < system->size; j++) {
            system->xx[i][j] *= system->scale[i] * system->scale[j];
        }
    }
}

/* A lower triangle of those columns that `used` has (NULL: all), in their order. */
struct fit_triangle {
    size_t size;
    size_t column[FIT_COLUMNS];
    double rows[FIT_COLUMNS][FIT_COLUMNS];
};

/* @return the remainder of the diagonal of a new row. */
static double fit_triangle_row(const struct fit_system *system, struct fit_triangle *triangle,
                               size_t column)
{
    double *row = triangle->rows[triangle->size], left = system->xx[column][column];

    for (size_t j = 0; j < triangle->size; j++) {
        double sum = system->xx[column][triangle->column[j]];

        for (size_t k = 0; k < j; k++) {
            sum -= row[k] * triangle->rows[j][k];
        }
        row[j] = sum / triangle->rows[j][j];
        left -= row[j] * row[j];
    }
    return left;
}

/* Sums of columns before it are left out. @return the first of these; size: there is none. */
static size_t fit_triangle_make(const struct fit_system *system, const bool used[FIT_COLUMNS],
                                struct fit_triangle *triangle)
{
    size_t first = system->size;

    triangle->size = 0;
    for (size_t i = 0; i < system->size; i++) {
        double left = used && !used[i] ? 0 : fit_triangle_row(system, triangle, i);

        if (left > FIT_SINGULAR) {
            triangle->rows[triangle->size][triangle->size] = sqrt(left);
            triangle->column[triangle->size++] = i;
        } else if ((!used || used[i]) && first == system->size) {
            first = i;
        }
    }
    return first;
}

/* Replace the right side by the solution. */
static void fit_triangle_solve(const struct fit_triangle *triangle, double right[FIT_COLUMNS])
{
    size_t size = triangle->size;

    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; k < i; k++) {
            right[i] -= triangle->rows[i][k] * right[k];
        }
        right[i] /= triangle->rows[i][i];
    }
    for (size_t i = size; i-- > 0;) {
        for (size_t k = i + 1; k < size; k++) {
            right[i] -= triangle->rows[k][i] * right[k];
        }
        right[i] /= triangle->rows[i][i];
    }
}

size_t fit_system_invert(const struct fit_system *system, double inverse[FIT_COLUMNS][FIT_COLUMNS])
{
    struct fit_triangle triangle = {.size = 0};
    size_t first = fit_triangle_make(system, NULL, &triangle);

    for (size_t i = 0; first == system->size && i < system->size; i++) {
        memset(inverse[i], 0, sizeof(inverse[i]));
        inverse[i][i] = 1;
        fit_triangle_solve(&triangle, inverse[i]);
    }
    return first;
}

size_t fit_system_solve_free(const struct fit_system *system, double right[FIT_COLUMNS])
{
    struct fit_triangle triangle = {.size = 0};
    size_t first = fit_triangle_make(system, NULL, &triangle);

    if (first == system->size) {
        fit_triangle_solve(&triangle, right);
    }
    return first;
}

void fit_system_depend(const struct fit_system *system, size_t column, double factors[FIT_COLUMNS])
{
    struct fit_triangle triangle = {.size = 0};
    double right[FIT_COLUMNS];
    bool before[FIT_COLUMNS];

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        before[i] = i < column;
        factors[i] = i == column;
    }
    fit_triangle_make(system, before, &triangle);
    for (size_t i = 0; i < triangle.size; i++) {
        right[i] = system->xx[column][triangle.column[i]];
    }
    fit_triangle_solve(&triangle, right);
    for (size_t i = 0; i < triangle.size; i++) {
        factors[triangle.column[i]] = -right[i];
    }
}

double fit_system_tolerance(const struct fit_system *system)
{
    struct fit_triangle triangle = {.size = 0};
    bool others[FIT_COLUMNS];

    for (size_t i = 0; i < system->size; i++) {
        others[i] = i + 1 < system->size;
    }
    fit_triangle_make(system, others, &triangle);
    return fmax(fit_triangle_row(system, &triangle, system->size - 1), 0);
}

/* Least squares of the used columns alone; the others are 0. */
static void fit_solve_used(const struct fit_system *system, const bool used[FIT_COLUMNS],
                           double p[FIT_COLUMNS])
{
    struct fit_triangle triangle = {.size = 0};
    double right[FIT_COLUMNS] = {0};

    fit_triangle_make(system, used, &triangle);
    for (size_t i = 0; i < triangle.size; i++) {
        right[i] = system->xy[triangle.column[i]];
    }
    fit_triangle_solve(&triangle, right);
    memset(p, 0, sizeof(double) * FIT_COLUMNS);
    for (size_t i = 0; i < triangle.size; i++) {
        p[triangle.column[i]] = right[i];
    }
}

/* @return the unused column that would improve most; size: none would. */
static size_t fit_solve_next(const struct fit_system *system, const bool used[FIT_COLUMNS],
                             const double p[FIT_COLUMNS])
{
    size_t best = system->size;
    double most = 0;

    for (size_t i = 0; i < system->size; i++) {
        most = fmax(most, fabs(system->xy[i]) * GRADIENT_LEAST);
    }
    for (size_t i = 0; i < system->size; i++) {
        double gradient = system->xy[i];

        for (size_t j = 0; j < system->size; j++) {
            gradient -= system->xx[i][j] * p[j];
        }
        if (!used[i] && gradient > most) {
            most = gradient;
            best = i;
        }
    }
    return best;
}

/* Go from p towards `wanted` until the first column becomes 0, and leave such columns out.
 * @return whether any did. */
static bool fit_solve_step(size_t size, bool used[FIT_COLUMNS], double p[FIT_COLUMNS],
                           const double wanted[FIT_COLUMNS])
{
    double way = 1;
    bool any = false;

    for (size_t i = 0; i < size; i++) {
        if (used[i] && wanted[i] <= 0) {
            way = fmin(way, p[i] > 0 ? p[i] / (p[i] - wanted[i]) : 0);
        }
    }
    for (size_t i = 0; i < size; i++) {
        bool out = used[i] && wanted[i] <= 0;

        p[i] += way * (wanted[i] - p[i]);
        if (out && p[i] <= 1e-12 * fabs(wanted[i])) {
            p[i] = 0;
            used[i] = false;
            any = true;
        }
    }
    return any;
}

void fit_system_solve(const struct fit_system *system, double p[FIT_COLUMNS])
{
    bool used[FIT_COLUMNS] = {false};
    size_t next;

    memset(p, 0, sizeof(double) * FIT_COLUMNS);
    for (size_t tries = 0; tries < 3 * FIT_COLUMNS; tries++) {
        double wanted[FIT_COLUMNS];

        next = fit_solve_next(system, used, p);
        if (next == system->size) {
            return;
        }
        used[next] = true;
        do {
            fit_solve_used(system, used, wanted);
        } while (fit_solve_step(system->size, used, p, wanted));
    }
}
