/* SPDX-License-Identifier: BSD-3-Clause */
#include "rendezvous.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "child.h"
#include "token.h"

#define RENDEZVOUS_BACKLOG 256

/* The kernel chooses a free abstract name, which starts with a NUL. No file is left behind. */
static int rendezvous_bind(int fd, char *name, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address.sun_family;
    const size_t before = offsetof(struct sockaddr_un, sun_path) + 1;

    if (bind(fd, (const struct sockaddr *)&address, length) || listen(fd, RENDEZVOUS_BACKLOG)) {
        return -1;
    }
    length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length)) {
        return -1;
    }
    snprintf(name, size, "%.*s", length > before ? (int)(length - before) : 0,
             address.sun_path + 1);
    return 0;
}

int rendezvous_open(struct spank_apapi_rendezvous *rendezvous, struct apapi_error *err)
{
    struct spank_apapi_rendezvous made;
    char name[16];

    made.listener = spank_apapi_child_keep_away(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made.listener < 0 || rendezvous_bind(made.listener, name, sizeof name) ||
        spank_apapi_token(made.token)) {
        int code = errno;

        rendezvous_close(&made);
        return apapi_fail(err, code, "no table of the whole job: %s", strerror(code));
    }
    snprintf(made.where, sizeof made.where, "%s:%s", name, made.token);
    *rendezvous = made;
    return 0;
}

void rendezvous_close(struct spank_apapi_rendezvous *rendezvous)
{
    if (rendezvous->listener >= 0) {
        close(rendezvous->listener);
        rendezvous->listener = -1;
    }
}
