/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with regions: THREADS threads that are in "main/short" and "main/long" by turns for
 * SECONDS, or until FILE exists, each turn busy for 2 and 6 ms. It says what it is about to do on
 * its standard output, and waits at the end for a line of its standard input if WAIT is there.
 *
 * usage: region_phases SECONDS|FILE THREADS [WAIT]     FILE: an absolute path
 */
#include <apapi/region.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static const char *file; /* NULL: it is the seconds that count */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void phase(const char *name, double length_s)
{
    double end = now() + length_s;

    apapi_region_begin(name);
    while (now() < end) {
    }
    apapi_region_end(name);
}

static void *run(void *unused)
{
    double end = now() + seconds;

    apapi_region_begin("main");
    while (file ? access(file, F_OK) != 0 : now() < end) {
        phase("short", 0.002);
        phase("long", 0.006);
    }
    apapi_region_end("main");
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    int count = argc > 2 ? atoi(argv[2]) : 1;

    if (argc > 1 && argv[1][0] == '/') {
        file = argv[1];
    } else {
        seconds = argc > 1 ? atof(argv[1]) : 1;
    }
    puts("begins");
    fflush(stdout);
    for (int i = 1; i < count && i < 64; i++) {
        pthread_create(&threads[i], NULL, run, NULL);
    }
    run(NULL);
    for (int i = 1; i < count && i < 64; i++) {
        pthread_join(threads[i], NULL);
    }
    apapi_region_fom("turns", 12.5, "turns/s");
    if (argc > 3) {
        puts("waits");
        fflush(stdout);
        getchar();
    }
    return 0;
}
