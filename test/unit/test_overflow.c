/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thresholds of whole sessions: handlers, several at once, changing and removing them in a run, and
 * handlers that hang. Also run under TSan.
 */
#include <errno.h>
#include <stdatomic.h>

#include "apapi/overflow.h"
#include "unit/workers_fixture.h"

#define EVENT "plain:::ENERGY0"

/** What a handler has been told; the handler alone writes it. */
struct told {
    atomic_int calls, count;
    atomic_bool hang;
    atomic_int stuck;
    struct apapi_overflow_crossing latest;
    struct apapi_session *session; /* not NULL: the handler removes its threshold */
};

static struct told told[APAPI_OVERFLOW_MAX];

static int begin(void **state)
{
    memset(told, 0, sizeof told);
    return prepare(state);
}

static void tell(const struct apapi_overflow_crossing *crossing, void *user)
{
    struct told *mine = user;

    mine->latest = *crossing;
    mine->latest.event = NULL;
    atomic_fetch_add(&mine->count, (int)crossing->count);
    atomic_fetch_add(&mine->calls, 1);
    if (atomic_load(&mine->hang)) {
        atomic_fetch_add(&mine->stuck, 1);
    }
    while (atomic_load(&mine->hang)) {
        usleep(1000);
    }
    if (mine->session) {
        assert_int_equal(apapi_overflow_remove(mine->session, crossing->overflow), 0);
    }
}

static int set(const char *event, double threshold, unsigned mode, struct told *whom)
{
    int number = apapi_overflow_set(session, event, threshold, mode, tell, whom);

    if (number < 0) {
        fail_msg("%s %g: %s", event, threshold, strerror(errno));
    }
    return number;
}

/* Steps that the result shows: the first reading is the baseline. */
static int steps(void)
{
    return atomic_load(&meters[PLAIN].good) - 1;
}

static void test_every_crossing_is_told(void **state)
{
    (void)state;
    create("plain");
    assert_int_equal(set(EVENT, STEP_J, APAPI_OVERFLOW_EVERY, &told[0]), 0);
    assert_int_equal(set(EVENT, STEP_J / 4, APAPI_OVERFLOW_EVERY, &told[1]), 1);
    assert_int_equal(set(EVENT, 3 * STEP_J, APAPI_OVERFLOW_EVERY, &told[2]), 2);
    assert_int_equal(set("package", 6 * STEP_J, APAPI_OVERFLOW_EVERY, &told[3]), 3);
    assert_int_equal(set("total", 6 * STEP_J, APAPI_OVERFLOW_TOTAL, &told[4]), 4);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await_more(&meters[PLAIN], 20);
    halt();
    assert_int_equal(told[0].count, steps());
    assert_int_equal(told[1].count, 4 * steps());
    assert_int_equal(told[2].count, steps() / 3);
    assert_int_equal(told[3].count, steps() / 2); /* both events: three steps at each reading */
    assert_int_equal(told[4].count, 1);
    assert_true(told[4].latest.vector & 1u << 4);
    assert_true(told[4].latest.vector & 1u << 3);
    assert_true(told[4].latest.vector & 1u << 0);
    assert_true(told[4].latest.time_ns <= told[4].latest.seen_ns);
    assert_int_equal(told[4].latest.overflow, 4);
    assert_true(fabs(told[4].latest.value - 6 * STEP_J) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_crossing_is_told, begin, clean_up),
    };

    return cmocka_run_group_tests_name("overflow", tests, NULL, NULL);
}
