/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI crashes in threads that it does not know, and in those that it knew before a shutdown. */
#include <papi.h>
#include <pthread.h>
#include <sys/wait.h>

#include "sources/papi/papi_library.h"
#include "sources/sources.h"
#include "unit/unit.h"

static const struct apapi_source *const papi = &apapi_source_papi;

static void *open_late(void *unused)
{
    (void)unused;
    return papi->open("late", NULL);
}

static void *close_it(void *reader)
{
    papi->close(reader);
    return NULL;
}

static void *in_a_thread(void *(*call)(void *), void *argument)
{
    pthread_t thread;
    void *result;

    assert_int_equal(pthread_create(&thread, NULL, call, argument), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static void assert_reads(struct apapi_reader *reader)
{
    struct apapi_reading reading;

    assert_non_null(reader);
    papi->read(reader, &reading);
    assert_int_equal(reading.error, 0);
}

TEST(each_thread_opens_and_closes)
{
    struct apapi_reader *first, *second;

    papi->want("late");
    papi->want("opener");
    first = papi->open("late", NULL);
    assert_reads(first);
    in_a_thread(close_it, first);
    first = in_a_thread(open_late, NULL);
    assert_reads(first);
    second = papi->open("opener", NULL);
    assert_reads(second);
    papi->close(first);
    in_a_thread(close_it, second);
}

#ifndef __SANITIZE_THREAD__ /* it allows no new thread in a child of fork() */
TEST(a_child_of_fork)
{
    int status;
    pid_t child;

    papi->close(papi->open("late", NULL));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct apapi_reader *reader = papi->open("late", NULL);
        struct apapi_reading reading = {.error = EIO};

        alarm(120);
        if (reader) {
            papi->read(reader, &reading);
        }
        papi->close(reader);
        _exit(reading.error ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
#endif

static int answer_and_fail(void *number)
{
    errno = ERANGE;
    return *(int *)number;
}

static void *call_often(void *wrong)
{
    for (int i = 0; i < 200; i++) {
        int number = -i - 2;

        errno = 0;
        if (papi_thread_call(answer_and_fail, &number, NULL) != number || errno != ERANGE) {
            return wrong;
        }
    }
    return NULL;
}

TEST(each_caller_gets_its_own_answer)
{
    pthread_t threads[4];
    void *wrong;

    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, threads), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

int main(void)
{
    setenv("APAPI_PAPI_LIBRARY", FAKE_PAPI, 1);
    return unit_run();
}
