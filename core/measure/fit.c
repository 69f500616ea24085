/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "measure/fit_doubt.h"

/* Columns that have one unknown in common. */
struct fit_groups {
    size_t count;
    size_t of[FIT_COLUMNS]; /* by column; FIT_COLUMNS: it is left out */
};

/* The certainty of the unknowns. */
struct fit_within {
    double noise_j;             /* standard deviation of a row, at least; set by the caller */
    double half_w[FIT_COLUMNS]; /* by group: in 95 of 100 runs the true one is within this [W] */
    double inverse[FIT_COLUMNS][FIT_COLUMNS];
    double p[FIT_COLUMNS];      /* the unknowns without bounds, scaled */
    struct fit_system of_block; /* to work with */
};

#define BLOCKS_LEAST 8 /* to say anything */
#define NORMAL 1.959964

/* The equations of the groups' unknowns, not scaled. */
static void fit_groups_fill(const struct fit_groups *groups, const struct fit_block *block,
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

/* The half-width of a 95 % interval in standard errors: Student's t, by Cornish and Fisher's
 * series. */
static double fit_student(double freedom)
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

/* The difference that the rows of a block leave in the equations: 0 on average. */
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

/*
 * Add the squares of what the unknowns would be moved by if a block were left out. One that only
 * this block tells from others is not known.
 */
static void fit_within_leave_block(struct fit_within *within, const struct fit_block *block,
                                   const struct fit_groups *groups, const struct fit_system *system,
                                   double squares[FIT_COLUMNS])
{
    double moved[FIT_COLUMNS] = {0};
    size_t alone;

    fit_within_scores(within, block, groups, system, moved);
    for (size_t i = 0; i < system->size; i++) {
        for (size_t j = 0; j < system->size; j++) {
            within->of_block.xx[i][j] =
                system->xx[i][j] - within->of_block.xx[i][j] * system->scale[i] * system->scale[j];
        }
    }
    alone = fit_system_solve_free(&within->of_block, moved);
    for (size_t i = 0; i < system->size; i++) {
        squares[i] += i == alone ? INFINITY : moved[i] * moved[i];
    }
}

/*
 * Find out how sure they are: from the differences of the rows, and from those of the blocks of
 * successive rows, whichever says more. The second one is right also where rows resemble those
 * before them, and where some of them vary more than others.
 * @return fit_system_invert() of the scaled system; below its size nothing else is set
 */
static size_t fit_within_make(struct fit_within *within, const struct fit_sums *sums,
                              const struct fit_block *total, const struct fit_groups *groups,
                              const struct fit_system *system)
{
    size_t result = fit_system_invert(system, within->inverse);
    double freedom = (double)total->rows - (double)system->size, variance;
    double blocks[FIT_COLUMNS] = {0}, count = (double)sums->used;

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
        fit_within_leave_block(within, &sums->blocks[b], groups, system, blocks);
    }
    for (size_t i = 0; i < system->size; i++) {
        double rows_w = fit_student(freedom) * sqrt(variance * within->inverse[i][i]);
        double blocks_w = fit_student(count - 1) * sqrt(blocks[i] * (count - 1) / count);

        within->half_w[i] = fmax(rows_w, blocks_w) * system->scale[i];
    }
    return result;
}

#define PURE 0.999 /* of an interval: its other parts are the readings' own duration */
#define VAGUE 0.5  /* of the mean power of a thread: a part that is less sure is not told apart */
#define BASE_VAGUE 0.25 /* of the mean power, for the power that is independent of threads */
#define BASE_LEAST 0.01 /* part of FIT_INSIDE that the number of threads must not explain */
#define RULES 0.97      /* of the time of columns that have their power in common */
#define ROWS_FREE 5     /* rows more than parts; with fewer none is told from others */
#define NO_GROUP FIT_COLUMNS

void fit_clear(struct fit *fit)
{
    memset(fit, 0, sizeof(*fit));
    fit_sums_clear(&fit->sums);
    fit->last_pure = FIT_COLUMNS;
}

/* @return the only active column; FIT_COLUMNS: there are several. */
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

#define LENGTH_PASSES 16 /* whose mean length is one of those that are looked at */

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

void fit_add(struct fit *fit, const double x[], const double passes[], size_t columns, double y)
{
    size_t only = fit_only(x, columns);

    for (size_t i = FIT_PARTS; passes && i < columns; i++) {
        fit_length_add(&fit->lengths[i], x[i], passes[i]);
    }
    if (only < FIT_COLUMNS) {
        fit->pure_x[only] += x[only];
        fit->pure_passes[only] += passes ? passes[only] : 0;
        fit->pure_y[only] += y;
        fit->pure_runs[only] += only != fit->last_pure;
    }
    fit->last_pure = only;
    fit_sums_add(&fit->sums, x, passes, columns, y);
}

void fit_join(struct fit *fit, size_t from, size_t to)
{
    fit_sums_join(&fit->sums, from, to);
    fit->pure_x[to] += fit->pure_x[from];
    fit->pure_passes[to] += fit->pure_passes[from];
    fit->pure_y[to] += fit->pure_y[from];
    fit->pure_runs[to] += fit->pure_runs[from];
    fit->pure_x[from] = fit->pure_passes[from] = fit->pure_y[from] = 0;
    fit->lengths[from] = fit->lengths[to] = (struct fit_length){0};
    fit->pure_runs[from] = 0;
    fit->last_pure = fit->last_pure == from ? to : fit->last_pure;
}

/* A fit on its way: which columns are one unknown, and the equations of these. */
struct fit_work {
    const struct fit *fit;
    double noise_j;
    double thread_w; /* mean power of a thread */
    size_t parts;    /* active columns of threads */
    bool based;      /* FIT_OUTSIDE and FIT_INSIDE are one unknown */
    struct fit_groups groups;
    size_t with[FIT_COLUMNS];    /* by column: as in struct fit_part */
    double alone_w[FIT_COLUMNS]; /* the power of a column before it was joined, >= 0 */
    double sure_w[FIT_COLUMNS];  /* and how sure that was; NaN: not at all */
    double p[FIT_COLUMNS];       /* by group [W] */
    struct fit_block total;
    struct fit_system system;
    struct fit_within within;
    struct fit_doubts doubts;
    double doubt_w[FIT_COLUMNS]; /* by column */
    double pass_j[FIT_COLUMNS];  /* by column, what a pass has beside its power */
    double
        passes_j[FIT_COLUMNS]; /* by column: its energy is within this for what passes may have */
};

/* Each column that was active is a group of its own. */
static void fit_work_begin(struct fit_work *work, bool based)
{
    struct fit_groups *groups = &work->groups;

    work->based = based;
    groups->count = 0;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        bool active = work->fit->sums.x[i] > 0 && i != FIT_INSIDE;

        groups->of[i] = active || (i == FIT_OUTSIDE && based) ? groups->count++ : NO_GROUP;
        work->with[i] = i;
        work->sure_w[i] = NAN;
    }
    groups->of[FIT_INSIDE] = based ? groups->of[FIT_OUTSIDE] : NO_GROUP;
}

/* Equations of the groups' unknowns; how sure each is. @return fit_system_invert() */
static size_t fit_work_prepare(struct fit_work *work)
{
    fit_groups_fill(&work->groups, &work->total, &work->system);
    fit_system_scale(&work->system);
    return fit_within_make(&work->within, &work->fit->sums, &work->total, &work->groups,
                           &work->system);
}

static bool fit_work_is_idle(const struct fit_work *work, size_t group)
{
    return group == work->groups.of[FIT_OUTSIDE];
}

static size_t fit_work_first(const struct fit_work *work, size_t group)
{
    size_t i = 0;

    while (work->groups.of[i] != group) {
        i++;
    }
    return i;
}

/* Join two groups; columns that were alone keep what was known of them. */
static void fit_work_join(struct fit_work *work, size_t from, size_t to, bool sure)
{
    size_t from_first = fit_work_first(work, from), to_first = fit_work_first(work, to);

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];

        if ((group == from || group == to) && work->with[i] == i && sure) {
            work->alone_w[i] = fmax(work->within.p[group] * work->system.scale[group], 0);
            work->sure_w[i] = work->within.half_w[group];
        }
        if (group == from || group == to) {
            work->with[i] = work->with[i] != i ? work->with[i]
                            : i == from_first  ? to_first
                                               : from_first;
        }
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];

        group = group == from ? to : group;
        work->groups.of[i] = group != NO_GROUP && group > from ? group - 1 : group;
    }
    work->groups.count--;
}

/* @return the group that is most like this one; NO_GROUP: there is no other. */
static size_t fit_work_partner(const struct fit_work *work, size_t group, bool inverted,
                               bool idle_too)
{
    size_t best = NO_GROUP;
    double most = -2;

    for (size_t i = 0; i < work->groups.count; i++) {
        double alike =
            inverted ? -work->within.inverse[group][i] /
                           sqrt(work->within.inverse[group][group] * work->within.inverse[i][i])
                     : work->system.xx[group][i];

        if (i != group && (idle_too || !fit_work_is_idle(work, i)) && alike > most) {
            most = alike;
            best = i;
        }
    }
    return best;
}

/* @return the group that is least sure, if it is too vague; NO_GROUP: none is. */
static size_t fit_work_vague(const struct fit_work *work)
{
    double most = VAGUE * work->thread_w;
    size_t worst = NO_GROUP;

    for (size_t i = 0; i < work->groups.count; i++) {
        if (!fit_work_is_idle(work, i) && work->within.half_w[i] > most) {
            most = work->within.half_w[i];
            worst = i;
        }
    }
    return worst;
}

static bool fit_work_lacks_rows(const struct fit_work *work)
{
    return work->total.rows < work->parts + ROWS_FREE;
}

/* @return the group with the least time, for want of rows. */
static size_t fit_work_least(const struct fit_work *work)
{
    double time_s[FIT_COLUMNS] = {0};
    size_t least = NO_GROUP;

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        if (work->groups.of[i] != NO_GROUP) {
            time_s[work->groups.of[i]] += work->fit->sums.x[i];
        }
    }
    for (size_t i = 0; i < work->groups.count; i++) {
        if (!fit_work_is_idle(work, i) && (least == NO_GROUP || time_s[i] < time_s[least])) {
            least = i;
        }
    }
    return least;
}

/* Joining a group leaves the others in doubt. @param inverted  and how sure it was */
static void fit_work_doubt(struct fit_work *work, size_t from, bool inverted)
{
    struct fit_doubt *doubt = &work->doubts.list[work->doubts.count];
    double factors[FIT_COLUMNS], scale = work->system.scale[from];
    double p_w = work->within.p[from] * scale;

    *doubt = (struct fit_doubt){.least_w = -INFINITY, .greatest_w = INFINITY};
    doubt->column = fit_work_first(work, from);
    if (inverted) {
        doubt->least_w = p_w - work->within.half_w[from];
        doubt->greatest_w = p_w + work->within.half_w[from];
        for (size_t i = 0; i < work->groups.count; i++) {
            factors[i] = work->within.inverse[i][from] / work->within.inverse[from][from];
        }
    } else {
        fit_system_depend(&work->system, from, factors);
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];

        doubt->w[i] = group == NO_GROUP ? 0 : factors[group] * work->system.scale[group] / scale;
    }
}

/* By column, of the groups so far. */
static void fit_work_powers(struct fit_work *work, double p_w[FIT_COLUMNS])
{
    fit_system_solve(&work->system, work->p);
    for (size_t i = 0; i < work->groups.count; i++) {
        work->p[i] *= work->system.scale[i];
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];

        p_w[i] = group == NO_GROUP ? 0 : work->p[group];
    }
}

/* Replace the groups to be joined by two that can have the same power. */
static void fit_work_choose(struct fit_work *work, bool inverted, size_t *from, size_t *to)
{
    struct fit_doubt *doubt = &work->doubts.list[work->doubts.count];
    double p_w[FIT_COLUMNS];
    size_t pair[2] = {0}, one, other;

    fit_work_doubt(work, *from, inverted);
    work->doubts.count++;
    fit_work_powers(work, p_w);
    if (!fit_doubt_pair(doubt, p_w, work->fit->sums.x, pair)) {
        return;
    }
    one = work->groups.of[pair[0]];
    other = work->groups.of[pair[1]];
    if (one != other && !(inverted && fit_work_is_idle(work, one)) &&
        !(inverted && fit_work_is_idle(work, other))) {
        *from = one;
        *to = other;
    }
}

/* One step towards groups that can be told apart. @return false: they can be. */
static bool fit_work_narrow(struct fit_work *work)
{
    size_t singular = fit_work_prepare(work), from, to;
    bool inverted = singular == work->groups.count, sure;

    if (!inverted) {
        from = singular;
    } else if (fit_work_lacks_rows(work)) {
        from = fit_work_least(work);
    } else {
        from = fit_work_vague(work);
    }
    to = from == NO_GROUP ? NO_GROUP : fit_work_partner(work, from, inverted, !inverted);
    if (to == NO_GROUP) {
        return false;
    }
    sure = inverted && !fit_work_lacks_rows(work);
    if (!inverted || sure) {
        fit_work_choose(work, inverted, &from, &to);
    }
    fit_work_join(work, from, to, sure);
    return true;
}

/* Whether the rows show a power that does not depend on the number of threads. */
static bool fit_work_has_base(struct fit_work *work)
{
    struct fit_groups *groups = &work->groups;
    double mean_w =
        work->fit->sums.y / (work->fit->sums.x[FIT_OUTSIDE] + work->fit->sums.x[FIT_INSIDE]);

    groups->count = 0;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        bool part = i >= FIT_PARTS && work->fit->sums.x[i] > 0;

        groups->of[i] = part ? groups->count++ : NO_GROUP;
    }
    groups->of[FIT_INSIDE] = groups->count++;
    fit_groups_fill(groups, &work->total, &work->system);
    fit_system_scale(&work->system);
    if (fit_system_tolerance(&work->system) < BASE_LEAST) {
        return false;
    }
    fit_work_begin(work, true);
    return fit_work_prepare(work) == groups->count && !fit_work_lacks_rows(work) &&
           work->within.half_w[groups->of[FIT_OUTSIDE]] < BASE_VAGUE * mean_w;
}

/* Energy of rows in which several columns were active, of which each gets its part. */
struct fit_mixed {
    double energy_j;
    double shown_j; /* by the unknowns and times */
};

static double fit_work_pure_s(const struct fit_work *work, size_t column)
{
    return work->based ? 0 : work->fit->pure_x[column];
}

/* With a power that does not depend on the threads, all of the time is FIT_OUTSIDE. */
static double fit_work_time_s(const struct fit_work *work, size_t column)
{
    if (work->based && column == FIT_INSIDE) {
        return 0;
    }
    if (work->based && column == FIT_OUTSIDE) {
        return work->fit->sums.x[FIT_OUTSIDE] + work->fit->sums.x[FIT_INSIDE];
    }
    return fmax(work->fit->sums.x[column] - fit_work_pure_s(work, column), 0);
}

/* @return passes in the rows of that time. */
static double fit_work_passes(const struct fit_work *work, size_t column)
{
    return fmax(work->fit->sums.passes[column] - (work->based ? 0 : work->fit->pure_passes[column]),
                0);
}

static double fit_work_pure_j(const struct fit_work *work, size_t column)
{
    return work->based ? 0 : work->fit->pure_y[column];
}

/* Of its time in mixed rows, as the unknowns say. */
static double fit_work_shown_j(const struct fit_work *work, size_t column)
{
    size_t group = work->groups.of[column];

    return group == NO_GROUP ? 0
                             : fmax(work->p[group] * fit_work_time_s(work, column) +
                                        work->pass_j[column] * fit_work_passes(work, column),
                                    0);
}

static struct fit_mixed fit_work_mixed(const struct fit_work *work)
{
    struct fit_mixed mixed = {.energy_j = work->fit->sums.y};

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        mixed.energy_j -= fit_work_pure_j(work, i);
        mixed.shown_j += fit_work_shown_j(work, i);
    }
    mixed.energy_j = fmax(mixed.energy_j, 0);
    return mixed;
}

/* The sums of a group. */
struct fit_sum {
    double energy_j, time_s;
};

/* Next to a column that has nearly all of a group's time, the others do not matter. */
static bool fit_work_rules(const struct fit_work *work, size_t column, const struct fit_sum *group)
{
    return work->with[column] == column || fit_work_time_s(work, column) > RULES * group->time_s;
}

/* A part of a group is not sure beyond what the group can have in all. */
static double fit_work_within_j(const struct fit_work *work, size_t column, double energy_j,
                                const struct fit_sum *group)
{
    double time_s = fit_work_time_s(work, column);
    double pure_j = work->noise_j * sqrt(2 * (double)work->fit->pure_runs[column]) * 2;
    double within_w = work->within.half_w[work->groups.of[column]] + work->doubt_w[column];
    double others_j = group->energy_j - energy_j;
    double bound_j = fmax(energy_j, others_j) + within_w * group->time_s;

    pure_j = work->based ? 0 : pure_j;
    if (fit_work_rules(work, column, group)) {
        return within_w * time_s + fmax(others_j, 0) + pure_j;
    }
    if (!isnan(work->sure_w[column])) {
        double apart_j = fabs(energy_j - work->alone_w[column] * time_s);

        bound_j = fmin(bound_j, apart_j + work->sure_w[column] * time_s);
    }
    return bound_j + pure_j;
}

static void fit_work_share(const struct fit_work *work, struct fit_part parts[FIT_COLUMNS])
{
    const struct fit_mixed mixed = fit_work_mixed(work);
    double factor = mixed.shown_j > 0 ? mixed.energy_j / mixed.shown_j : 0;
    struct fit_sum groups[FIT_COLUMNS + 1] = {{0}};

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];

        parts[i] = (struct fit_part){NAN, NAN, 0, i};
        if (group != NO_GROUP) {
            parts[i].energy_j = factor * fit_work_shown_j(work, i);
            groups[group].energy_j += parts[i].energy_j;
            groups[group].time_s += fit_work_time_s(work, i);
        }
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];

        if (group != NO_GROUP) {
            parts[i].within_j = hypot(fit_work_within_j(work, i, parts[i].energy_j, &groups[group]),
                                      work->passes_j[i]);
            parts[i].within_j = fmin(parts[i].within_j, work->fit->sums.y);
            parts[i].energy_j += fit_work_pure_j(work, i);
            parts[i].pure =
                work->fit->sums.x[i] > 0 ? fit_work_pure_s(work, i) / work->fit->sums.x[i] : 0;
            parts[i].with = !fit_work_lacks_rows(work) && fit_work_rules(work, i, &groups[group])
                                ? i
                                : work->with[i];
        }
    }
    if (work->based) {
        parts[FIT_INSIDE] = (struct fit_part){NAN, NAN, 0, FIT_OUTSIDE};
    }
}

/*
 * A pass of a column has an energy beside that of its power. It is as likely above 0 as below it,
 * and about as large as that of a short pass by the mean power, unless the blocks say more. How
 * passes and readings fall on each other says nothing, as the meter shows the energy of some moment
 * before.
 */
struct fit_passes {
    size_t count;
    size_t column[FIT_COLUMNS];
    double likely_j[FIT_COLUMNS];             /* standard deviation before a block is looked at */
    double moved_w[FIT_COLUMNS][FIT_COLUMNS]; /* by group and pass: how 1 J of it moves a power */
    double beside[FIT_COLUMNS];               /* passes of a block that powers do not explain */
    struct fit_system system;                 /* of these energies */
    double inverse[FIT_COLUMNS][FIT_COLUMNS];
};

#define PASS_ROWS 0.5 /* of a row at most: the energy of a longer pass is in other rows, too */
#define PASS_EDGES                                                                                 \
    0.5 /* variance of a block's passes for want of a common moment with the meter                 \
         */

static void fit_passes_choose(const struct fit_work *work, struct fit_passes *passes)
{
    const struct fit_sums *sums = &work->fit->sums;
    double row_s = (sums->x[FIT_OUTSIDE] + sums->x[FIT_INSIDE]) / (double)sums->rows;

    for (size_t i = FIT_PARTS; i < FIT_COLUMNS; i++) {
        double least_s = work->fit->lengths[i].least_s;

        if (work->groups.of[i] != NO_GROUP && least_s > 0 &&
            sums->x[i] < PASS_ROWS * row_s * sums->passes[i]) {
            passes->column[passes->count] = i;
            passes->likely_j[passes->count++] = work->thread_w * least_s;
        }
    }
}

/* The powers are those with which the squares of the rows' differences are least. */
static void fit_passes_move(const struct fit_work *work, struct fit_passes *passes)
{
    const struct fit_within *within = &work->within;
    const double *scale = work->system.scale;

    for (size_t k = 0; k < passes->count; k++) {
        double products[FIT_COLUMNS] = {0};

        for (size_t i = 0; i < FIT_COLUMNS; i++) {
            size_t group = work->groups.of[i];

            if (group != NO_GROUP) {
                products[group] += work->fit->sums.x_passes[i][passes->column[k]] * scale[group];
            }
        }
        for (size_t i = 0; i < work->groups.count; i++) {
            for (size_t j = 0; j < work->groups.count; j++) {
                passes->moved_w[i][k] -= within->inverse[i][j] * products[j] * scale[i];
            }
        }
    }
}

/* @return the energy of a block that the powers do not explain. */
static double fit_passes_of_block(const struct fit_work *work, const struct fit_block *block,
                                  struct fit_passes *passes)
{
    double left_j = block->y;

    for (size_t k = 0; k < passes->count; k++) {
        passes->beside[k] = block->passes[passes->column[k]];
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];

        if (group == NO_GROUP || block->x[i] == 0) {
            continue;
        }
        left_j -= work->p[group] * block->x[i];
        for (size_t k = 0; k < passes->count; k++) {
            passes->beside[k] += passes->moved_w[group][k] * block->x[i];
        }
    }
    return left_j;
}

/* Where readings fall within passes says nothing: less what blocks would tell by that alone. */
static void fit_passes_doubt_edges(struct fit_system *system, double blocks)
{
    for (size_t i = 0; i < system->size; i++) {
        double square = system->xx[i][i], edges = PASS_EDGES * blocks;
        double part = square > edges ? sqrt(1 - edges / square) : 0;

        system->xy[i] *= part * part;
        for (size_t j = 0; j < system->size; j++) {
            system->xx[i][j] *= part;
            system->xx[j][i] *= part;
        }
    }
}

/* @param variance  of the energy of a row. @return that of a block */
static double fit_passes_fill(const struct fit_work *work, struct fit_passes *passes,
                              double variance)
{
    const struct fit_sums *sums = &work->fit->sums;
    struct fit_system *system = &passes->system;
    double squares = 0, freedom = (double)sums->used - (double)work->groups.count;

    system->size = passes->count;
    for (size_t b = 0; b < sums->used; b++) {
        double left_j = fit_passes_of_block(work, &sums->blocks[b], passes);

        squares += left_j * left_j;
        for (size_t i = 0; i < passes->count; i++) {
            system->xy[i] += passes->beside[i] * left_j;
            for (size_t j = 0; j < passes->count; j++) {
                system->xx[i][j] += passes->beside[i] * passes->beside[j];
            }
        }
    }
    variance = fmax(squares / fmax(freedom, 1), variance);
    fit_passes_doubt_edges(system, (double)sums->used);
    for (size_t i = 0; i < passes->count; i++) {
        system->xx[i][i] += variance / (passes->likely_j[i] * passes->likely_j[i]);
    }
    fit_system_scale(system);
    return variance;
}

/* Use them, and the powers that come with them. */
static void fit_passes_use(struct fit_work *work, const struct fit_passes *passes, double variance)
{
    const struct fit_system *system = &passes->system;
    double factors[FIT_COLUMNS], energies_j[FIT_COLUMNS] = {0};

    for (size_t k = 0; k < passes->count; k++) {
        for (size_t j = 0; j < passes->count; j++) {
            energies_j[k] += passes->inverse[k][j] * system->xy[j] * system->scale[k];
        }
        work->pass_j[passes->column[k]] = energies_j[k];
    }
    for (size_t i = 0; i < work->groups.count; i++) {
        for (size_t k = 0; k < passes->count; k++) {
            work->p[i] += passes->moved_w[i][k] * energies_j[k];
        }
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        size_t group = work->groups.of[i];
        double square = 0;

        if (group == NO_GROUP) {
            continue;
        }
        for (size_t k = 0; k < passes->count; k++) {
            factors[k] = passes->moved_w[group][k] * fit_work_time_s(work, i);
            factors[k] += passes->column[k] == i ? fit_work_passes(work, i) : 0;
            factors[k] *= system->scale[k];
        }
        for (size_t k = 0; k < passes->count; k++) {
            for (size_t j = 0; j < passes->count; j++) {
                square += factors[k] * passes->inverse[k][j] * factors[j];
            }
        }
        work->passes_j[i] = NORMAL * sqrt(fmax(square, 0) * variance);
    }
}

static void fit_work_count_passes(struct fit_work *work)
{
    struct fit_passes *passes = calloc(1, sizeof(*passes));
    double variance;

    if (!passes || fit_work_lacks_rows(work)) {
        free(passes);
        return;
    }
    fit_passes_choose(work, passes);
    fit_passes_move(work, passes);
    variance = fit_within_variance(&work->within, &work->total, &work->system, work->noise_j);
    variance = fit_passes_fill(work, passes, variance);
    if (passes->count > 0 && variance > 0 &&
        fit_system_invert(&passes->system, passes->inverse) == passes->count) {
        fit_passes_use(work, passes, variance);
    }
    free(passes);
}

static void fit_work_run(struct fit_work *work, struct fit_part parts[FIT_COLUMNS])
{
    double threads_s = 0, p_w[FIT_COLUMNS];

    for (size_t i = FIT_PARTS; i < FIT_COLUMNS; i++) {
        threads_s += work->fit->sums.x[i];
        work->parts += work->fit->sums.x[i] > 0;
    }
    work->thread_w = threads_s > 0 ? work->fit->sums.y / threads_s : 0;
    fit_sums_total(&work->fit->sums, &work->total);
    fit_work_begin(work, threads_s > 0 && fit_work_has_base(work));
    while (fit_work_narrow(work)) {
    }
    fit_work_powers(work, p_w);
    fit_doubts_within(&work->doubts, p_w, work->fit->sums.x, work->doubt_w);
    fit_work_count_passes(work);
    fit_work_share(work, parts);
}

int fit_solve(const struct fit *fit, double noise_j, struct fit_part parts[FIT_COLUMNS])
{
    struct fit_work *work = calloc(1, sizeof(*work));

    if (!work) {
        errno = ENOMEM;
        return -1;
    }
    work->fit = fit;
    work->noise_j = noise_j;
    work->within.noise_j = noise_j;
    fit_work_run(work, parts);
    free(work);
    return 0;
}
