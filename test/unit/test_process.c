/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "atime/process.h"
#include "base/clock.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

/* A child that lives `milliseconds`, then does `kill_parent` with SIGTERM. */
static pid_t start_child(unsigned milliseconds, bool kill_parent)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        usleep(milliseconds * 1000);
        if (kill_parent) {
            kill(getppid(), SIGTERM);
            usleep(2000000);
        }
        _exit(0);
    }
    return pid;
}

static uint64_t wait_ms(const struct process *process)
{
    uint64_t start_ns = clock_monotonic_ns();
    struct signals signals;

    signals_catch(&signals);
    process_wait(process, &signals);
    signals_restore(&signals);
    return (clock_monotonic_ns() - start_ns) / MS;
}

static void its_end_is_seen(void **state)
{
    struct process process;

    (void)state;
    assert_int_equal(process_open(start_child(300, false), &process, NULL), 0);
    assert_in_range(wait_ms(&process), 200, 3000);
    process_close(&process);
}

/* Old kernels have no pidfd. */
static void its_end_is_seen_by_asking(void **state)
{
    const struct process process = {.pid = start_child(300, false), .fd = -1};

    (void)state;
    assert_in_range(wait_ms(&process), 200, 3000);
    process_close(&process);
}

static void a_signal_ends_the_waiting(void **state)
{
    struct process process;
    pid_t pid = start_child(300, true);

    (void)state;
    assert_int_equal(process_open(pid, &process, NULL), 0);
    assert_in_range(wait_ms(&process), 200, 1500);
    process_close(&process);
    kill(pid, SIGKILL);
    pid = start_child(300, true);
    assert_in_range(wait_ms(&(struct process){.pid = pid, .fd = -1}), 200, 1500);
    kill(pid, SIGKILL);
}

static void no_process(void **state)
{
    struct process process;
    struct apapi_error err = {""};
    pid_t pid = start_child(0, false);

    (void)state;
    assert_int_equal(waitpid(pid, NULL, 0), -1); /* until it is gone */
    errno = 0;
    assert_int_equal(process_open(pid, &process, &err), -1);
    assert_int_equal(errno, ESRCH);
    assert_non_null(strstr(err.text, "there is no process "));
}

static void names(void **state)
{
    char name[64];

    (void)state;
    process_name(getpid(), name, sizeof name);
    assert_string_equal(name, "test_process");
    process_name(getpid(), name, 5);
    assert_string_equal(name, "test");
    process_name(1 << 30, name, sizeof name);
    assert_string_equal(name, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_end_is_seen),
        cmocka_unit_test(its_end_is_seen_by_asking),
        cmocka_unit_test(a_signal_ends_the_waiting),
        cmocka_unit_test(no_process),
        cmocka_unit_test(names),
    };

    signal(SIGCHLD, SIG_IGN); /* no child remains as a zombie */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
