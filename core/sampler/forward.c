/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/forward.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_US 300000 /* of one connection */

void forward_open(struct forward *forward, const char *where)
{
    const char *colon = where ? strrchr(where, ':') : NULL;

    forward->length = 0;
    forward->name[0] = '\0';
    if (!colon || colon == where || (size_t)(colon - where) >= sizeof forward->name ||
        strlen(colon + 1) != APAPI_TOKEN_LENGTH) {
        return;
    }
    snprintf(forward->name, sizeof forward->name, "%.*s", (int)(colon - where), where);
    snprintf(forward->token, sizeof forward->token, "%s", colon + 1);
}

/* Records are told to root and to oneself: nobody else may listen under that name. */
static bool is_ours(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == getuid());
}

static int send_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

        if (sent < 0 && errno != EINTR) {
            return -1;
        }
        bytes += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

static int deliver(int fd, const struct forward *forward, const char *bytes, size_t size)
{
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    struct sockaddr_un address = {.sun_family = AF_UNIX}; /* begins with a NUL: abstract */
    size_t length = strlen(forward->name);
    char line[APAPI_TOKEN_LENGTH + 32];

    memcpy(address.sun_path + 1, forward->name, length);
    snprintf(line, sizeof line, "%s " APAPI_WORD_RECORDS " -\n", forward->token);
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) ||
                   connect(fd, (const struct sockaddr *)&address,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) ||
                   !is_ours(fd) || send_all(fd, line, strlen(line)) || send_all(fd, bytes, size)
               ? -1
               : 0;
}

static void pass_on(struct forward *forward, const char *bytes, size_t size)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || deliver(fd, forward, bytes, size)) {
        forward->name[0] = '\0';
    }
    if (fd >= 0) {
        close(fd);
    }
}

void forward_flush(struct forward *forward)
{
    if (*forward->name && forward->length > 0) {
        pass_on(forward, forward->bytes, forward->length);
    }
    forward->length = 0;
}

void forward_record(struct forward *forward, const char *line, size_t size)
{
    if (size + 1 > sizeof forward->bytes - forward->length) {
        forward_flush(forward);
    }
    if (*forward->name == '\0') {
        return;
    }
    if (size + 1 > sizeof forward->bytes) {
        pass_on(forward, line, size);
        return;
    }
    memcpy(forward->bytes + forward->length, line, size);
    forward->bytes[forward->length + size] = '\n';
    forward->length += size + 1;
}
