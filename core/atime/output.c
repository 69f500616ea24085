/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* If the caller has closed standard error, messages must not get into the file. */
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
