/* SPDX-License-Identifier: BSD-3-Clause */
/* A region's begin and end, and the first call. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
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
#define PAIRS .pairs = 101, .quick_pairs = 11
#define HANDLE_LIMIT 2.6
#define NAME_LIMIT 1.3
#define OFF_LIMIT 2
#define FIRST_LIMIT 1
#define FIRST_PAGES 45 /* as many as the first call touches */
#define PAGE_BYTES 4096
#define HASH_START UINT64_C(14695981039346656037) /* FNV-1a */
#define HASH_PRIME UINT64_C(1099511628211)
#define NAME "a region of a usual name"
#define BY(text, most) ((struct bench_row){.what = text, .unit = "ns", PAIRS, .limit = most})

static char live_path[] = "/dev/shm/apapi-bench-regions-XXXXXX";
static apapi_region handle;

/* Keeps the compiler from calling nothing. */
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

static double run_clock(void *unused)
{
    TIMED_PASSES({
        ticks_now(program.clock);
        ticks_now(program.clock);
    });
}

static atomic_int off;
static int (*volatile look)(const char *);

/* A call that finds out that there is nothing to do. */
static int bench_look(const char *name)
{
    return atomic_load_explicit(&off, memory_order_acquire) ? *name : 0;
}

/* The yardstick of two calls outside of a step. */
static double run_look(void *unused)
{
    TIMED_PASSES({
        look(NAME);
        look(NAME);
    });
}

static volatile uint64_t hash_sink; /* it must not be optimised away */

static void bench_hash(const char *name)
{
    uint64_t hash = HASH_START;

    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * HASH_PRIME;
    }
    hash_sink = hash;
}

/* The yardstick of two calls by name: the looks at the clock, and the name's bytes. */
static double run_clock_and_name(void *unused)
{
    TIMED_PASSES({
        ticks_now(program.clock);
        bench_hash(NAME);
        ticks_now(program.clock);
        bench_hash(NAME);
    });
}

/* The yardstick of a first call: a file in memory that is made, mapped and touched. */
static int touch_pages(const char *name)
{
    char path[] = "/dev/shm/apapi-bench-pages-XXXXXX";
    int file = mkstemp(path);
    volatile char *pages;

    if (file < 0 || *name == '\0' || ftruncate(file, FIRST_PAGES * PAGE_BYTES)) {
        bench_die(path);
    }
    pages = mmap(NULL, FIRST_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED || unlink(path)) {
        bench_die("mmap");
    }
    for (size_t i = 0; i < FIRST_PAGES; i++) {
        pages[i * PAGE_BYTES] = 1;
    }
    return close(file);
}

/* @return [us] in a process that has made no call. */
static double run_first(void *first)
{
    double us = 0;
    int ends[2];
    pid_t child;

    if (pipe(ends) || (child = fork()) < 0) {
        bench_die("no process");
    }
    if (child == 0) {
        uint64_t start_ns = clock_monotonic_ns();

        (*(int (**)(const char *))first)(NAME);
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

/* The cost of two calls in a loop, in yardsticks. */
static void compare_added(struct bench_table *table, struct bench_row about, double (*ours)(void *),
                          double (*yardstick)(void *))
{
    bench_compare(table, about, (struct bench_side){ours, NULL},
                  (struct bench_side){run_loop, NULL}, (struct bench_side){yardstick, NULL});
}

/* A live page, as a session would write it. */
static struct apapi_live_page *make_live_page(void)
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
    return page; /* `file` stays open: its lock says that the page is written */
}

static int (*const our_begin)(const char *) = apapi_region_begin;
static int (*const our_yardstick)(const char *) = touch_pages;

/* In a process of its own, which has made no call. */
static void measure(struct bench_table *table)
{
    const struct bench_row first = {
        .what = "region: first call", .unit = "us", PAIRS, .limit = FIRST_LIMIT};

    look = bench_look;
    compare_added(table, BY("region outside of a step: by name", OFF_LIMIT), run_name, run_look);
    make_live_page();
    setenv(APAPI_LIVE_ENVIRONMENT, live_path, 1);
    program_want(); /* the calls so far have found no step */
    bench_compare(table, first, (struct bench_side){run_first, (void *)(uintptr_t)&our_begin},
                  (struct bench_side){run_loop, NULL},
                  (struct bench_side){run_first, (void *)(uintptr_t)&our_yardstick});
    handle = apapi_region_handle(NAME);
    compare_added(table, BY("region: begin and end by handle", HANDLE_LIMIT), run_handle,
                  run_clock);
    compare_added(table, BY("region: begin and end by name", NAME_LIMIT), run_name,
                  run_clock_and_name);
    unlink(live_path);
}

void bench_regions(struct bench_table *table)
{
    struct bench_table *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status = -1;

    if (shared == MAP_FAILED) {
        bench_die("no memory");
    }
    *shared = *table;
    child = fork();
    if (child == 0) {
        measure(shared);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        bench_die("the part 'regions'");
    }
    *table = *shared;
    munmap(shared, sizeof *shared);
}
