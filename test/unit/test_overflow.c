/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers of thresholds in whole sessions, and those that hang. Also run under TSan. How often a
 * handler is called if thresholds are set, changed or removed in a run: test/history/crossings.c.
 */
#include <pthread.h>

#include "apapi/overflow.h"
#include "unit/workers_fixture.h"

#define EVENT "plain:::ENERGY0"

/** The calls of a handler. Only the handler writes it. */
struct told {
    atomic_int calls, count, returns;
    atomic_bool hang, looks; /* looks: takes a snapshot */
    atomic_int stuck;
    struct apapi_overflow_crossing latest;
    char unit[APAPI_UNIT_SIZE];
    struct apapi_session *session; /* not NULL: the handler removes its threshold */
};

static struct told told[APAPI_OVERFLOW_MAX];

static void begin(void)
{
    memset(told, 0, sizeof told);
    prepare();
}

static void tell(const struct apapi_overflow_crossing *crossing, void *user)
{
    struct told *mine = user;

    mine->latest = *crossing;
    mine->latest.event = NULL;
    snprintf(mine->unit, sizeof mine->unit, "%s", crossing->unit);
    mine->latest.unit = NULL;
    atomic_fetch_add(&mine->count, (int)crossing->count);
    atomic_fetch_add(&mine->calls, 1);
    if (atomic_load(&mine->hang)) {
        atomic_fetch_add(&mine->stuck, 1);
    }
    while (atomic_load(&mine->hang)) {
        usleep(1000);
    }
    if (atomic_load(&mine->looks)) {
        struct apapi_measurement so_far;

        assert_int_equal(apapi_session_snapshot(session, &so_far, NULL), 0);
        apapi_measurement_clear(&so_far);
    }
    if (mine->session) {
        assert_int_equal(apapi_overflow_remove(mine->session, crossing->overflow), 0);
    }
    atomic_fetch_add(&mine->returns, 1);
}

static int set(const char *event, double threshold, unsigned mode, struct told *whom)
{
    int number = apapi_overflow_set(session, event, threshold, mode, tell, whom);

    if (number < 0) {
        fail_msg("%s %g: %s", event, threshold, strerror(errno));
    }
    return number;
}

/* @return the number of steps in the result: the first reading is the baseline. */
static int steps(void)
{
    return atomic_load(&meters[PLAIN].good) - 1;
}

/* A busy machine may need longer than a stop waits for the thread of the handlers. */
static void assert_told(int number, int count)
{
    await(&told[number].count, count);
    assert_int_equal(told[number].count, count);
}

#define PREPARED(name) TEST_WITH(name, begin, clean_up)

/* While one handler hangs, the crossings of the other one wait. */
PREPARED(what_was_crossed_before_a_change_is_told)
{
    create("plain");
    atomic_store(&told[0].hang, true);
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[0]);
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[1]);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await(&told[0].stuck, 1);
    assert_int_equal(apapi_overflow_change(session, 1, 1e6, NULL), 0);
    atomic_store(&told[0].hang, false);
    await(&told[1].calls, 1);
    halt();
}

PREPARED(what_is_removed_is_told_no_more)
{
    int before;

    create("plain");
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[0]);
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[1]);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await(&told[0].calls, 3);
    assert_int_equal(apapi_overflow_remove(session, 0), 0);
    before = atomic_load(&told[0].calls);
    await(&told[1].calls, atomic_load(&told[1].calls) + 5);
    assert_int_equal(atomic_load(&told[0].calls), before);
    assert_fails(EINVAL, apapi_overflow_remove(session, 0));
    assert_int_equal(set("package", 3 * STEP_J, APAPI_OVERFLOW_EVERY, &told[2]), 0);
    await(&told[2].calls, 3);
    halt();
}

PREPARED(a_handler_removes_its_threshold)
{
    create("plain");
    told[0].session = session;
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[0]);
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[1]);
    start_again();
    await(&told[1].calls, 5);
    halt();
    assert_int_equal(told[0].calls, 1);
    assert_int_equal(apapi_overflow_remove(session, 0), -1);
}

/* Start a session with two thresholds; the handler of the first one hangs. */
static void start_and_hang(void)
{
    create("plain");
    atomic_store(&told[0].hang, true);
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[0]);
    set(EVENT, 2 * STEP_J, APAPI_OVERFLOW_EVERY, &told[1]);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await(&told[0].stuck, 1);
}

/* Sampling goes on while a handler hangs, and crossings are counted meanwhile. */
PREPARED(a_handler_that_hangs)
{
    start_and_hang();
    await_more(&meters[PLAIN], 20);
    assert_int_equal(atomic_load(&told[0].calls), 1);
    assert_int_equal(atomic_load(&told[1].calls), 0);
    atomic_store(&told[0].hang, false);
    halt();
    assert_told(0, steps());
    assert_told(1, steps() / 2);
    assert_true(told[0].latest.first_ns <= told[0].latest.time_ns);
}

PREPARED(a_handler_that_takes_snapshots_until_the_stop)
{
    create("plain");
    atomic_store(&told[0].looks, true);
    set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[0]);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await_more(&meters[PLAIN], 20);
    halt();
    assert_told(0, steps());
}

PREPARED(nobody_waits_long_for_a_handler)
{
    start_and_hang();
    assert_fails(EBUSY, apapi_overflow_remove(session, 0));
    assert_fails(EINVAL, apapi_overflow_remove(session, 0));
    halt();
    assert_plain_is_whole();
    destroy();
    assert_int_equal(atomic_load(&told[1].calls), 0);
    atomic_store(&told[0].hang, false);
    await(&told[0].returns, 1);
}

static void end_thread(const struct apapi_overflow_crossing *crossing, void *user)
{
    struct told *mine = user;

    (void)crossing;
    atomic_fetch_add(&mine->calls, 1);
    pthread_exit(NULL);
}

PREPARED(a_handler_that_ends_its_thread)
{
    create_and_start("plain");
    assert_int_equal(
        apapi_overflow_set(session, EVENT, STEP_J, APAPI_OVERFLOW_EVERY, end_thread, &told[0]), 0);
    await(&told[0].calls, 1);
    await_more(&meters[PLAIN], 5);
    halt();
    assert_plain_is_whole();
    assert_int_equal(told[0].calls, 1);
    assert_fails(ENOMEM,
                 apapi_overflow_set(session, EVENT, STEP_J, APAPI_OVERFLOW_EVERY, tell, &told[1]));
    assert_int_equal(apapi_overflow_remove(session, 0), 0);
}

PREPARED(a_component_that_is_opened_late)
{
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    create_and_start("plain:odd");
    assert_int_equal(
        apapi_overflow_set(session, "odd:::ENERGY0", STEP_J, APAPI_OVERFLOW_EVERY, tell, &told[0]),
        -1);
    assert_int_equal(errno, EAGAIN);
    set("total", 3 * STEP_J, APAPI_OVERFLOW_EVERY, &told[1]);
    await(&told[1].count, 5);
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].reads, 5);
    set("odd:::ENERGY0", STEP_J, APAPI_OVERFLOW_EVERY, &told[0]);
    await(&told[0].count, 5);
    halt();
    assert_true(told[1].count <= steps() + atomic_load(&meters[ODD].good) - 1);
}

static void assert_refused(const struct apapi_overflow *what, int error, const char *part)
{
    assert_fails_with(error, part, apapi_overflow_add(session, what, &why));
}

PREPARED(misuse)
{
    static const struct {
        const char *event, *unit;
        double threshold, hysteresis;
        unsigned mode;
        uint64_t hold_ns;
        int error;
        const char *said;
    } cases[] = {
        {NULL, NULL, 1, 0, 0, 0, EINVAL, "needs an event and a handler"},
        {"plain:::ENERGY7", NULL, 1, 0, 0, 0, ENOENT,
         "plain:::ENERGY7: this session measures no such event"},
        /* similar to the names of two events */
        {"plain:::ENERGY2", NULL, 1, 0, 0, 0, ENOENT,
         ": did you mean 'plain:::ENERGY0' or 'plain:::ENERGY1'?"},
        {"gpu", NULL, 1, 0, 0, 0, ENOENT, "gpu: this session measures no such event or domain"},
        {EVENT, "W", 1, 0, 0, 0, EDOM, EVENT ": a threshold in J, not in W"},
        {EVENT, "J", 1, 0, APAPI_OVERFLOW_ABOVE, 0, EDOM, EVENT ": a threshold in W, not in J"},
        {EVENT, NULL, 1, 0, 4, 0, EINVAL, "mode 0x4 is not known"},
        {EVENT, NULL, NAN, 0, 0, 0, EINVAL, "no finite number"},
        {EVENT, NULL, 0, 0, 0, 0, EINVAL, "the threshold 0 is not above 0"},
        {EVENT, NULL, 1e-7, 0, 0, 0, ERANGE,
         "the threshold 1e-07 J is below its resolution, 1e-06 J"},
        {EVENT, NULL, 1e-5, 0, APAPI_OVERFLOW_ABOVE, 0, ERANGE, /* with readings every 10 ms */
         "the threshold 1e-05 W is below its resolution, 0.0001 W"},
        {EVENT, NULL, 5, 5, APAPI_OVERFLOW_ABOVE, 0, EINVAL,
         "hysteresis must be less than the threshold"},
        {EVENT, NULL, 5, -1, APAPI_OVERFLOW_ABOVE, 0, EINVAL, "hysteresis must be a number from 0"},
        {EVENT, NULL, 1, 0, 0, 1, EINVAL, "a total has neither a time to hold nor hysteresis"},
    };
    struct apapi_overflow bad = {.event = EVENT, .threshold = 1};

    create("plain");
    assert_refused(&bad, EINVAL, "needs an event and a handler");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bad = (struct apapi_overflow){.event = cases[i].event,
                                      .unit = cases[i].unit,
                                      .threshold = cases[i].threshold,
                                      .hysteresis = cases[i].hysteresis,
                                      .mode = cases[i].mode,
                                      .hold_ns = cases[i].hold_ns,
                                      .handler = tell};
        assert_refused(&bad, cases[i].error, cases[i].said);
    }
    assert_fails(EINVAL, apapi_overflow_add(NULL, &bad, NULL));
    set(EVENT, 1, APAPI_OVERFLOW_EVERY, &told[0]);
    assert_fails(ERANGE, apapi_overflow_change(session, 0, STEP_J / 1e9, NULL));
    assert_fails(EINVAL, apapi_overflow_change(session, 1, STEP_J, NULL));
    assert_int_equal(apapi_overflow_remove(session, -1), -1);
    assert_int_equal(apapi_overflow_remove(session, 64), -1);
}

PREPARED(at_most_64)
{
    const struct apapi_overflow more = {.event = EVENT, .threshold = 1, .handler = tell};

    create("plain");
    for (int i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        assert_int_equal(set(EVENT, (i + 1) * STEP_J, APAPI_OVERFLOW_EVERY, &told[i]), i);
    }
    assert_refused(&more, ENOSPC, "at most 64 thresholds");
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await_more(&meters[PLAIN], 70);
    halt();
    for (int i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        assert_told(i, steps() / (i + 1));
    }
    assert_true(told[63].latest.vector >> 63 & 1);
}
