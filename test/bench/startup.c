/* SPDX-License-Identifier: BSD-3-Clause */
/* What `atime true` takes longer than `true`. */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/meters.h"
#include "bench/parts.h"
#include "session/clock.h"

#define EVENTS 8
#define PAIRS 40
#define QUICK_PAIRS 4
#define ADDED_LIMIT_MS 10

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
        bench_die("true, or atime, does not run");
    }
    return (double)(clock_monotonic_ns() - start_ns) / 1e6;
}

void bench_startup(struct bench_table *table, bool quick)
{
    static char atime[] = BENCH_ATIME, program[] = "true";
    char *const timed[] = {atime, program, NULL}, *const bare[] = {program, NULL};
    struct launch ours = {.argv = timed}, theirs = {.argv = bare};
    struct bench_meters meters;
    struct bench_row *row =
        bench_table_add(table, (struct bench_row){.what = "wall time of atime true, 8 events",
                                                  .unit = "ms",
                                                  .relation = BENCH_ADDED,
                                                  .limit = ADDED_LIMIT_MS});

    bench_meters_create(&meters, EVENTS);
    setenv("APAPI_SOURCES", "sysfs", 1);
    posix_spawn_file_actions_init(&ours.silent);
    posix_spawn_file_actions_addopen(&ours.silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    theirs.silent = ours.silent;
    bench_compare(row, quick ? QUICK_PAIRS : PAIRS, (struct bench_side){run_program, &ours},
                  (struct bench_side){run_program, &theirs});
    posix_spawn_file_actions_destroy(&ours.silent);
    unsetenv("APAPI_SOURCES");
    bench_meters_destroy(&meters);
}
