/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "channel/deadline.h"
#include "child.h"

#define PATIENCE_NS (500 * DEADLINE_MS)

/* A way to write that never blocks, where poll() cannot promise that. */
struct output_way {
    int fd;
    size_t piece; /* bytes that write() accepts without blocking after poll() */
    bool socket;
};

/*
 * Another process may fill a pipe between poll() and write(). The descriptor's flags belong to the
 * user, so pipes and terminals are opened again.
 */
static struct output_way output_begin(int fd)
{
    struct stat status = {.st_mode = 0};
    bool known = fstat(fd, &status) == 0, pipe = known && S_ISFIFO(status.st_mode);
    struct output_way way = {.fd = -1,
                             .piece = pipe ? PIPE_BUF : SSIZE_MAX,
                             .socket = known && S_ISSOCK(status.st_mode)};
    char path[32];

    if (pipe || isatty(fd)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        way.fd =
            spank_apapi_child_keep_away(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    }
    return way;
}

static ssize_t output_some(int fd, const struct output_way *way, const char *text, size_t left)
{
    size_t size = left < way->piece ? left : way->piece;

    if (way->socket) {
        return send(fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return write(way->fd >= 0 ? way->fd : fd, text, size);
}

/* @return 0; an errno. */
static int output_loop(int fd, const char *text, uint64_t deadline_ns)
{
    const struct output_way way = output_begin(fd);
    size_t left = strlen(text);
    int code = 0;

    while (left > 0 && code == 0) {
        ssize_t written = -1;

        if (deadline_wait(fd, POLLOUT, deadline_ns)) {
            code = errno;
            break;
        }
        written = output_some(fd, &way, text, left);
        if (written >= 0) {
            text += written;
            left -= (size_t)written;
        } else if (errno != EINTR && errno != EAGAIN) {
            code = errno;
        } else if (deadline_now() >= deadline_ns) {
            code = ETIMEDOUT;
        }
    }
    if (way.fd >= 0) {
        close(way.fd);
    }
    return code;
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

static int destination_fail(const struct spank_apapi_destination *destination, int code,
                            struct apapi_error *err)
{
    return apapi_fail(err, code, "%.160s: %s",
                      destination->path ? destination->path : "standard error", strerror(code));
}

static int destination_open(struct spank_apapi_destination *destination, struct apapi_error *err)
{
    destination->fd = spank_apapi_child_keep_away(open(
        destination->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
    return destination->fd < 0 ? destination_fail(destination, errno, err) : 0;
}

int destination_write(struct spank_apapi_destination *destination, const char *text,
                      struct apapi_error *err)
{
    int fd = STDERR_FILENO;

    if (*text == '\0') {
        return 0;
    }
    if (destination->path) {
        if (destination->fd < 0 && destination_open(destination, err)) {
            return -1;
        }
        fd = destination->fd;
    }
    return spank_apapi_output_write(fd, text, deadline_now() + PATIENCE_NS)
               ? destination_fail(destination, errno, err)
               : 0;
}

int destination_close(struct spank_apapi_destination *destination, struct apapi_error *err)
{
    int fd = destination->fd;

    destination->fd = -1;
    return fd >= 0 && close(fd) ? destination_fail(destination, errno, err) : 0;
}
