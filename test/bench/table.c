/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>
#include <stdio.h>

#include "bench/parts.h"

#define RULE_COLUMNS 99

struct bench_row *bench_table_add(struct bench_table *table, struct bench_row row)
{
    if (table->count == ROWS_MAX) {
        bench_die("the table is full");
    }
    table->rows[table->count] = row;
    return &table->rows[table->count++];
}

static const char *verdict(const struct bench_row *row)
{
    if (row->limit == 0) {
        return "";
    }
    return bench_row_within_limit(row) ? "yes" : "NO";
}

/* "1.07 x", "+2.31 ms", "1.07 y" */
static void format_relation(const struct bench_row *row, double value, char *text, size_t size)
{
    if (row->relation == BENCH_RATIO) {
        snprintf(text, size, "%.2f x", value);
    } else if (row->relation == BENCH_YARDSTICK) {
        snprintf(text, size, "%.2f y", value);
    } else {
        snprintf(text, size, "%+.2f %s", value, row->unit);
    }
}

static void print_row(const struct bench_row *row)
{
    char relation[32], limit[32] = "", yardstick[32] = "";

    format_relation(row, row->value, relation, sizeof relation);
    if (row->limit != 0) {
        format_relation(row, row->limit, limit, sizeof limit);
    }
    if (row->yardstick != 0) {
        snprintf(yardstick, sizeof yardstick, "%.2f", row->yardstick);
    }
    printf("%-44s %8.2f %8.2f %8s %-4s %9s %7s  %s\n", row->what, row->ours, row->bare, yardstick,
           row->unit, relation, limit, verdict(row));
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
                     "ok", bench_row_within_limit(row));
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

        if (bench_row_within_limit(row)) {
            continue;
        }
        excess = true;
        format_relation(row, row->value, relation, sizeof relation);
        format_relation(row, row->limit, limit, sizeof limit);
        fprintf(stderr, "apapi-bench: %s: %s, limit %s\n", row->what, relation, limit);
    }
    return excess;
}
