/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "channel/deadline.h"

#define BUFFER_BYTES (1 << 20) /* waits for a slow file system */
#define SOCKET_FD 3            /* in the writer process */

/* --- in the writer process, which becomes the user --- */

static void close_others(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, SOCKET_FD + 1, ~0U, 0U) == 0) {
        return;
    }
#endif
    for (int fd = SOCKET_FD + 1; fd < 1024; fd++) {
        close(fd);
    }
}

/* The path comes first and ends with a NUL. @return bytes after it in `bytes`; -1: no path. */
static ssize_t writer_read_path(char path[PATH_MAX], char *bytes, size_t size)
{
    size_t length = 0;

    for (;;) {
        ssize_t got = TEMP_FAILURE_RETRY(read(SOCKET_FD, bytes, size));
        const char *end = got > 0 ? memchr(bytes, '\0', (size_t)got) : NULL;
        size_t part = end ? (size_t)(end - bytes) : (size_t)(got > 0 ? got : 0);

        if (got <= 0 || length + part >= PATH_MAX) {
            return -1;
        }
        memcpy(path + length, bytes, part);
        length += part;
        path[length] = '\0';
        if (end) {
            memmove(bytes, end + 1, (size_t)got - part - 1);
            return (ssize_t)((size_t)got - part - 1);
        }
    }
}

/* Copy until the end of the input. @return 0; an errno. */
static int copy_rest(int fd, char *bytes, size_t size, size_t first)
{
    ssize_t got = (ssize_t)first;

    do {
        if (write_all(fd, bytes, (size_t)got)) {
            return errno;
        }
        got = TEMP_FAILURE_RETRY(read(SOCKET_FD, bytes, size));
    } while (got > 0);
    return 0;
}

/* A FIFO without a reader is an error: the writer does not wait for one. */
static int write_file(const char *path, char *bytes, size_t size, size_t first)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    int code;

    if (fd < 0) {
        return errno;
    }
    code = copy_rest(fd, bytes, size, first);
    return close(fd) && code == 0 ? errno : code;
}

static void writer_answer(const char *path, int code)
{
    char text[sizeof((struct apapi_error *)0)->text];
    ssize_t sent;

    snprintf(text, sizeof text, "%.160s: %s", path, strerror(code));
    sent = send(SOCKET_FD, code ? text : "", code ? strlen(text) + 1 : 1, MSG_NOSIGNAL);
    (void)sent; /* the sampler may have ended */
}

static _Noreturn void process_run(int fd, const struct user *user)
{
    static char bytes[65536];
    char path[PATH_MAX] = "";
    ssize_t first;

    if ((fd != SOCKET_FD && dup2(fd, SOCKET_FD) < 0) || chdir("/")) {
        _exit(EXIT_FAILURE);
    }
    close_others();
    if (user_become(user) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        writer_answer("the user's rights", errno);
        _exit(EXIT_FAILURE);
    }
    first = writer_read_path(path, bytes, sizeof bytes);
    if (first >= 0) {
        writer_answer(path, write_file(path, bytes, sizeof bytes, (size_t)first));
    }
    _exit(EXIT_SUCCESS);
}

/* --- in the sampler --- */

int writer_start(struct writer *writer, const struct user *user, struct apapi_error *err)
{
    int pair[2], size = BUFFER_BYTES;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        return apapi_fail(err, errno, "no socket: %s", strerror(errno));
    }
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    pid = fork();
    if (pid == 0) {
        process_run(pair[1], user);
    }
    close(pair[1]);
    if (pid < 0) {
        int code = errno;

        close(pair[0]);
        return apapi_fail(err, code, "no process: %s", strerror(code));
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *writer = (struct writer){.fd = pair[0], .pid = pid};
    return 0;
}

int writer_open(const struct writer *writer, const char *path, struct apapi_error *err)
{
    ssize_t sent = send(writer->fd, path, strlen(path) + 1, MSG_NOSIGNAL);

    return sent == (ssize_t)strlen(path) + 1
               ? 0
               : apapi_fail(err, sent < 0 ? errno : EIO, "%.160s: its process has ended", path);
}

int writer_put(const struct writer *writer, const char *text, size_t size, uint64_t deadline_ns)
{
    while (size > 0) {
        ssize_t sent = send(writer->fd, text, size, MSG_NOSIGNAL);

        if (sent >= 0) {
            text += sent;
            size -= (size_t)sent;
        } else if (errno != EINTR &&
                   (errno != EAGAIN || deadline_wait(writer->fd, POLLOUT, deadline_ns))) {
            return -1;
        }
    }
    return 0;
}

/* @return the length of the process's answer; 0: none. */
static size_t writer_hear(const struct writer *writer, uint64_t deadline_ns,
                          struct apapi_error *answer)
{
    ssize_t got = deadline_wait(writer->fd, POLLIN, deadline_ns)
                      ? 0
                      : recv(writer->fd, answer->text, sizeof answer->text - 1, 0);

    answer->text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

void writer_abandon(struct writer *writer)
{
    if (writer->fd >= 0) {
        close(writer->fd);
        kill(writer->pid, SIGKILL); /* if its file system hangs, it ends when that responds */
        waitpid(writer->pid, NULL, WNOHANG);
    }
    *writer = WRITER_NONE;
}

int writer_finish(struct writer *writer, uint64_t deadline_ns, struct apapi_error *err)
{
    struct apapi_error said;
    bool heard;

    shutdown(writer->fd, SHUT_WR);
    heard = writer_hear(writer, deadline_ns, &said) > 0;
    writer_abandon(writer);
    if (!heard) {
        return apapi_fail(err, ETIMEDOUT, "its file system does not answer");
    }
    return *said.text ? apapi_fail(err, EIO, "%s", said.text) : 0;
}
