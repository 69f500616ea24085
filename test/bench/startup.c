/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of starting: `atime true`, `apapi list`, a session. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/session.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/meters.h"

#define EVENTS 8
#define LIMIT 3 /* times a program that does nothing */
#define PAPI_LIMIT 10

static char nothing[] = "true";

struct launch {
    posix_spawn_file_actions_t silent;
    char *const *argv;
};

static double run_program(void *context)
{
    const struct launch *launch = context;
    uint64_t start_ns = clock_monotonic_ns();
    pid_t pid;
    int status;

    if (posix_spawnp(&pid, launch->argv[0], &launch->silent, NULL, launch->argv, environ) ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        bench_die("true, atime or apapi does not run");
    }
    return (double)(clock_monotonic_ns() - start_ns) / 1e6;
}

static void silence(posix_spawn_file_actions_t *silent)
{
    posix_spawn_file_actions_init(silent);
    posix_spawn_file_actions_addopen(silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
}

/* A row: how much longer a program takes than `true`, which also takes part of ours. */
static void add_program(struct bench_table *table, const char *what, double limit,
                        char *const argv[])
{
    char *const bare[] = {nothing, NULL};
    struct launch ours = {.argv = argv}, theirs = {.argv = bare};
    struct bench_row row = {.unit = "ms", .pairs = 40, .quick_pairs = 4, .limit = 1 + limit};

    snprintf(row.what, sizeof row.what, "%s", what);
    silence(&ours.silent);
    theirs.silent = ours.silent;
    bench_compare(table, row, (struct bench_side){run_program, &ours},
                  (struct bench_side){run_program, &theirs}, BENCH_NO_YARDSTICK);
    posix_spawn_file_actions_destroy(&ours.silent);
}

void bench_add_startup(struct bench_table *table, const char *what, const char *sources)
{
    static char atime[] = BENCH_ATIME;

    setenv("APAPI_SOURCES", sources, 1);
    add_program(table, what, PAPI_LIMIT, (char *[]){atime, nothing, NULL});
    unsetenv("APAPI_SOURCES");
}

static void add_list(struct bench_table *table)
{
    static char apapi[] = BENCH_APAPI, command[] = "list";
    char *const argv[] = {apapi, command, NULL};

    setenv("APAPI_PAPI_LIBRARY", "/nonexistent", 1);
    add_program(table, "apapi list, 8 events, no PAPI", LIMIT, argv);
    unsetenv("APAPI_PAPI_LIBRARY");
    if (WITH_PAPI) {
        add_program(table, "apapi list, 8 events, with PAPI", PAPI_LIMIT, argv);
    }
}

/* From nothing to the first reading. */
static double run_session(void *context)
{
    const struct apapi_session_config config = {.components = "rapl", .sources = context};
    uint64_t start_ns = clock_monotonic_ns();
    struct apapi_session *session = apapi_session_create(&config, NULL);
    double took_ms;

    if (!session || apapi_session_start(session, 0, NULL)) {
        bench_die("a session does not start");
    }
    took_ms = (double)(clock_monotonic_ns() - start_ns) / 1e6;
    apapi_session_destroy(session);
    return took_ms;
}

static double run_bare(void *context)
{
    BENCH_TIMED(clock_monotonic_ns, 1, 1e6, bench_meters_read(context));
}

static void add_session(struct bench_table *table, struct bench_row row, char *sources,
                        struct bench_meters *meters)
{
    char *const argv[] = {nothing, NULL};
    struct launch launch = {.argv = argv};

    row.unit = "ms";
    row.pairs = 40;
    row.quick_pairs = 4;
    silence(&launch.silent);
    bench_compare(table, row, (struct bench_side){run_session, sources},
                  (struct bench_side){run_bare, meters}, (struct bench_side){run_program, &launch});
    posix_spawn_file_actions_destroy(&launch.silent);
}

void bench_startup(struct bench_table *table)
{
    static char sysfs[] = "sysfs";
    struct bench_meters meters;

    bench_meters_create(&meters, EVENTS);
    bench_add_startup(table, "wall time of atime true, 8 events", sysfs);
    add_list(table);
    add_session(table, (struct bench_row){.what = "session's start, 8 events", .limit = LIMIT},
                sysfs, &meters);
    if (WITH_PAPI) {
        add_session(table,
                    (struct bench_row){.what = "session's start, 8 events, PAPI tried first",
                                       .limit = PAPI_LIMIT},
                    NULL, &meters);
    }
    bench_meters_destroy(&meters);
}
