/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a region's begin and end, and of the first call. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/region.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "regions/program.h"
#include "session/live.h"

#define PASSES 2000
#define PAIRS 101, 11
/* Factors of the time of two looks at the clock. */
#define OFF_LIMIT 0.4
#define HANDLE_LIMIT 2.6
#define NAME_LIMIT 3
#define NAME "a region of a usual name"

static char live_path[] = "/dev/shm/apapi-bench-regions-XXXXXX";
static apapi_region handle;

/* Keeps the compiler from leaving out an empty call. */
static void bench_nothing(void)
{
    __asm__ volatile("" ::: "memory");
}

#define TIMED_PASSES(work)                                                                         \
    (void)unused;                                                                                  \
    BENCH_TIMED(clock_thread_cpu_ns, PASSES, 1, work)

static double run_loop(void *unused)
{
    TIMED_PASSES(bench_nothing());
}

static double run_handle(void *unused)
{
    TIMED_PASSES({
        apapi_region_enter(handle);
        apapi_region_leave(handle);
    });
}

static double run_name(void *unused)
{
    TIMED_PASSES({
        apapi_region_begin(NAME);
        apapi_region_end(NAME);
    });
}

/* The yardstick: what two calls need at least. */
static double run_clock(void *unused)
{
    TIMED_PASSES({
        ticks_now(program.clock);
        ticks_now(program.clock);
    });
}

/* @return the time of the first call in a process [us] */
static double run_first(void *unused)
{
    double us = 0;
    int ends[2];
    pid_t child;

    (void)unused;
    if (pipe(ends) || (child = fork()) < 0) {
        bench_die("no process");
    }
    if (child == 0) {
        uint64_t start_ns = clock_monotonic_ns();

        apapi_region_begin(NAME);
        us = (double)(clock_monotonic_ns() - start_ns) / 1e3;
        _exit(write(ends[1], &us, sizeof us) != sizeof us);
    }
    if (read(ends[0], &us, sizeof us) != sizeof us || waitpid(child, NULL, 0) != child) {
        bench_die("a first call");
    }
    close(ends[0]);
    close(ends[1]);
    return us;
}

static void compare(struct bench_table *table, const char *what, double limit, bench_side_f ours)
{
    bench_compare(table, (struct bench_row){what, "ns", PAIRS, limit}, NULL, ours, run_loop,
                  run_clock);
}

/* Make a live page as a session writes it. Its file stays open: the lock shows that it is written.
 */
static void make_live_page(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = mkstemp(live_path);
    struct apapi_live_page *page;

    if (file < 0 || ftruncate(file, sizeof *page) || fcntl(file, F_OFD_SETLK, &lock)) {
        bench_die(live_path);
    }
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        bench_die("mmap");
    }
    live_page_init(page);
    page->domains[APAPI_DOMAIN_PACKAGE].flags = APAPI_LIVE_MEASURED;
}

void bench_regions(struct bench_table *table)
{
    compare(table, "region outside of a step: by name", OFF_LIMIT, run_name);
    make_live_page();
    setenv(APAPI_LIVE_ENVIRONMENT, live_path, 1);
    program_want(); /* make it look again: the calls so far have found no step */
    bench_compare(table, (struct bench_row){"region: first call", "us", PAIRS, 0}, NULL, run_first,
                  NULL, NULL);
    handle = apapi_region_handle(NAME);
    compare(table, "region: begin and end by handle", HANDLE_LIMIT, run_handle);
    compare(table, "region: begin and end by name", NAME_LIMIT, run_name);
    unsetenv(APAPI_LIVE_ENVIRONMENT);
    unlink(live_path);
}
