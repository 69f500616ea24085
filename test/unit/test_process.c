/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <sys/wait.h>

#include "atime/runs.h"
#include "base/clock.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

#define LIFE_MS 100

/* A child lives for LIFE_MS after its parent has begun to wait, which closes the pipe. */
static int waiting[2];

static void await_the_parent(void)
{
    char byte;

    close(waiting[1]);
    assert_int_equal(read(waiting[0], &byte, 1), 0);
    usleep(LIFE_MS * 1000);
}

/* @param kill_parent  send SIGTERM to the parent and live on, instead of ending */
static pid_t start_child(bool kill_parent)
{
    pid_t pid;

    assert_int_equal(pipe(waiting), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        await_the_parent();
        if (kill_parent) {
            kill(getppid(), SIGTERM);
            pause();
        }
        _exit(0);
    }
    close(waiting[0]);
    return pid;
}

static uint64_t wait_ms(const struct process *process)
{
    struct signals signals;
    uint64_t start_ns;

    signals_catch(&signals);
    start_ns = clock_monotonic_ns();
    close(waiting[1]);
    process_wait(process, &signals);
    signals_restore(&signals);
    return (clock_monotonic_ns() - start_ns) / MS;
}

/* Not before, and at all. */
TEST(its_end_is_seen)
{
    struct process process;
    pid_t pid = start_child(false);

    assert_int_equal(process_open(pid, &process, NULL), 0);
    assert_true(wait_ms(&process) >= LIFE_MS);
    assert_int_equal(kill(pid, 0), -1);
    process_close(&process);
}

TEST(a_signal_ends_the_waiting)
{
    struct process process;
    pid_t pid = start_child(true);

    assert_int_equal(process_open(pid, &process, NULL), 0);
    assert_true(wait_ms(&process) >= LIFE_MS);
    process_close(&process);
    assert_int_equal(kill(pid, SIGKILL), 0); /* it lives */
    pid = start_child(true);
    assert_true(wait_ms(&(struct process){.pid = pid, .fd = -1}) >= LIFE_MS);
    assert_int_equal(kill(pid, SIGKILL), 0);
}

TEST(no_process)
{
    struct process process;
    struct apapi_error err = {""};
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), -1); /* until it is gone */
    errno = 0;
    assert_int_equal(process_open(pid, &process, &err), -1);
    assert_int_equal(errno, ESRCH);
    assert_non_null(strstr(err.text, "there is no process "));
}

TEST(names)
{
    char name[64];

    process_name(getpid(), name, sizeof name);
    assert_string_equal(name, "test_process");
    process_name(getpid(), name, 5);
    assert_string_equal(name, "test");
    process_name(1 << 30, name, sizeof name);
    assert_string_equal(name, "");
}

int main(void)
{
    signal(SIGCHLD, SIG_IGN); /* no child remains as a zombie */
    return unit_run();
}
