/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI's example for PAPI_overflow(), with APAPI: every THRESHOLD counts of EVENT, print where the
 * program is. usage: overflow [EVENT [THRESHOLD [CALLS]]]
 *
 * Where the CPU has no counters, a software event does as well: perf::TASK-CLOCK counts
 * nanoseconds. It needs a PAPI that has the event: papi_native_avail.
 */
#include <apapi/overflow.h>
#include <apapi/session.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE_S 60

static int calls; /* of the handler; two threads use it */

/* Runs in a thread of the session's: it may print, allocate and lock. */
static void handler(const struct apapi_overflow_crossing *crossing, void *user)
{
    (void)user;
    printf("handler(%d) overflow at %p! vector=0x%llx count=%llu value=%.0f\n", crossing->overflow,
           crossing->address, (unsigned long long)crossing->vector,
           (unsigned long long)crossing->count, crossing->value);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static int made(void)
{
    return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

static double do_flops(int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++) {
        sum += (double)i * 1.1;
    }
    return sum;
}

int main(int argc, char **argv)
{
    const struct apapi_overflow what = {.event = argc > 1 ? argv[1] : "perf::TASK-CLOCK",
                                        .threshold = argc > 2 ? atof(argv[2]) : 10e6,
                                        .mode = APAPI_OVERFLOW_EVERY | APAPI_OVERFLOW_HARDWARE,
                                        .handler = handler};
    const int wanted = argc > 3 ? atoi(argv[3]) : 10;
    const time_t end = time(NULL) + PATIENCE_S;
    const struct apapi_session_config config = {.components = "estimate"};
    struct apapi_error err;
    struct apapi_session *session = apapi_session_create(&config, &err);
    volatile double result = 0;
    int overflow;

    if (!session) {
        fprintf(stderr, "overflow: %s\n", err.text);
        return EXIT_FAILURE;
    }
    overflow = apapi_overflow_add(session, &what, &err); /* this thread is counted from now on */
    if (overflow < 0) {
        int none = errno == ENOTSUP || errno == ENOENT || errno == ENODEV || errno == EACCES;

        fprintf(stderr, "overflow: %s\n", err.text);
        apapi_session_destroy(session);
        return none ? 77 : EXIT_FAILURE; /* 77: it cannot be counted here */
    }
    while (made() < wanted && time(NULL) < end) {
        result += do_flops(100000);
    }
    apapi_overflow_remove(session, overflow);
    apapi_session_destroy(session);
    return made() < wanted ? EXIT_FAILURE : EXIT_SUCCESS;
}
