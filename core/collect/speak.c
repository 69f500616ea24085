/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/speak.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_SIZE 512

/*
 * The flags of the descriptor belong to srun, so pipes and terminals are opened again. Files do not
 * block, and have one offset with srun.
 */
void speak_begin(struct speaker *speaker)
{
    struct stat file;
    int fd = -1;

    if (fstat(STDERR_FILENO, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISCHR(file.st_mode))) {
        fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    speaker->fd = fd >= 0 ? fd : STDERR_FILENO;
    fcntl(STDERR_FILENO, F_SETFD, FD_CLOEXEC);
}

void speak(const struct speaker *speaker, const char *format, ...)
{
    struct pollfd ready = {.fd = speaker->fd, .events = POLLOUT};
    char line[LINE_SIZE] = "apapi: ";
    va_list arguments;
    size_t length;
    int written;

    if (speaker->fd < 0 || poll(&ready, 1, 0) != 1) {
        return;
    }
    va_start(arguments, format);
    written = vsnprintf(line + 7, sizeof line - 8, format, arguments);
    va_end(arguments);
    length = 7 + (written < (int)sizeof line - 8 ? (size_t)written : sizeof line - 9);
    line[length++] = '\n';
    if (send(speaker->fd, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == ENOTSOCK) {
        (void)!write(speaker->fd, line, length);
    }
}

void speak_end(struct speaker *speaker)
{
    if (speaker->fd > STDERR_FILENO) {
        close(speaker->fd);
    }
    if (speaker->fd >= 0) {
        close(STDERR_FILENO);
    }
    speaker->fd = -1;
}
