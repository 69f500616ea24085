/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Where the caller has closed standard error, what is said there must not land in the file. */
static int above_standard(int fd)
{
    int higher;

    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return higher;
}

int output_open(const char *path, struct apapi_error *err)
{
    int fd = above_standard(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));

    return fd < 0 ? apapi_fail(err, errno, "cannot write %.160s: %s", path, strerror(errno)) : fd;
}

int output_write(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno != EINTR) {
            return -1;
        }
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return 0;
}
