/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/deadline.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"

uint64_t deadline_now(void)
{
    return clock_monotonic_ns();
}

int deadline_wait(int fd, short events, uint64_t deadline_ns)
{
    struct pollfd waiting = {.fd = fd, .events = events};

    for (;;) {
        int left_ms = clock_left_ms(deadline_ns);
        int ready = poll(&waiting, 1, left_ms);

        if (ready > 0) {
            return 0;
        }
        if (ready < 0 && errno != EINTR) {
            return -1;
        }
        if (left_ms == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

int deadline_send(int fd, const char *bytes, size_t size, uint64_t deadline_ns)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent >= 0) {
            bytes += sent;
            size -= (size_t)sent;
        } else if (errno != EINTR && (errno != EAGAIN || deadline_wait(fd, POLLOUT, deadline_ns))) {
            return -1;
        }
    }
    return 0;
}
