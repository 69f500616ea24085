/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/ask.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "channel/deadline.h"

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

int ask_send(int fd, const char *word, const char *component, uint64_t deadline_ns)
{
    char text[ASK_SIZE];

    return deadline_send(fd, text, (size_t)snprintf(text, sizeof text, "%s%s", word, component),
                         deadline_ns);
}
