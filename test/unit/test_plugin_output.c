/* SPDX-License-Identifier: BSD-3-Clause */
#include "helpers.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>

#include "channel/deadline.h"
#include "unit/unit.h"

static uint64_t in_ms(uint64_t ms)
{
    return deadline_now() + ms * DEADLINE_MS;
}

TEST(a_pipe_that_nobody_reads_any_more)
{
    sigset_t pending, blocked;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    spank_apapi_output_write(fds[1], "text", in_ms(120000)); /* SIGPIPE would end this test */
    close(fds[1]);
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGPIPE));
}

TEST(a_pending_sigpipe_stays)
{
    sigset_t pipe_signal, pending;
    int fds[2], number;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
    raise(SIGPIPE);
    assert_int_equal(pipe(fds), 0);
    spank_apapi_output_write(fds[1], "text", in_ms(120000));
    sigpending(&pending);
    assert_true(sigismember(&pending, SIGPIPE));
    sigwait(&pipe_signal, &number);
    sigprocmask(SIG_UNBLOCK, &pipe_signal, NULL);
    close(fds[0]);
    close(fds[1]);
}

static int filler = -1; /* fills the pipe whenever it has room; -1: none */

int __real_deadline_wait(int fd, short events, uint64_t deadline_ns);

int __wrap_deadline_wait(int fd, short events, uint64_t deadline_ns)
{
    static const char page[4096] = "";
    int result = __real_deadline_wait(fd, events, deadline_ns), code = errno;

    while (filler >= 0 && write(filler, page, sizeof page) > 0) {
    }
    errno = code;
    return result;
}

TEST(others_fill_the_pipe_between_looking_and_writing)
{
    char path[32];
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fds[1]);
    filler = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(filler >= 0);
    /* would block here forever */
    assert_fails(ETIMEDOUT, spank_apapi_output_write(fds[1], "text", in_ms(100)));
    assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
    close(filler);
    filler = -1;
    close(fds[0]);
    close(fds[1]);
}

TEST(a_socket)
{
    static char text[2000001];
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(spank_apapi_output_write(fds[1], "text", in_ms(120000)), 0);
    assert_int_equal(read(fds[0], text, sizeof text), 4);
    memset(text, 'x', sizeof text - 1);
    assert_fails(ETIMEDOUT, spank_apapi_output_write(fds[1], text, in_ms(100)));
    close(fds[0]);
    close(fds[1]);
}
