/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a source in which a thread is stuck; descriptors opened by foreign libraries. */
#include "sources/sources.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "unit/unit.h"

#define HOUR_S 3600

static sem_t entered, leave;
static struct apapi_reader reader;

int __real_clock_gettime(clockid_t clock, struct timespec *now);

/* Set the clock of the day back by an hour as soon as it has been read. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = __real_clock_gettime(clock, now);

    now->tv_sec += clock == CLOCK_REALTIME ? HOUR_S : 0;
    return result;
}

static struct apapi_reader *open_slowly(const char *component, struct apapi_error *err)
{
    (void)component;
    (void)err;
    sem_post(&entered);
    sem_wait(&leave);
    return &reader;
}

static void close_at_once(struct apapi_reader *unused)
{
    (void)unused;
}

static const struct apapi_source slow = {
    .name = "slow", .open = open_slowly, .close = close_at_once};

static void *open_it(void *unused)
{
    (void)unused;
    return source_open(&slow, "c", NULL);
}

TEST(a_clock_that_is_set_back_prolongs_no_wait)
{
    pthread_t stuck;
    void *opened;

    alarm(120);
    reader.source = &slow;
    assert_int_equal(pthread_create(&stuck, NULL, open_it, NULL), 0);
    sem_wait(&entered);
    assert_fails_with(EBUSY, "has not returned", source_open(&slow, "c", &why));
    sem_post(&leave);
    assert_int_equal(pthread_join(stuck, &opened), 0);
    assert_ptr_equal(opened, &reader);
    /* now the source is free again */
    sem_post(&leave);
    assert_ptr_equal(source_open(&slow, "c", NULL), &reader);
    source_close(&reader);
    alarm(0);
}

/* Descriptors of meters must not reach another program. */

static bool is_marked(int fd)
{
    return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

TEST(what_a_programs_other_threads_open_is_left_alone)
{
    struct open_files before;
    int ends[2], own, meter;

    open_files_note(&before);
    own = open("/dev/null", O_RDONLY); /* as foreign libraries do: without O_CLOEXEC */
    assert_int_equal(pipe(ends), 0);
    meter = open("/proc/stat", O_RDONLY);
    assert_true(own >= 0 && meter >= 0);
    open_files_close_new_on_exec(&before);
    assert_true(is_marked(meter));
    assert_false(is_marked(own) || is_marked(ends[0]) || is_marked(ends[1]));
    close(own);
    close(ends[0]);
    close(ends[1]);
    close(meter);
}

int main(void)
{
    sem_init(&entered, 0, 0);
    sem_init(&leave, 0, 0);
    return unit_run();
}
