/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <sys/wait.h>

#include "atime/runs.h"
#include "base/clock.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

#define LIFE_MS 100

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
