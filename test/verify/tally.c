/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/tally.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/text.h"

#define WRONG_SHARE 0.01
#define REMARK_SHARE 0.05
#define REMARKS_MOST 0.1

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
    if (result->elapsed_s >= 1) {
        tally->seconds++;
        tally->remarked += (result->flags & RUN_ROUGH) != 0 &&
                           result->uncertainty_j > REMARK_SHARE * result->energy_j;
    }
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
    tally->seconds += other->seconds;
    tally->remarked += other->remarked;
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

struct tally_bounds tally_bounds(uint64_t count, uint64_t all, double deviations)
{
    double n = (double)all, share = (double)count / n, z2 = deviations * deviations;
    double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = deviations / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));

    /* exact at the ends, where rounding would say a little more than 0 */
    return (struct tally_bounds){.least = count == 0 ? 0 : middle - half,
                                 .greatest = count == all ? 1 : middle + half};
}

struct figures tally_figures(struct tally *tally, const char *name, const char *what)
{
    const struct tally_bounds bounds = tally_bounds(tally->covered, tally->known, TALLY_95);
    double half =
        TALLY_SPREAD / 2 / sqrt((double)tally->known); /* of the ranks around the median */
    struct figures figures = {
        .runs = tally->runs,
        .known = tally->known,
        .covered = tally->covered,
        .covered_pct = tally->known ? 100 * (double)tally->covered / (double)tally->known : NAN,
        .least_pct = 100 * bounds.least,
        .greatest_pct = 100 * bounds.greatest,
        .worst = tally->known ? tally->worst : NAN,
        .unflagged = tally->unflagged,
        .rough = tally->rough,
        .seconds = tally->seconds,
        .remarked = tally->remarked};

    snprintf(figures.name, sizeof figures.name, "%s", name);
    snprintf(figures.what, sizeof figures.what, "%s", what);
    if (tally->known > 0) {
        qsort(tally->ratios, tally->known, sizeof *tally->ratios, tally_compare);
    }
    figures.median = tally_quantile(tally, 0.5);
    figures.slack = tally_quantile(tally, 0.05);
    figures.median_least = tally_quantile(tally, 0.5 - half);
    figures.median_greatest = tally_quantile(tally, 0.5 + half);
    return figures;
}

bool tally_is_right(const struct figures *figures)
{
    return figures->known == 0 ||
           100 * tally_bounds(figures->covered, figures->known, TALLY_SPREAD).greatest >= 95;
}

bool tally_is_quiet(const struct figures *figures)
{
    return figures->seconds == 0 ||
           tally_bounds(figures->remarked, figures->seconds, TALLY_SPREAD).least <= REMARKS_MOST;
}

void tally_clear(struct tally *tally)
{
    free(tally->ratios);
    memset(tally, 0, sizeof *tally);
}

/* --- the table of rates ---------------------------------------------------------------------- */

struct rate rate_table_goal(bool gauge)
{
    return (struct rate){.covered_pct = 95, .median = gauge ? 15 : 8, .unflagged_pct = 0};
}

/* The next word, or "" at the end. */
static char *rate_table_next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    size_t length = strcspn(word, " \t");

    *rest = word + length + (word[length] != '\0');
    word[length] = '\0';
    return word;
}

static bool rate_table_read_number(char **rest, double *value)
{
    struct real_number number;
    const char *word = rate_table_next_word(rest);

    if (real_number_parse(word, &number) || *number.rest || number.value < 0) {
        return false;
    }
    *value = number.value;
    return true;
}

static int rate_table_read_row(struct rate_table *rates, struct event_line *line,
                               struct apapi_error *err)
{
    struct rate *row = &rates->rows[rates->count];
    char *rest = line->text;

    if (rates->count == RATE_TABLE_MAX) {
        return apapi_fail(err, EINVAL, "%s:%zu: more than %d lines", rates->path, line->number,
                          RATE_TABLE_MAX);
    }
    snprintf(row->name, sizeof row->name, "%s", rate_table_next_word(&rest));
    if (!rate_table_read_number(&rest, &row->covered_pct) ||
        !rate_table_read_number(&rest, &row->median) ||
        !rate_table_read_number(&rest, &row->unflagged_pct) ||
        !rate_table_read_number(&rest, &row->rough_pct) || *rate_table_next_word(&rest)) {
        return apapi_fail(err, EINVAL,
                          "%s:%zu: expected the name of an ensemble and four numbers: covered "
                          "[%%], median of uncertainty / error, unflagged [%%], rough [%%]",
                          rates->path, line->number);
    }
    rates->count++;
    return 0;
}

int rate_table_read(struct rate_table *rates, const char *path, struct apapi_error *err)
{
    char *text = event_text_read(path, err);
    struct event_lines lines;
    struct event_line line;
    int rc = 0;

    if (!text) {
        return -1;
    }
    *rates = (struct rate_table){.path = path};
    lines = event_lines_of(text);
    while (rc == 0 && event_lines_next(&lines, &line)) {
        rc = rate_table_read_row(rates, &line, err);
    }
    free(text);
    return rc;
}

static const struct rate *rate_table_find(const struct rate_table *rates, const char *name)
{
    for (size_t i = 0; i < rates->count; i++) {
        if (strcmp(rates->rows[i].name, name) == 0) {
            return &rates->rows[i];
        }
    }
    return NULL;
}

/* A verdict of -1 is worse than listed, 1 better than listed where the goal is not listed. */

static int rate_table_judge_covered(const struct rate *row, const struct figures *figures,
                                    const struct rate *goal)
{
    const struct tally_bounds bounds = tally_bounds(figures->covered, figures->known, TALLY_SPREAD);

    if (100 * bounds.greatest < row->covered_pct) {
        return -1;
    }
    return row->covered_pct < goal->covered_pct && 100 * bounds.least > row->covered_pct;
}

static int rate_table_judge_median(const struct rate *row, const struct figures *figures,
                                   const struct rate *goal)
{
    if (figures->median_least > row->median) {
        return -1;
    }
    return row->median > goal->median && figures->median_greatest <= goal->median;
}

static int rate_table_judge_unflagged(const struct rate *row, const struct figures *figures,
                                      const struct rate *goal)
{
    const struct tally_bounds bounds =
        tally_bounds(figures->unflagged, figures->known, TALLY_SPREAD);

    if (100 * bounds.least > row->unflagged_pct) {
        return -1;
    }
    return row->unflagged_pct > goal->unflagged_pct && 100 * bounds.greatest < row->unflagged_pct;
}

/* A flag that is always raised says nothing: what is listed is no goal, but a limit. */
static int rate_table_judge_rough(const struct rate *row, const struct figures *figures)
{
    const struct tally_bounds bounds = tally_bounds(figures->rough, figures->known, TALLY_SPREAD);

    return 100 * bounds.least > row->rough_pct ? -1 : 0;
}

static const char *rate_table_word(int verdict)
{
    return verdict < 0 ? "worse" : "better";
}

static double rate_table_pct(uint64_t count, const struct figures *figures)
{
    return figures->known ? 100 * (double)count / (double)figures->known : 0;
}

/* The row as it would have to be. */
static void rate_table_suggest(const struct rate_table *rates, const struct figures *figures,
                               const struct rate *goal)
{
    fprintf(stderr, "  what it is now, for %s: %s %g %g %g %g\n", rates->path, figures->name,
            fmin(goal->covered_pct, floor(figures->covered_pct * 10) / 10),
            fmax(goal->median, ceil(figures->median * 10) / 10),
            ceil(rate_table_pct(figures->unflagged, figures) * 10) / 10,
            ceil(rate_table_pct(figures->rough, figures)));
}

static bool rate_table_report(const struct figures *figures, const char *what, double is,
                              double listed, int verdict)
{
    if (verdict) {
        fprintf(stderr, "%s: %s is %.4g, %s than %.4g, as it is listed\n", figures->name, what, is,
                rate_table_word(verdict), listed);
    }
    return verdict == 0;
}

bool rate_table_compare(const struct rate_table *rates, const struct figures *figures,
                        const struct rate *goal)
{
    const struct rate *row = rate_table_find(rates, figures->name);
    bool good = true;

    if (!row) {
        fprintf(stderr, "%s: not listed\n", figures->name);
        good = false;
    } else {
        good &= rate_table_report(figures, "covered [%]", figures->covered_pct, row->covered_pct,
                                  rate_table_judge_covered(row, figures, goal));
        good &= rate_table_report(figures, "the median of uncertainty / error", figures->median,
                                  row->median, rate_table_judge_median(row, figures, goal));
        good &= rate_table_report(figures, "the number of those wrong without a flag",
                                  (double)figures->unflagged,
                                  row->unflagged_pct / 100 * (double)figures->known,
                                  rate_table_judge_unflagged(row, figures, goal));
        good &= rate_table_report(figures, "rough [%]", rate_table_pct(figures->rough, figures),
                                  row->rough_pct, rate_table_judge_rough(row, figures));
    }
    if (!good) {
        rate_table_suggest(rates, figures, goal);
    }
    return good;
}
