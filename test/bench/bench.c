/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define PAIRS_MAX 256
#define YARDSTICK_MIN 1e-9 /* a yardstick below the noise: the row is above every limit */
#define RULE_COLUMNS 99

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void bench_row_measure(struct bench_row *row)
{
    row->value = row->added / fmax(row->yardstick, YARDSTICK_MIN);
}

struct bench_row *bench_table_add(struct bench_table *table, struct bench_row row)
{
    if (table->count == ROWS_MAX) {
        bench_die("the table is full");
    }
    table->rows[table->count] = row;
    return &table->rows[table->count++];
}

struct bench_row *bench_compare(struct bench_table *table, struct bench_row about,
                                struct bench_side ours, struct bench_side bare,
                                struct bench_side yardstick)
{
    struct bench_row *row = bench_table_add(table, about);
    double our_costs[PAIRS_MAX], bare_costs[PAIRS_MAX], yardsticks[PAIRS_MAX];
    double values[PAIRS_MAX], added[PAIRS_MAX];
    size_t pairs = table->quick ? row->quick_pairs : row->pairs;

    ours.run(ours.context); /* caches, page faults and lazy binding are excluded */
    bare.run(bare.context);
    if (yardstick.run) {
        yardstick.run(yardstick.context);
        row->relation = BENCH_YARDSTICK;
    }
    for (size_t i = 0; i < pairs && i < PAIRS_MAX; i++) {
        bool ours_first = i % 2;

        if (ours_first) {
            our_costs[i] = ours.run(ours.context);
        }
        bare_costs[i] = bare.run(bare.context);
        if (!ours_first) {
            our_costs[i] = ours.run(ours.context);
        }
        yardsticks[i] = yardstick.run ? yardstick.run(yardstick.context) : 0;
        added[i] = our_costs[i] - bare_costs[i];
        values[i] = row->relation == BENCH_RATIO ? our_costs[i] / bare_costs[i] : added[i];
    }
    row->ours = median(our_costs, pairs);
    row->bare = median(bare_costs, pairs);
    row->value = median(values, pairs);
    row->added = median(added, pairs);
    row->yardstick = median(yardsticks, pairs);
    if (yardstick.run) {
        bench_row_measure(row);
    }
    return row;
}

static bool within_limit(const struct bench_row *row)
{
    return row->limit == 0 || row->value <= row->limit;
}

void bench_sleep(uint64_t ns, int flags)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_S),
                                  .tv_nsec = (long)(ns % NS_PER_S)};

    clock_nanosleep(CLOCK_MONOTONIC, flags, &time, NULL);
}

void bench_die(const char *what)
{
    fprintf(stderr, "apapi-bench: %s\n", what);
    exit(EXIT_FAILURE);
}

/* "1.07 x", "+2.31 ms", "1.07 y" */
static void format_relation(const struct bench_row *row, double value, char text[32])
{
    if (row->relation == BENCH_ADDED) {
        snprintf(text, 32, "%+.2f %s", value, row->unit);
    } else {
        snprintf(text, 32, "%.2f %c", value, row->relation == BENCH_RATIO ? 'x' : 'y');
    }
}

static void print_row(const struct bench_row *row)
{
    char relation[32], limit[32] = "", yardstick[32] = "";

    format_relation(row, row->value, relation);
    if (row->limit != 0) {
        format_relation(row, row->limit, limit);
    }
    if (row->yardstick != 0) {
        snprintf(yardstick, sizeof yardstick, "%.2f", row->yardstick);
    }
    printf("%-44s %8.2f %8.2f %8s %-4s %9s %7s  %s\n", row->what, row->ours, row->bare, yardstick,
           row->unit, relation, limit,
           row->limit == 0     ? ""
           : within_limit(row) ? "yes"
                               : "NO");
}

void bench_table_print(const struct bench_table *table)
{
    printf("%-44s %8s %8s %8s %-4s %9s %7s  %s\n", "what", "ours", "bare", "yardst.", "unit",
           "ratio", "limit", "ok");
    for (int i = 0; i < RULE_COLUMNS; i++) {
        putchar('-');
    }
    putchar('\n');
    for (size_t i = 0; i < table->count; i++) {
        print_row(&table->rows[i]);
    }
}

static json_t *encode_row(const struct bench_row *row)
{
    static const char *const relations[] = {"ratio", "added", "yardstick"};
    json_t *limit = row->limit != 0 ? json_real(row->limit) : json_null();

    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:s, s:f, s:o, s:b}", "what", row->what, "unit",
                     row->unit, "ours", row->ours, "bare", row->bare, "yardstick", row->yardstick,
                     "relation", relations[row->relation], "value", row->value, "limit", limit,
                     "ok", within_limit(row));
}

int bench_table_print_json(const struct bench_table *table)
{
    json_t *rows = json_array();
    int result;

    for (size_t i = 0; i < table->count; i++) {
        json_array_append_new(rows, encode_row(&table->rows[i]));
    }
    result = json_dumpf(rows, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(rows);
    return result;
}

bool bench_table_report_excess(const struct bench_table *table)
{
    bool excess = false;

    for (size_t i = 0; i < table->count; i++) {
        const struct bench_row *row = &table->rows[i];
        char relation[32], limit[32];

        if (!within_limit(row)) {
            excess = true;
            format_relation(row, row->value, relation);
            format_relation(row, row->limit, limit);
            fprintf(stderr, "apapi-bench: %s: %s, limit %s\n", row->what, relation, limit);
        }
    }
    return excess;
}
