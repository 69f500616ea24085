/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi_hl_program: marks its parts for PAPI's high-level interface and knows no other. In the main
 * thread: "computation" twice, each time with a reading and with one "inner" in it; then, with
 * libapapi's header, "first" and "second", which overlap, and the end of a region never begun (PAPI
 * writes no output of such a program). In another thread: "computation" once. It prints each result
 * result that is not PAPI_OK.
 */
#include <papi.h>
#include <pthread.h>
#include <stdio.h>

static volatile double sink;

static void check(int result, const char *call)
{
    if (result != PAPI_OK) {
        printf("%s: %d\n", call, result);
    }
}

static void compute(void)
{
    for (int i = 1; i < 200000; i++) {
        sink += 1.0 / i;
    }
}

static void *run_thread(void *context)
{
    check(PAPI_hl_region_begin("computation"), "begin");
    compute();
    check(PAPI_hl_region_end("computation"), "end");
    return context;
}

static void run_main(void)
{
    check(PAPI_hl_region_begin("computation"), "begin");
    check(PAPI_hl_region_begin("inner"), "begin");
    compute();
    check(PAPI_hl_region_end("inner"), "end");
    check(PAPI_hl_read("computation"), "read");
    compute();
    check(PAPI_hl_region_end("computation"), "end");
}

int main(void)
{
    pthread_t thread;

    run_main();
    run_main();
    if (pthread_create(&thread, NULL, run_thread, NULL) == 0) {
        pthread_join(thread, NULL);
    }
#ifdef APAPI_PAPI_HL_COMPAT_H
    check(PAPI_hl_region_begin("first"), "begin");
    check(PAPI_hl_region_begin("second"), "begin");
    check(PAPI_hl_region_end("first"), "end");
    check(PAPI_hl_region_end("second"), "end");
    if (PAPI_hl_region_end("never begun") == PAPI_OK) {
        puts("the end of what was never begun is PAPI_OK");
    }
#endif
    puts("done");
    return 0;
}
