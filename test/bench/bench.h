/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROWS_MAX 48

/** How a row's two figures are set against each other. */
enum bench_relation {
    BENCH_RATIO,    /* ours / bare */
    BENCH_ADDED,    /* ours - bare [unit]; no limit, which would depend on the machine */
    BENCH_YARDSTICK /* (ours - bare) / yardstick */
};

/** One line of the table: the cost of APAPI, and of the least code that could do the same. */
struct bench_row {
    char what[64];
    const char *unit;
    enum bench_relation relation;
    size_t pairs, quick_pairs; /* how often both sides are run; with --quick */
    double limit;              /* what `value` must not be above; 0: none */
    double ours;               /* medians of all repetitions [unit] */
    double bare;
    double yardstick; /* what the machine takes for work of the same character [unit]; 0: none */
    double value;     /* of the relation: the median over all pairs of repetitions */
    double added;     /* ours - bare: the same median, whatever the relation [unit] */
};

/** One side of a comparison: do the work once. @return what it cost, in the row's unit. */
struct bench_side {
    double (*run)(void *context);
    void *context;
};

#define BENCH_NO_YARDSTICK ((struct bench_side){NULL, NULL})

/** The end of a side: do `work` so many times. @return what one took on this clock, in units. */
#define BENCH_TIMED(clock, times, unit_ns, work)                                                   \
    uint64_t start_ns = clock();                                                                   \
    for (size_t turn = 0; turn < (size_t)(times); turn++) {                                        \
        work;                                                                                      \
    }                                                                                              \
    return (double)(clock() - start_ns) / (double)(unit_ns) / (double)(times)

struct bench_table {
    bool quick; /* check that it works, do not measure */
    size_t count;
    struct bench_row rows[ROWS_MAX];
};

/** @return a new row at the end of the table. */
struct bench_row *bench_table_add(struct bench_table *table, struct bench_row row);

/**
 * Add a row: run the sides in turn and fill in the medians. Whatever else the machine does
 * meanwhile falls on all halves of a pair alike, the shorter they are the more so. The yardstick is
 * work of a known size that gets slower with the machine as ours does: if there is one, the row's
 * relation is BENCH_YARDSTICK.
 */
struct bench_row *bench_compare(struct bench_table *table, struct bench_row row,
                                struct bench_side ours, struct bench_side bare,
                                struct bench_side yardstick);

/** Set `value` of a row with a yardstick from `added` and `yardstick`. */
void bench_row_measure(struct bench_row *row);

/** Sleep on CLOCK_MONOTONIC; `flags`: TIMER_ABSTIME or 0. */
void bench_sleep(uint64_t ns, int flags);

/** End the program: `what` failed, and without it there is nothing to compare. */
_Noreturn void bench_die(const char *what);

/** Of whom a made-up record is. */
struct bench_record {
    unsigned job, uid;
    unsigned node, nodes; /* the node is called node00017 */
};

/**
 * @return the line of a usual node, 4 KB: two packages with memory, four GPUs, three timelines. To
 *         be freed. Ends the program where that fails.
 */
char *bench_record_line(const struct bench_record *which);

/** jansson reads a line. Ends the program where it cannot. */
void bench_read_json(const char *line, size_t size);

/** A part of the benchmark adds its rows. */
typedef void (*bench_part_f)(struct bench_table *table);

void bench_tick(struct bench_table *table);
void bench_overflow(struct bench_table *table);
void bench_session(struct bench_table *table);
void bench_period(struct bench_table *table);
void bench_startup(struct bench_table *table);
void bench_papi(struct bench_table *table);
void bench_collect(struct bench_table *table);
void bench_live(struct bench_table *table);
void bench_regions(struct bench_table *table);
void bench_observe(struct bench_table *table);
void bench_records(struct bench_table *table);

/** Add a row: what `atime true` takes longer than `true` with these sources. */
void bench_add_startup(struct bench_table *table, const char *what, const char *sources);

#endif
