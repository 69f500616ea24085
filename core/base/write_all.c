/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/write_all.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};

            poll(&room, 1, 1000);
        } else if (written < 0 && errno != EINTR) {
            return -1;
        } else if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return 0;
}
