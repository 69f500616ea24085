/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define PURE 0.999 /* share of an interval; the rest is the duration of the readings themselves */

void fit_clear(struct fit *fit)
{
    memset(fit, 0, sizeof(*fit));
    fit->last_pure = FIT_COLUMNS;
    fit->whole = 1;
}

/* @return the only active column; FIT_COLUMNS: several columns are active. */
static size_t fit_only(const double x[], size_t columns)
{
    double wall_s = x[FIT_OUTSIDE] + x[FIT_INSIDE], sum_s = 0;
    size_t most = FIT_PARTS;

    if (x[FIT_OUTSIDE] >= PURE * wall_s) {
        return FIT_OUTSIDE;
    }
    if (x[FIT_INSIDE] < PURE * wall_s) {
        return FIT_COLUMNS;
    }
    for (size_t i = FIT_PARTS; i < columns; i++) {
        sum_s += x[i];
        most = x[i] > x[most] ? i : most;
    }
    return columns > FIT_PARTS && x[most] >= PURE * sum_s ? most : FIT_COLUMNS;
}

#define LENGTH_PASSES 16 /* number of passes over which a mean length is taken */

static void fit_length_add(struct fit_length *length, double time_s, double passes)
{
    length->time_s += time_s;
    length->passes += passes;
    if (length->passes >= LENGTH_PASSES) {
        double mean_s = length->time_s / length->passes;

        length->least_s = length->least_s > 0 ? fmin(length->least_s, mean_s) : mean_s;
        length->time_s = length->passes = 0;
    }
}

static void fit_row_add(struct fit_row *row, const struct fit_row *more)
{
    row->y += more->y;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        row->x[i] += more->x[i];
        row->passes[i] += more->passes[i];
    }
}

/* @return the row to which the next interval belongs. */
static struct fit_row *fit_row_open(struct fit *fit)
{
    if (fit->used > 0 && fit->last < fit->whole) {
        fit->last++;
        return &fit->rows[fit->used - 1];
    }
    if (fit->used == FIT_ROWS) {
        for (size_t i = 0; i < FIT_ROWS / 2; i++) {
            fit->rows[i] = fit->rows[2 * i];
            fit_row_add(&fit->rows[i], &fit->rows[2 * i + 1]);
        }
        fit->used = FIT_ROWS / 2;
        fit->whole *= 2;
    }
    fit->last = 1;
    memset(&fit->rows[fit->used], 0, sizeof(*fit->rows));
    return &fit->rows[fit->used++];
}

void fit_add(struct fit *fit, const double x[], const double passes[], size_t columns, double y)
{
    struct fit_row *row = fit_row_open(fit);
    size_t only = fit_only(x, columns);

    for (size_t i = 0; i < columns; i++) {
        row->x[i] += (float)x[i];
        fit->sums.x[i] += x[i];
        if (passes && i >= FIT_PARTS) {
            row->passes[i] += (float)passes[i];
            fit->sums.passes[i] += passes[i];
            fit_length_add(&fit->lengths[i], x[i], passes[i]);
        }
    }
    if (only < FIT_COLUMNS) {
        fit->pure_x[only] += x[only];
        fit->pure_passes[only] += passes ? passes[only] : 0;
        fit->pure_y[only] += y;
        fit->pure_runs[only] += only != fit->last_pure;
    }
    fit->last_pure = only;
    row->y += y;
    fit->sums.y += y;
    fit->sums.rows++;
}

static void fit_move(double sums[FIT_COLUMNS], size_t from, size_t to)
{
    sums[to] += sums[from];
    sums[from] = 0;
}

void fit_join(struct fit *fit, size_t from, size_t to)
{
    for (size_t i = 0; i < fit->used; i++) {
        struct fit_row *row = &fit->rows[i];

        row->x[to] += row->x[from];
        row->passes[to] += row->passes[from];
        row->x[from] = row->passes[from] = 0;
    }
    fit_move(fit->sums.x, from, to);
    fit_move(fit->sums.passes, from, to);
    fit_move(fit->pure_x, from, to);
    fit_move(fit->pure_passes, from, to);
    fit_move(fit->pure_y, from, to);
    fit->pure_runs[to] += fit->pure_runs[from];
    fit->pure_runs[from] = 0;
    fit->lengths[from] = fit->lengths[to] = (struct fit_length){0};
    fit->last_pure = fit->last_pure == from ? to : fit->last_pure;
}
