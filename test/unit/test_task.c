/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/step.h"

#include <semaphore.h>

#include "base/clock.h"
#include "unit/unit.h"

#define FOR_EVER UINT64_MAX

static sem_t disk; /* answers once for each post */
static int done;

static void wait_for_disk(void *context)
{
    sem_wait(&disk);
    (*(int *)context)++;
}

static void open_disk(void)
{
    done = 0;
    assert_int_equal(sem_init(&disk, 0, 0), 0);
}

static void close_disk(void)
{
    assert_int_equal(sem_destroy(&disk), 0);
}

TEST_WITH(what_was_never_started_is_done, open_disk, close_disk)
{
    struct task task = {0};

    assert_true(task_wait(&task, 0));
    assert_true(task_wait(&task, FOR_EVER));
}

TEST_WITH(work_that_lasts, open_disk, close_disk)
{
    struct task task = {0};

    for (int round = 1; round <= 3; round++) {
        uint64_t now_ns = clock_monotonic_ns();

        task_start(&task, wait_for_disk, &done);
        assert_false(task_wait(&task, 0));
        assert_false(task_wait(&task, now_ns + 20000000));
        assert_true(clock_monotonic_ns() >= now_ns + 20000000);
        sem_post(&disk);
        assert_true(task_wait(&task, FOR_EVER));
        assert_int_equal(done, round);
        assert_true(task_wait(&task, 0));
    }
}
