/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H
#include <stdbool.h>

#include "bench/compare.h"

#define ROWS_MAX 48

struct bench_table {
    size_t count;
    struct bench_row rows[ROWS_MAX];
};

/** A part of the benchmark adds its rows. `quick`: check that it works, do not measure. */
typedef void (*bench_part_f)(struct bench_table *table, bool quick);

void bench_tick(struct bench_table *table, bool quick);
void bench_overflow(struct bench_table *table, bool quick);
void bench_limits(struct bench_table *table, bool quick);
void bench_reading(struct bench_table *table, bool quick);
void bench_session(struct bench_table *table, bool quick);
void bench_period(struct bench_table *table, bool quick);
void bench_grid(struct bench_table *table, bool quick);
void bench_startup(struct bench_table *table, bool quick);
void bench_papi(struct bench_table *table, bool quick);
void bench_collect(struct bench_table *table, bool quick);
void bench_scan(struct bench_table *table, bool quick);
void bench_live(struct bench_table *table, bool quick);
void bench_regions(struct bench_table *table, bool quick);
void bench_observe(struct bench_table *table, bool quick);
void bench_records(struct bench_table *table, bool quick);

/** Add a row: how much longer a tick takes with a live page. */
void bench_live_tick(struct bench_table *table, bool quick);

/** Add a row: what `atime true` takes longer than `true` with these sources. */
void bench_add_startup(struct bench_table *table, bool quick, const char *what,
                       const char *sources);

/** @return a new row at the end of the table. */
struct bench_row *bench_table_add(struct bench_table *table, struct bench_row row);

/** At most 100 columns. */
void bench_table_print(const struct bench_table *table);

/** @return 0; -1 if it could not be written. */
int bench_table_print_json(const struct bench_table *table);

/** Say on standard error which rows are above their limits. @return whether there are any. */
bool bench_table_report_excess(const struct bench_table *table);

#endif
