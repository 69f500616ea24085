/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "channel/deadline.h"

/* How much write() takes without blocking when poll() says that it does not. */
static size_t output_piece(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))
               ? PIPE_BUF
               : SSIZE_MAX;
}

/* @return 0; an errno. */
static int output_loop(int fd, const char *text, uint64_t deadline_ns)
{
    size_t left = strlen(text), piece = output_piece(fd);

    while (left > 0) {
        ssize_t written;

        if (deadline_wait(fd, POLLOUT, deadline_ns)) {
            return errno;
        }
        written = write(fd, text, left < piece ? left : piece);

        if (written >= 0) {
            text += written;
            left -= (size_t)written;
        } else if (errno != EINTR && errno != EAGAIN) {
            return errno;
        }
    }
    return 0;
}

int spank_apapi_output_write(int fd, const char *text, uint64_t deadline_ns)
{
    const struct timespec at_once = {0};
    sigset_t pipe_signal, before, pending;
    bool was_pending;
    int code;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE) == 1;
    code = output_loop(fd, text, deadline_ns);
    if (!was_pending) {
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return code ? -1 : 0;
}
