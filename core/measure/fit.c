/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/fit.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "measure/fit_system.h"

#define BLOCKS 64          /* number of blocks of rows, whose sums show the energies of passes */
#define PRODUCT_DOUBT 1.2  /* times half the energy of a pair: which part has it is not known */
#define PRODUCT_SEEN 1.5   /* standard errors: a greater power of a pair is no chance */
#define EDGE_TIMES 0.5     /* times the greatest power: how far the powers of parts are apart */
#define ANSWERED_MOST 0.98 /* greatest share of a high power that the next row makes up for */
#define FLATTER 2.5        /* times the error by a cap that always acts at the same speed */
#define VAGUE 0.5          /* times a thread's mean power: a less certain part is not told apart */
#define POSSIBLE_TIMES 2   /* standard errors by which a power may be below 0 */
#define SPANS 16           /* spans of the run, each with another power of other programs */
#define SPANS_WEIGHED 4    /* least number of spans that show which one is unusual */
#define SPAN_ROWS 8        /* least rows of a span */
#define ROW_UPDATES 4      /* least updates of the meter in a row, as a row may lack one of them */
#define ROWS_FREE 5        /* with fewer rows beyond the number of parts, no part is told apart */
#define LIKELY_TIMES 3     /* times the mean power: how far from it a part's power likely is */
#define PRODUCTS 12        /* most pairs of parts that have a power of their own */
#define PRODUCT_LEAST 1e-6 /* least share of a pair's squares that columns do not explain */
#define PRODUCT_TIMES 0.5  /* times the mean power: likely power of a pair */
#define PASS_S 0.02        /* longer passes have no energy besides that of their power [s] */
#define OFFSET_MOST 0.95   /* greatest share of a span's mean that is taken from its rows */
#define UNUSUAL 10      /* times the median: the rows of a span with greater squares count less */
#define BASE_VAGUE 0.25 /* times the whole energy: a base is more certain than this */
#define BASE_LEAST 0.01 /* least share of FIT_INSIDE that the threads' times do not explain */
#define LEAST_W 1e-9    /* mean power of a meter that never counts [W] */
#define ROUNDING 1e-7   /* times the energy of a row: its rounding */

/* A power: that of a column, or that of a pair of columns, as far as both are active together. */
struct model_unknown {
    size_t one, other; /* columns; twice the same for a column's own power */
    double prior_w, likely_w;
    double time_s; /* active time; without a base only in intervals of several columns [s] */
};

/* The passes of a column may have an energy besides that of the column's power. */
struct model_pass {
    size_t column;
    double likely_j, count;
    double edges; /* variance of a block's passes, as meter and passes have no common moments */
};

struct model_row {
    double y, wall_s, outside_s;
    double x[FIT_UNKNOWNS], passes[FIT_COLUMNS];
};

/* Sums of products over rows. */
struct model_sums {
    double xy[FIT_UNKNOWNS], xx[FIT_UNKNOWNS][FIT_UNKNOWNS];
    double x_passes[FIT_UNKNOWNS][FIT_COLUMNS];
};

struct model_answer {
    double p_w[FIT_UNKNOWNS], pass_j[FIT_COLUMNS];
    double moved[FIT_COLUMNS][FIT_UNKNOWNS]; /* by pass: how 1 J of a pass changes the powers */
    struct fit_system powers, passes;        /* factored */
};

struct model {
    const struct fit *fit;
    double noise_j, thread_w, mean_w;
    bool based;      /* FIT_OUTSIDE is active all the time */
    bool lacks;      /* there are too few rows to tell any part from others */
    size_t count;    /* number of rows */
    size_t together; /* rows of the fit in each row */
    size_t blocks, spans;
    size_t columns, column[FIT_COLUMNS]; /* the active columns */
    size_t size;                         /* number of unknowns: first the columns' powers */
    struct model_unknown unknown[FIT_UNKNOWNS];
    size_t pass_count;
    struct model_pass pass[FIT_COLUMNS];
    double variance, block_variance; /* of the unexplained energy of a row, of a block */
    struct model_row rows[FIT_ROWS], block[BLOCKS];
    struct model_sums all;
    struct model_answer answer;
    struct fit_system energies, passes_inverse; /* results; before the end also scratch space */
    double energy_j[FIT_COLUMNS];               /* from the powers alone */
    double given_j[FIT_COLUMNS], edges_j[FIT_COLUMNS];
    double edge_s2[FIT_COLUMNS]; /* part of a column's sum of squares by the moments of readings */
    double flatter; /* times its distance from the mean, a part's energy may be farther from it */
};

/* --- rows ----------------------------------------------------------------------------------- */

/* @return in which part of the run a row lies, if the run has `parts` parts. */
static size_t model_part(const struct model *model, size_t row, size_t parts)
{
    return row * parts / model->count;
}

static void model_row_add(struct model_row *sum, const struct model_row *row, double times)
{
    sum->y += times * row->y;
    for (size_t i = 0; i < FIT_UNKNOWNS; i++) {
        sum->x[i] += times * row->x[i];
    }
    for (size_t k = 0; k < FIT_COLUMNS; k++) {
        sum->passes[k] += times * row->passes[k];
    }
}

static void model_row_take(const struct model *model, struct model_row *row,
                           const struct fit_row *from)
{
    row->y += from->y;
    row->wall_s += from->x[FIT_OUTSIDE] + from->x[FIT_INSIDE];
    row->outside_s += from->x[FIT_OUTSIDE];
    for (size_t i = 0; i < model->columns; i++) {
        bool all = model->based && model->column[i] == FIT_OUTSIDE;

        row->x[i] += from->x[model->column[i]] + (all ? from->x[FIT_INSIDE] : 0);
    }
    for (size_t k = 0; k < model->pass_count; k++) {
        row->passes[k] += from->passes[model->column[model->pass[k].column]];
    }
}

/* Fill the rows with what was measured. */
static void model_fill(struct model *model)
{
    memset(model->rows, 0, model->count * sizeof(*model->rows));
    for (size_t i = 0; i < model->fit->used; i++) {
        model_row_take(model, &model->rows[i / model->together], &model->fit->rows[i]);
    }
    for (size_t r = 0; r < model->count; r++) {
        struct model_row *row = &model->rows[r];

        for (size_t i = model->columns; i < model->size; i++) {
            const struct model_unknown *both = &model->unknown[i];

            row->x[i] = row->x[both->one] * row->x[both->other] / row->wall_s;
        }
    }
}

/*
 * Take from the rows of each span a part of their mean, which is the power of other programs.
 * @param offset_w2  variance of the power of other programs [W^2]; infinite: any power
 */
static void model_take_offsets(struct model *model, double offset_w2)
{
    for (size_t from = 0, to; from < model->count; from = to) {
        size_t span = model_part(model, from, model->spans);
        struct model_row sum = {0};
        double square = 0, part;

        for (to = from; to < model->count && model_part(model, to, model->spans) == span; to++) {
            square += model->rows[to].wall_s * model->rows[to].wall_s;
            model_row_add(&sum, &model->rows[to], model->rows[to].wall_s);
        }
        part = 1 - sqrt(model->variance / (model->variance + square * offset_w2));
        for (size_t r = from; r < to; r++) {
            model_row_add(&model->rows[r], &sum,
                          -fmin(part, OFFSET_MOST) * model->rows[r].wall_s / square);
        }
    }
}

static void model_sum(struct model *model)
{
    memset(&model->all, 0, sizeof(model->all));
    memset(model->block, 0, sizeof(model->block));
    for (size_t r = 0; r < model->count; r++) {
        const struct model_row *row = &model->rows[r];

        for (size_t i = 0; i < model->size; i++) {
            model->all.xy[i] += row->x[i] * row->y;
            for (size_t j = 0; j < model->size && row->x[i] != 0; j++) {
                model->all.xx[i][j] += row->x[i] * row->x[j];
            }
            for (size_t k = 0; k < model->pass_count && row->x[i] != 0; k++) {
                model->all.x_passes[i][k] += row->x[i] * row->passes[k];
            }
        }
        model_row_add(&model->block[model_part(model, r, model->blocks)], row, 1);
    }
}

/* --- unknowns ------------------------------------------------------------------------------- */

static void model_choose_columns(struct model *model)
{
    const struct fit *fit = model->fit;
    size_t threads = 0;

    model->columns = model->pass_count = 0;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        bool outside = i == FIT_OUTSIDE;
        double mean_w = outside ? model->mean_w : model->thread_w;

        if ((fit->sums.x[i] > 0 && i != FIT_INSIDE) || (outside && model->based)) {
            model->unknown[model->columns] = (struct model_unknown){
                .one = model->columns,
                .other = model->columns,
                .prior_w = outside ? mean_w / 2 : mean_w,
                .likely_w = LIKELY_TIMES * mean_w,
                .time_s = model->based ? fit->sums.x[i] + (outside ? fit->sums.x[FIT_INSIDE] : 0)
                                       : fmax(fit->sums.x[i] - fit->pure_x[i], 0),
            };
            model->column[model->columns++] = i;
            threads += i >= FIT_PARTS;
        }
    }
    model->size = model->columns;
    model->lacks = model->count < threads + ROWS_FREE;
}

/* Choose the pairs of parts that are most often active together: a power may depend on what else
 * is active, or on the part's share of the time. */
static void model_choose_products(struct model *model)
{
    double least = INFINITY, most = 1;

    for (size_t n = 0; n < PRODUCTS && most > 0; n++) {
        struct model_unknown *best = &model->unknown[model->size];

        *best = (struct model_unknown){.likely_w = PRODUCT_TIMES * model->thread_w};
        most = 0;
        for (size_t k = 0; k < model->columns * model->columns; k++) {
            size_t i = k / model->columns, j = k % model->columns;
            bool pair = j < i && model->column[j] >= FIT_PARTS; /* a pair of two parts */
            double both = pair ? model->all.xx[i][j] : 0;

            if (both > most && both < least) {
                most = both;
                best->one = i;
                best->other = j;
            }
        }
        least = most;
        model->size += most > 0;
    }
}

static void model_choose_passes(struct model *model)
{
    const struct fit *fit = model->fit;
    double wall_s = fit->sums.x[FIT_OUTSIDE] + fit->sums.x[FIT_INSIDE];

    for (size_t i = 0; i < model->columns; i++) {
        size_t column = model->column[i];
        double least_s = column >= FIT_PARTS ? fit->lengths[column].least_s : 0;

        if (least_s > 0 && fit->sums.x[column] < PASS_S * fit->sums.passes[column]) {
            model->pass[model->pass_count++] = (struct model_pass){
                .column = i,
                .likely_j = model->thread_w * least_s,
                .count = fit->sums.passes[column] - (model->based ? 0 : fit->pure_passes[column]),
                .edges = fit->sums.x[column] / wall_s,
            };
        }
    }
}

/* --- powers and passes ------------------------------------------------------------------------ */

/* Find the powers by least squares; as far as the rows show nothing, a power is the mean power. */
static void model_solve_powers(struct model *model)
{
    struct model_answer *answer = &model->answer;

    answer->powers.size = model->size;
    for (size_t i = 0; i < model->size; i++) {
        const struct model_unknown *unknown = &model->unknown[i];
        double prior = model->variance / (unknown->likely_w * unknown->likely_w);

        memcpy(answer->powers.a[i], model->all.xx[i], sizeof(model->all.xx[i]));
        answer->powers.a[i][i] += prior;
        answer->p_w[i] = model->all.xy[i] + prior * unknown->prior_w;
    }
    fit_system_factor(&answer->powers);
    fit_system_solve(&answer->powers, answer->p_w);
}

/* @return the energy that the powers do not explain. */
static double model_left_j(const struct model *model, const struct model_row *row)
{
    double left_j = row->y;

    for (size_t i = 0; i < model->size; i++) {
        left_j -= model->answer.p_w[i] * row->x[i];
    }
    return left_j;
}

static void model_find_variance(struct model *model)
{
    double least_j = fmax(model->noise_j, ROUNDING * model->fit->sums.y / (double)model->count);
    double of_rows = 0, of_blocks = 0, count = (double)model->count, size = (double)model->size;

    for (size_t r = 0; r < model->count; r++) {
        of_rows += pow(model_left_j(model, &model->rows[r]), 2);
    }
    for (size_t b = 0; b < model->blocks; b++) {
        of_blocks += pow(model_left_j(model, &model->block[b]), 2);
    }
    model->variance = fmax(of_rows / fmax(count - size, 1), least_j * least_j);
    model->block_variance =
        fmax(of_blocks / fmax((double)model->blocks - size, 1), model->variance);
    if (model->lacks) {
        model->variance = model->fit->sums.y * model->fit->sums.y;
    }
}

static void model_solve_exactly(struct model *model)
{
    model->variance = 0;
    model_sum(model);
    model_solve_powers(model);
}

/*
 * The meter shows the energy of some moment before a reading. So the order of readings and passes
 * shows nothing: numbers of passes that differ by no more than this are taken as equal.
 */
static void model_doubt_edges(struct model *model)
{
    struct fit_system *system = &model->answer.passes, *doubted = &model->energies;
    const struct fit_system *whole = &model->passes_inverse;
    double *pass_j = model->answer.pass_j, right[FIT_COLUMNS] = {0};

    model->passes_inverse = *system;
    *doubted = *system;
    for (size_t k = 0; k < whole->size; k++) {
        doubted->a[k][k] += model->pass[k].edges * (double)model->blocks;
    }
    fit_system_factor(doubted);
    fit_system_solve(doubted, pass_j);
    for (size_t k = 0; k < whole->size; k++) {
        double column[FIT_UNKNOWNS];

        memcpy(column, whole->a[k], sizeof(column));
        fit_system_solve(doubted, column);
        for (size_t j = 0; j < whole->size; j++) {
            right[k] += whole->a[k][j] * pass_j[j];
            system->a[j][k] = 0;
            for (size_t i = 0; i < whole->size; i++) {
                system->a[j][k] += whole->a[j][i] * column[i];
            }
        }
    }
    memcpy(pass_j, right, sizeof(right));
}

/* Sum up what the powers do not explain in the blocks. */
static void model_sum_passes(const struct model *model, struct model_answer *answer)
{
    struct fit_system *system = &answer->passes;

    memset(system, 0, sizeof(*system));
    memset(answer->pass_j, 0, sizeof(answer->pass_j));
    system->size = model->pass_count;
    for (size_t b = 0; b < model->blocks; b++) {
        const struct model_row *block = &model->block[b];
        double left_j = model_left_j(model, block), beside[FIT_COLUMNS];

        for (size_t k = 0; k < model->pass_count; k++) {
            beside[k] = block->passes[k];
            for (size_t i = 0; i < model->size; i++) {
                beside[k] += answer->moved[k][i] * block->x[i];
            }
            answer->pass_j[k] += beside[k] * left_j;
            for (size_t j = 0; j <= k; j++) {
                system->a[k][j] += beside[k] * beside[j];
                system->a[j][k] = system->a[k][j];
            }
        }
    }
}

/* Find the energies of passes, and the powers that belong to them. */
static void model_solve_passes(struct model *model)
{
    struct model_answer *answer = &model->answer;

    for (size_t k = 0; k < model->pass_count; k++) {
        for (size_t i = 0; i < model->size; i++) {
            answer->moved[k][i] = -model->all.x_passes[i][k];
        }
        fit_system_solve(&answer->powers, answer->moved[k]);
    }
    model_sum_passes(model, answer);
    model_doubt_edges(model);
    for (size_t k = 0; k < model->pass_count; k++) {
        double likely_j = model->pass[k].likely_j;

        answer->passes.a[k][k] += model->block_variance / (likely_j * likely_j);
    }
    fit_system_factor(&answer->passes);
    fit_system_solve(&answer->passes, answer->pass_j);
    for (size_t k = 0; k < model->pass_count; k++) {
        for (size_t i = 0; i < model->size; i++) {
            answer->p_w[i] += answer->moved[k][i] * answer->pass_j[k];
        }
    }
}

/* --- what others draw ----------------------------------------------------------------------- */

/* @return the variance of the power of other programs between spans [W^2]. */
static double model_find_offset_w2(struct model *model)
{
    struct model_row span[SPANS] = {{0}}, mean = {0};
    double squares = 0, noise = 0, count = (double)model->spans;

    model_take_offsets(model, INFINITY);
    model_solve_exactly(model);
    model_find_variance(model);
    model_solve_powers(model);
    model_fill(model);
    for (size_t r = 0; r < model->count; r++) {
        size_t g = model_part(model, r, model->spans);
        double wall_s = model->rows[r].wall_s;

        span[g].wall_s += wall_s * wall_s;
        model_row_add(&span[g], &model->rows[r], wall_s);
    }
    for (size_t g = 0; g < model->spans; g++) {
        model_row_add(&mean, &span[g], 1 / span[g].wall_s / count);
    }
    for (size_t g = 0; g < model->spans; g++) {
        struct model_row apart = {0};
        double moved[FIT_UNKNOWNS];

        model_row_add(&apart, &span[g], 1 / span[g].wall_s);
        model_row_add(&apart, &mean, -1);
        squares += pow(model_left_j(model, &apart), 2);
        noise += 1 / span[g].wall_s;
        memcpy(moved, apart.x, sizeof(moved));
        fit_system_solve(&model->answer.powers, moved);
        for (size_t i = 0; i < model->size; i++) {
            noise += moved[i] * apart.x[i];
        }
    }
    return fmax((squares - noise * model->variance) / (count - 1), 0);
}

/* Give less weight to rows of spans with unusual squares, in which other programs begin or end. */
static void model_weigh(struct model *model)
{
    double left_j2[SPANS] = {0}, sorted[SPANS], most_j2;

    for (size_t r = 0; r < model->count; r++) {
        left_j2[model_part(model, r, model->spans)] += pow(model_left_j(model, &model->rows[r]), 2);
    }
    memcpy(sorted, left_j2, sizeof(sorted));
    qsort(sorted, model->spans, sizeof(*sorted), compare_double);
    most_j2 = UNUSUAL * sorted[model->spans / 2];
    for (size_t r = 0; r < model->count; r++) {
        double square = left_j2[model_part(model, r, model->spans)];
        struct model_row *row = &model->rows[r];

        if (square > most_j2) {
            const struct model_row whole = *row;

            model_row_add(row, &whole, sqrt(most_j2 / square) - 1);
        }
    }
}

/* Give the rest of each span's energy to the base; without a base, to all columns by their time. */
static void model_give(struct model *model)
{
    double left_j[SPANS] = {0}, all_s[SPANS] = {0}, time_s[FIT_COLUMNS][SPANS] = {{0}};

    model_fill(model);
    for (size_t r = 0; r < model->count; r++) {
        const struct model_row *row = &model->rows[r];
        size_t g = model_part(model, r, model->spans);
        double threads_s = 0;

        left_j[g] += model_left_j(model, row);
        all_s[g] += row->wall_s;
        for (size_t k = 0; k < model->pass_count; k++) {
            left_j[g] -= model->answer.pass_j[k] * row->passes[k];
        }
        for (size_t i = 0; i < model->columns; i++) {
            threads_s += model->column[i] >= FIT_PARTS ? row->x[i] : 0;
        }
        for (size_t i = 0; i < model->columns; i++) {
            if (model->column[i] == FIT_OUTSIDE) {
                time_s[i][g] += model->based ? row->wall_s : row->outside_s;
            } else if (!model->based && threads_s > 0) {
                time_s[i][g] += (row->wall_s - row->outside_s) * row->x[i] / threads_s;
            }
        }
    }
    for (size_t i = 0; i < model->columns; i++) {
        double whole_s = model->fit->sums.x[model->column[i]];
        double mixed = model->based ? 1 : model->unknown[i].time_s / whole_s;

        model->given_j[i] = 0;
        for (size_t g = 0; g < model->spans; g++) {
            model->given_j[i] += mixed * left_j[g] * time_s[i][g] / all_s[g];
        }
    }
}

/* --- how sure it is ------------------------------------------------------------------------- */

/* @return the time with which an unknown counts for a column [s]: of a pair half its time. */
static double model_own_s(const struct model *model, size_t unknown, size_t column)
{
    const struct model_unknown *of = &model->unknown[unknown];

    return of->time_s / 2 * ((of->one == column) + (of->other == column));
}

/*
 * The meter shows the energy of some moment before a reading, so that at both edges a part's time
 * belongs to another interval. Times that vary by no more than this show nothing of powers.
 */
static void model_find_edges(struct model *model)
{
    const struct fit *fit = model->fit;
    double update_s = model->noise_j / FIT_UPDATE_NOISE / model->mean_w;
    double wall_s = fit->sums.x[FIT_OUTSIDE] + fit->sums.x[FIT_INSIDE];

    for (size_t i = 0; i < model->columns; i++) {
        size_t column = model->column[i];
        double time_s = fit->sums.x[column], passes = fit->sums.passes[column], square = 0;
        double pass_s = passes > 0 ? fmin(update_s, time_s / passes) : update_s;

        for (size_t r = 0; r < fit->used; r++) {
            const struct fit_row *row = &fit->rows[r];

            square += pow(
                row->x[column] - time_s / wall_s * (row->x[FIT_OUTSIDE] + row->x[FIT_INSIDE]), 2);
        }
        model->edge_s2[i] =
            column < FIT_PARTS
                ? 0
                : fmin(square, (double)model->count * time_s / wall_s * pass_s * update_s);
    }
}

/* @param moved  by unknown: how it changes with the energy of a column */
static double model_edges_j(const struct model *model, const double moved[FIT_UNKNOWNS])
{
    double sum = 0, mean = 0, square = 0, power_w = model->thread_w;

    for (size_t i = 0; i < model->columns; i++) {
        sum += model->edge_s2[i];
        mean += model->edge_s2[i] * moved[i];
    }
    for (size_t i = 0; i < model->columns; i++) {
        power_w = fmax(power_w, model->answer.p_w[i]);
        square += sum > 0 ? pow(model->edge_s2[i] * (moved[i] - mean / sum), 2) : 0;
    }
    return EDGE_TIMES * power_w * sqrt(square);
}

/*
 * A power cap makes up for a high power by a low power a little later. As far as both are in the
 * same row, the powers of parts seem less different than they are. The next rows show how much.
 */
static void model_look_back(struct model *model)
{
    double now2 = 0, both = 0, square = 0, left = 0, left_now = 0, mean_j = 0, before_j = 0;
    double answered, doubt, now_j;

    for (size_t r = 0; r < model->count; r++) {
        mean_j += model->rows[r].y - model_left_j(model, &model->rows[r]);
    }
    for (size_t r = 0; r < model->count; r++, before_j = now_j) {
        double left_j = model_left_j(model, &model->rows[r]);

        now_j = model->rows[r].y - left_j - mean_j / (double)model->count;
        now2 += now_j * now_j;
        both += now_j * before_j;
        square += before_j * before_j;
        left += left_j * before_j;
        left_now += left_j * now_j;
    }
    now2 = fmax(now2, DBL_MIN);
    square = fmax(square - both * both / now2, DBL_MIN); /* without what two rows have in common */
    answered = (left_now * both / now2 - left) / square;
    doubt = sqrt(model->variance / square);
    model->flatter = 0;
    if (answered > doubt) {
        answered = fmin(answered + FIT_NORMAL * doubt, ANSWERED_MOST);
        model->flatter = FLATTER * (-log1p(-answered) / answered - 1);
    }
}

/* Find the covariances of the columns' energies, for a variance of 1 of a row. */
static void model_find_covariance(struct model *model)
{
    struct fit_system *energies = &model->energies;
    double moved[FIT_UNKNOWNS];

    energies->size = model->columns;
    model_find_edges(model);
    for (size_t i = 0; i < model->columns; i++) {
        for (size_t u = 0; u < model->size; u++) {
            moved[u] = model_own_s(model, u, i);
        }
        fit_system_solve(&model->answer.powers, moved);
        model->edges_j[i] = model_edges_j(model, moved);
        for (size_t j = 0; j < model->columns; j++) {
            energies->a[i][j] = 0;
            for (size_t u = 0; u < model->size; u++) {
                energies->a[i][j] += moved[u] * model_own_s(model, u, j);
            }
        }
    }
}

/* @return the uncertainty of a column's energy by the energies of passes [J] */
static double model_passes_j(const struct model *model, size_t column)
{
    double factors[FIT_COLUMNS], square = 0;

    for (size_t k = 0; k < model->pass_count; k++) {
        factors[k] = model->pass[k].column == column ? model->pass[k].count : 0;
        for (size_t i = 0; i < model->size; i++) {
            factors[k] += model->answer.moved[k][i] * model_own_s(model, i, column);
        }
    }
    for (size_t k = 0; k < model->pass_count; k++) {
        for (size_t j = 0; j < model->pass_count; j++) {
            square += factors[k] * model->passes_inverse.a[k][j] * factors[j];
        }
    }
    return FIT_NORMAL * sqrt(square * model->block_variance);
}

/* @return the uncertainty of a column's energy by pairs: which part has theirs is not known [J] */
static double model_products_j(const struct model *model, size_t column)
{
    double sum_j = 0;

    for (size_t i = model->columns; i < model->size; i++) {
        double unit[FIT_UNKNOWNS] = {0}, power_w = fabs(model->answer.p_w[i]), doubt_w;

        unit[i] = 1;
        fit_system_solve(&model->answer.powers, unit);
        doubt_w = sqrt(model->variance * unit[i]);
        sum_j += PRODUCT_DOUBT * model_own_s(model, i, column) *
                 (power_w + (power_w > PRODUCT_SEEN * doubt_w ? PRODUCT_SEEN * doubt_w : 0));
    }
    return sum_j;
}

struct model_range {
    double less_j, more_j;
};

/* @return how far a column's energy may be too great and too small, with all others above 0. */
static struct model_range model_possible(const struct model *model, size_t column, double within_j)
{
    const struct fit_system *energies = &model->energies;
    double own = energies->a[column][column];
    struct model_range range = {fmin(within_j, model->energy_j[column]), within_j};

    for (size_t i = 0; i < model->columns; i++) {
        double moved = energies->a[i][column] / own;
        double apart = fmax(energies->a[i][i] - moved * energies->a[column][i], 0);
        double least_j = model->energy_j[i] + POSSIBLE_TIMES * sqrt(model->variance * apart);

        if (i != column && moved > 0) {
            range.less_j = fmin(range.less_j, least_j / moved);
        } else if (i != column && moved < 0) {
            range.more_j = fmin(range.more_j, least_j / -moved);
        }
    }
    return range.less_j < within_j && range.more_j < within_j && range.less_j + range.more_j > 0
               ? range
               : (struct model_range){within_j, within_j};
}

/* @return the column with which `column` is most easily confused. */
static size_t model_like(const struct model *model, size_t column)
{
    const struct fit_system *energies = &model->energies;
    size_t best = column;
    double most = -2;

    for (size_t i = 0; i < model->columns; i++) {
        double alike =
            -energies->a[i][column] / sqrt(energies->a[i][i] * energies->a[column][column]);

        if (i != column && alike > most) {
            most = alike;
            best = i;
        }
    }
    return model->column[best];
}

static void model_tell(const struct model *model, size_t i, struct fit_part *result)
{
    double freedom = model->lacks ? INFINITY : (double)model->count - (double)model->size;
    double time_s = model->unknown[i].time_s;
    double rows_j = fit_student(freedom) * sqrt(model->variance * model->energies.a[i][i]);
    struct model_range range =
        time_s > 0 ? model_possible(model, i, rows_j) : (struct model_range){0, 0};

    result->energy_j = model->energy_j[i] + model->given_j[i] + (range.more_j - range.less_j) / 2;
    for (size_t k = 0; k < model->pass_count; k++) {
        if (model->pass[k].column == i) {
            result->energy_j += model->answer.pass_j[k] * model->pass[k].count;
        }
    }
    result->energy_j = fmax(result->energy_j, 0);
    result->within_j = hypot((range.less_j + range.more_j) / 2,
                             hypot(model_passes_j(model, i), model->edges_j[i])) +
                       model_products_j(model, i);
    if (model->column[i] >= FIT_PARTS) {
        result->within_j += model->flatter * fabs(model->energy_j[i] - model->thread_w * time_s);
    }
    if (model->lacks ||
        (model->column[i] >= FIT_PARTS && result->within_j > VAGUE * model->thread_w * time_s)) {
        result->with = model_like(model, i);
    }
}

/* --- all of it ------------------------------------------------------------------------------ */

/* @return whether the threads' times leave some of FIT_INSIDE unexplained: a base is told apart. */
static bool model_may_have_base(struct model *model)
{
    struct fit_system *system = &model->energies;
    size_t size = 0;

    model->based = false;
    model_choose_columns(model);
    if (model->lacks) {
        return false;
    }
    for (size_t i = 0; i < model->columns; i++) {
        if (model->column[i] >= FIT_PARTS) {
            model->column[size++] = model->column[i];
        }
    }
    model->column[size] = FIT_INSIDE;
    model->size = model->columns = system->size = size + 1;
    model_fill(model);
    model_sum(model);
    for (size_t i = 0; i <= size; i++) {
        memcpy(system->a[i], model->all.xx[i], sizeof(model->all.xx[i]));
    }
    fit_system_factor(system);
    return pow(system->a[size][size], 2) >= BASE_LEAST * model->all.xx[size][size];
}

/* Drop the pairs that columns explain: they show nothing. */
static void model_drop_products(struct model *model)
{
    size_t kept = model->columns;

    model_solve_exactly(model);
    for (size_t i = model->columns; i < model->size; i++) {
        if (pow(model->answer.powers.a[i][i], 2) > PRODUCT_LEAST * model->all.xx[i][i]) {
            model->unknown[kept++] = model->unknown[i];
        }
    }
    model->size = kept;
    model_fill(model);
}

static void model_choose(struct model *model)
{
    model_choose_columns(model);
    model_fill(model);
    model_sum(model);
    if (model->lacks) {
        return;
    }
    model_choose_products(model);
    model_choose_passes(model);
    model_fill(model);
    model_drop_products(model);
    for (size_t r = 0; r < model->count; r++) {
        for (size_t i = model->columns; i < model->size; i++) {
            model->unknown[i].time_s += model->rows[r].x[i];
        }
    }
}

static void model_run(struct model *model, bool based, struct fit_part columns[FIT_COLUMNS])
{
    model->based = based;
    model_choose(model);
    if (model->spans > 1 && !model->lacks) {
        double offset_w2 = model_find_offset_w2(model);

        if (offset_w2 > 0) {
            model_take_offsets(model, offset_w2);
        }
    }
    model_solve_exactly(model);
    if (model->spans >= SPANS_WEIGHED && !model->lacks) {
        model_weigh(model);
        model_solve_exactly(model);
    }
    model_find_variance(model);
    model_solve_powers(model);
    model_look_back(model);
    model_solve_passes(model);
    fit_system_invert(&model->answer.passes, &model->passes_inverse);
    model_find_covariance(model);
    model_give(model);
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        columns[i] = (struct fit_part){NAN, NAN, 0, i};
    }
    for (size_t i = 0; i < model->columns; i++) {
        model->energy_j[i] = 0;
        for (size_t u = 0; u < model->size; u++) {
            model->energy_j[i] += model->answer.p_w[u] * model_own_s(model, u, i);
        }
    }
    for (size_t i = 0; i < model->columns; i++) {
        model_tell(model, i, &columns[model->column[i]]);
    }
}

static void model_begin(struct model *model, const struct fit *fit, double noise_j)
{
    double outside_s = fit->sums.x[FIT_OUTSIDE], wall_s = outside_s + fit->sums.x[FIT_INSIDE];
    double threads_s = 0, updates;

    for (size_t i = FIT_PARTS; i < FIT_COLUMNS; i++) {
        threads_s += fit->sums.x[i];
    }
    model->fit = fit;
    model->noise_j = noise_j;
    model->thread_w = threads_s > 0 ? fmax(fit->sums.y / (outside_s + threads_s), LEAST_W) : 0;
    model->mean_w = fmax(fit->sums.y / wall_s, LEAST_W);
    updates = ROW_UPDATES * noise_j / FIT_UPDATE_NOISE / model->mean_w * (double)fit->used / wall_s;
    model->together = (size_t)ceil(fmin(fmax(updates, 1), FIT_ROWS));
    model->count = (fit->used + model->together - 1) / model->together;
    model->blocks = model->count < BLOCKS ? model->count : BLOCKS;
    model->spans = model->count / SPAN_ROWS < SPANS ? model->count / SPAN_ROWS : SPANS;
    model->spans = model->spans > 0 ? model->spans : 1;
}

/* @return 0; -1 with ENOMEM */
static int model_solve(const struct fit *fit, double noise_j, struct fit_part columns[FIT_COLUMNS],
                       bool *based)
{
    struct model *model = calloc(1, sizeof(*model));

    if (!model) {
        return -1; /* ENOMEM */
    }
    model_begin(model, fit, noise_j);
    *based = false;
    if (model->thread_w > 0 && model_may_have_base(model)) {
        model_run(model, true, columns);
        *based = columns[FIT_OUTSIDE].within_j < BASE_VAGUE * fit->sums.y;
    }
    if (!*based) {
        model_run(model, false, columns);
    }
    free(model);
    return 0;
}

int fit_solve(const struct fit *fit, double noise_j, struct fit_part parts[FIT_COLUMNS])
{
    struct fit_part columns[FIT_COLUMNS];
    double shown_j = 0, mixed_j = fit->sums.y, factor;
    bool based;

    if (model_solve(fit, noise_j, columns, &based)) {
        return -1;
    }
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        shown_j += isnan(columns[i].energy_j) ? 0 : columns[i].energy_j;
        mixed_j -= based ? 0 : fit->pure_y[i];
    }
    factor = shown_j > 0 ? fmax(mixed_j, 0) / shown_j : 0;
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        bool alone = !based && fit->pure_x[i] > 0;

        parts[i] = (struct fit_part){NAN, NAN, 0, columns[i].with};
        if (!isnan(columns[i].energy_j)) {
            parts[i].energy_j = factor * columns[i].energy_j + (alone ? fit->pure_y[i] : 0);
            parts[i].within_j = columns[i].within_j;
            parts[i].within_j += alone ? 2 * noise_j * sqrt(2 * (double)fit->pure_runs[i]) : 0;
            parts[i].within_j = fmin(parts[i].within_j, fit->sums.y);
            parts[i].pure = alone ? fit->pure_x[i] / fit->sums.x[i] : 0;
        }
    }
    if (based) {
        parts[FIT_INSIDE].with = FIT_OUTSIDE;
    }
    return 0;
}
