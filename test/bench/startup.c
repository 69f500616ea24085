/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of starting: `atime true`, `apapi list`. */
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/meters.h"

#define EVENTS 8
/* Factors of the time of a program that does nothing. */
#define ATIME_LIMIT 11
#define LIST_LIMIT 4
#define PAPI_LIMIT 11

static char nothing[] = "true";

static double run_ours(void *argv)
{
    struct rusage usage;

    return bench_spawn(argv, &usage);
}

static double run_nothing(void *unused)
{
    (void)unused;
    return run_ours((char *[]){nothing, NULL});
}

/* Compare a program with `true`, which also takes a part of its time. */
static void add_program(struct bench_table *table, const char *what, double limit, char *argv[])
{
    bench_compare(table, (struct bench_row){what, "ms", 40, 4, limit}, argv, run_ours, run_nothing,
                  NULL);
}

void bench_startup(struct bench_table *table)
{
    static char atime[] = BENCH_ATIME, apapi[] = BENCH_APAPI, command[] = "list";
    char *list[] = {apapi, command, NULL};
    struct bench_meters meters;

    bench_meters_create(&meters, EVENTS);
    setenv("APAPI_SOURCES", "sysfs", 1);
    add_program(table, "wall time of atime true, 8 events", ATIME_LIMIT,
                (char *[]){atime, nothing, NULL});
    unsetenv("APAPI_SOURCES");
    setenv("APAPI_PAPI_LIBRARY", "/nonexistent", 1);
    add_program(table, "apapi list, 8 events, no PAPI", LIST_LIMIT, list);
    unsetenv("APAPI_PAPI_LIBRARY");
    if (WITH_PAPI) {
        add_program(table, "apapi list, 8 events, with PAPI", PAPI_LIMIT, list);
    }
    bench_meters_destroy(&meters);
}
