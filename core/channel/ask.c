/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

int ask_open(const char *live_dir, const char *node)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (snprintf(address.sun_path, sizeof address.sun_path, "%s/%s/" ASK_SOCKET, live_dir, node) >=
        (int)sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address)) {
        int error = errno;

        close(fd);
        errno = error;
        fd = -1;
    }
    return fd;
}

int ask_send(int fd, enum ask_kind kind, const char *component, uint64_t deadline_ns)
{
    struct ask ask = {.version = ASK_VERSION, .kind = (uint32_t)kind};
    struct pollfd watched = {.fd = fd, .events = POLLOUT};

    memcpy(ask.magic, ASK_MAGIC, sizeof ask.magic);
    snprintf(ask.component, sizeof ask.component, "%s", component ? component : "");
    while (send(fd, &ask, sizeof ask, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)sizeof ask) {
        int error = errno, left_ms = clock_left_ms(deadline_ns);

        /* many who ask at the same time fill its queue */
        if (error != EAGAIN || left_ms == 0 || !poll(&watched, 1, left_ms)) {
            errno = error;
            return -1;
        }
    }
    return 0;
}
