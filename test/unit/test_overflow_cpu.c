/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thresholds that PAPI counts, with the PAPI of this build. On a CPU without counters, events of
 * the kernel's clock are counted; test/cli/overflow_papi.bats runs this with a PAPI that has them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <ucontext.h>

#include "apapi/overflow.h"
#include "apapi/session.h"
#include "unit/unit.h"

#define TASK "perf::TASK-CLOCK"
#define CLOCK "perf::CPU-CLOCK"
#define EACH 5e6 /* [ns]: 200 times a second */
#define CALLS 10
#define PATIENCE_S 120

/* Held while a handler writes: handlers run in another thread. */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

struct told {
    atomic_int calls;
    uint64_t count;
    double value;
    const void *address;
    bool has_context, is_there; /* the context has the same address */
    uint64_t vector;
};

static struct apapi_session *session;
static struct told told[8];

static void create(void)
{
    const struct apapi_session_config config = {.components = "estimate"};

    memset(told, 0, sizeof told);
    session = apapi_session_create(&config, NULL);
    assert_non_null(session);
}

static void destroy(void)
{
    apapi_session_destroy(session);
}

static void tell(const struct apapi_overflow_crossing *crossing, void *user)
{
    struct told *mine = user;

    pthread_mutex_lock(&telling);
    mine->address = crossing->address;
    mine->has_context = crossing->context != NULL;
#ifdef __x86_64__
    mine->is_there =
        mine->has_context &&
        (uintptr_t)((const ucontext_t *)crossing->context)->uc_mcontext.gregs[REG_RIP] ==
            (uintptr_t)crossing->address;
#else
    mine->is_there = true;
#endif
    mine->value = crossing->value;
    mine->vector |= crossing->vector;
    mine->count += crossing->count;
    atomic_fetch_add(&mine->calls, 1);
    pthread_mutex_unlock(&telling);
}

static int set(const char *event, unsigned kind, struct told *whom)
{
    return apapi_overflow_set(session, event, EACH, APAPI_OVERFLOW_EVERY | kind, tell, whom);
}

/* @return false: the event cannot be counted here; `why` says why. */
static bool set_or_skip(const char *event, unsigned kind, struct told *whom, int *number)
{
    const struct apapi_overflow what = {.event = event,
                                        .threshold = EACH,
                                        .mode = APAPI_OVERFLOW_EVERY | kind,
                                        .handler = tell,
                                        .user = whom};

    *number = apapi_overflow_add(session, &what, &why);
    if (*number >= 0) {
        return true;
    }
    if (errno != ENOTSUP && errno != ENOENT && errno != ENODEV && errno != EACCES) {
        fail_msg("%s", why.text);
    }
    return false;
}

static void work_until(const struct told *whom, int calls)
{
    const time_t end = time(NULL) + PATIENCE_S;
    volatile double sum = 0;

    while (atomic_load(&whom->calls) < calls && time(NULL) < end) {
        for (int i = 0; i < 10000; i++) {
            sum += i * 1.1;
        }
    }
    assert_true(atomic_load(&whom->calls) >= calls);
}

/* Check a call of the handler, which may be called again meanwhile. */
static void check(const struct told *whom)
{
    struct told seen;

    pthread_mutex_lock(&telling);
    memcpy(&seen, whom, sizeof seen);
    pthread_mutex_unlock(&telling);
    assert_non_null(seen.address);
    assert_true(seen.has_context);
    assert_true(seen.is_there);
    assert_true(seen.value == (double)seen.count * EACH);
}

/* @return false: it is removed, but the handlers' thread had no turn in time on a busy machine. */
static bool remove_counter(int number)
{
    if (apapi_overflow_remove(session, number) == 0) {
        return true;
    }
    assert_int_equal(errno, EBUSY);
    return false;
}

static void count_one(unsigned kind)
{
    int number, before;
    bool quiet;

    if (!set_or_skip(TASK, kind, &told[0], &number)) {
        skip_because("PAPI cannot count " TASK " here: %s", why.text);
    }
    work_until(&told[0], CALLS);
    quiet = remove_counter(number);
    check(&told[0]);
    before = atomic_load(&told[0].calls);
    assert_int_equal(set(TASK, kind, &told[1]), number);
    work_until(&told[1], CALLS);
    if (quiet) {
        assert_int_equal(atomic_load(&told[0].calls), before);
    }
}

#define CPU_TEST(name) TEST_WITH(name, create, destroy)

CPU_TEST(counted_by_hardware)
{
    count_one(APAPI_OVERFLOW_HARDWARE);
}

CPU_TEST(counted_by_software)
{
    count_one(APAPI_OVERFLOW_SOFTWARE);
}

/* Set a threshold on the hardware's counter, or skip the test. @return the threshold's number */
static int count_tasks(struct told *mine)
{
    int number;

    if (!set_or_skip(TASK, APAPI_OVERFLOW_HARDWARE, mine, &number)) {
        skip_because("PAPI cannot count " TASK " here: %s", why.text);
    }
    return number;
}

static void *count_thread(void *user)
{
    struct told *mine = user;
    int number = set(TASK, APAPI_OVERFLOW_HARDWARE, mine);

    assert_true(number >= 0);
    work_until(mine, CALLS);
    remove_counter(number);
    return NULL;
}

CPU_TEST(several_threads)
{
    pthread_t threads[4];

    count_tasks(&told[7]);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_thread, &told[i]), 0);
    }
    work_until(&told[7], CALLS);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        check(&told[i]);
    }
    check(&told[7]);
}

static void *leave_thread(void *user)
{
    assert_true(set(TASK, APAPI_OVERFLOW_HARDWARE, user) >= 0);
    work_until(user, CALLS);
    return NULL;
}

/* A thread ends without removing the threshold that it has set. */
CPU_TEST(a_thread_that_ends)
{
    pthread_t thread;

    count_tasks(&told[7]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, leave_thread, &told[i]), 0);
        pthread_join(thread, NULL);
        check(&told[i]);
    }
    work_until(&told[7], CALLS);
    destroy();
    create();
    assert_true(set(TASK, APAPI_OVERFLOW_HARDWARE, &told[3]) >= 0);
    work_until(&told[3], CALLS);
}

static void *remove_thread(void *user)
{
    assert_fails(EPERM, apapi_overflow_remove(session, *(int *)user));
    return NULL;
}

CPU_TEST(whose_it_is)
{
    pthread_t thread;
    int number = count_tasks(&told[0]);

    assert_fails(EBUSY, set(CLOCK, APAPI_OVERFLOW_SOFTWARE, &told[1]));
    assert_fails(ENOTSUP, apapi_overflow_change(session, number, EACH, NULL));
    assert_int_equal(pthread_create(&thread, NULL, remove_thread, &number), 0);
    pthread_join(thread, NULL);
    work_until(&told[0], CALLS);
}

static void assert_refused(double threshold, unsigned mode, int error)
{
    assert_fails(error, apapi_overflow_set(session, TASK, threshold, mode, tell, told));
}

CPU_TEST(misuse)
{
    const unsigned both = APAPI_OVERFLOW_HARDWARE | APAPI_OVERFLOW_SOFTWARE;

    assert_refused(EACH, both, EINVAL);
    assert_refused(EACH, APAPI_OVERFLOW_TOTAL | APAPI_OVERFLOW_HARDWARE, EINVAL);
    assert_refused(0, APAPI_OVERFLOW_HARDWARE, EINVAL);
    assert_refused(0.5, APAPI_OVERFLOW_HARDWARE, ERANGE);
    assert_refused(3e9, APAPI_OVERFLOW_HARDWARE, ERANGE);
    assert_fails(EINVAL, apapi_overflow_set(session, TASK, 1, APAPI_OVERFLOW_HARDWARE, NULL, NULL));
}
