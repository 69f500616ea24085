/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * likwid_program: marked for LIKWID as in LIKWID's guide and examples, and for nothing else. Two
 * threads go three times through "work", once for each group. Each prints the passes, whether the
 * time is above 0, and the number of values. Then "first" and "second" overlap, "first" is reset,
 * and an end of "third" is missing.
 */
#include <likwid-marker.h>
#include <pthread.h>
#include <stdio.h>

static volatile double sink;

static void compute(void)
{
    for (int i = 1; i < 200000; i++) {
        sink += 1.0 / i;
    }
}

static void show(const char *tag)
{
    double values[16] = {0}, time = 0;
    int count = 16, passes = 0;

    LIKWID_MARKER_GET(tag, &count, values, &time, &passes);
    printf("%s passes %d time %d values %d\n", tag, passes, time > 0, count);
}

static void *run_thread(void *context)
{
    LIKWID_MARKER_THREADINIT;
    LIKWID_MARKER_REGISTER("work");
    for (int g = 0; g < perfmon_getNumberOfGroups(); g++) {
        for (int i = 0; i < 3; i++) {
            LIKWID_MARKER_START("work");
            compute();
            LIKWID_MARKER_STOP("work");
        }
    }
    show("work");
    return context;
}

int main(void)
{
    pthread_t thread;

    LIKWID_MARKER_INIT;
    if (pthread_create(&thread, NULL, run_thread, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    run_thread(NULL);
    LIKWID_MARKER_START("first");
    LIKWID_MARKER_START("second");
    LIKWID_MARKER_STOP("first");
    compute();
    LIKWID_MARKER_STOP("second");
    show("first");
    show("second");
    LIKWID_MARKER_RESET("first");
    show("first");
    for (int i = 0; i < 2; i++) {
        printf("start %d\n", LIKWID_MARKER_START("third"));
    }
    LIKWID_MARKER_STOP("third");
    LIKWID_MARKER_START("third");
    LIKWID_MARKER_STOP("third");
    show("third");
    LIKWID_MARKER_SWITCH;
    LIKWID_MARKER_CLOSE;
    return 0;
}
