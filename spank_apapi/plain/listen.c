/* SPDX-License-Identifier: BSD-3-Clause */
#include "listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "child.h"

#define LISTEN_BACKLOG 4096 /* nodes that report at the same moment */
#define RENDEZVOUS_BACKLOG 256

int spank_apapi_token(char token[APAPI_TOKEN_LENGTH + 1])
{
    unsigned char random[APAPI_TOKEN_LENGTH / 2];

    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return -1;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    }
    return 0;
}

/* All addresses of the machine. An IPv4 address has family and port at the same places. */
static int listen_begin(int fd, sa_family_t family, uint16_t port)
{
    static const int yes = 1, no = 0;
    const struct sockaddr_in6 address = {.sin6_family = family, .sin6_port = htons(port)};
    socklen_t size = family == AF_INET6 ? sizeof address : sizeof(struct sockaddr_in);

    if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no)) {
        return -1;
    }
    /* a port can be used again although old connections are in TIME_WAIT */
    if (port && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes)) {
        return -1;
    }
    return bind(fd, (const struct sockaddr *)&address, size) || listen(fd, LISTEN_BACKLOG) ? -1 : 0;
}

/* @return descriptor; -1 with errno. */
static int listen_at(sa_family_t family, uint16_t port)
{
    int fd = spank_apapi_child_keep_away(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));

    if (fd >= 0 && listen_begin(fd, family, port)) {
        int code = errno;

        close(fd);
        errno = code;
        return -1;
    }
    return fd;
}

/* IPv6 if available; it accepts IPv4, too. */
static int listen_at_any(uint16_t port)
{
    int fd = listen_at(AF_INET6, port);

    return fd >= 0 || errno == EADDRINUSE ? fd : listen_at(AF_INET, port);
}

/* Start at a random port: then sruns that start together do not all try the same ports. */
static int listen_in_range(uint16_t first, uint16_t last)
{
    uint32_t count = (uint32_t)last - first + 1, start = 0;
    int fd = -1;

    if (getrandom(&start, sizeof start, GRND_NONBLOCK) != sizeof start) {
        start = (uint32_t)getpid();
    }
    errno = EADDRINUSE;
    for (uint32_t i = 0; i < count && fd < 0 && (errno == EADDRINUSE || errno == EACCES); i++) {
        fd = listen_at_any((uint16_t)(first + (start % count + i) % count));
    }
    return fd;
}

int spank_apapi_listen(uint16_t first, uint16_t last, uint16_t *port, struct apapi_error *err)
{
    bool any = first == 0 && last == 0;
    int fd = any ? listen_at_any(0) : listen_in_range(first, last);
    struct sockaddr_in6 address = {.sin6_port = 0};
    socklen_t size = sizeof address;
    int code;

    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin6_port);
        return fd;
    }
    code = errno;
    if (fd >= 0) {
        close(fd);
    }
    return any ? apapi_fail(err, code, "cannot listen: %s", strerror(code))
               : apapi_fail(err, code, "no port of SrunPortRange=%d-%d can be had: %s", first, last,
                            strerror(code));
}

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

int rendezvous_open(struct spank_apapi_rendezvous *rendezvous)
{
    struct spank_apapi_rendezvous made;
    char name[16];

    made.listener = spank_apapi_child_keep_away(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made.listener < 0 || rendezvous_bind(made.listener, name, sizeof name) ||
        spank_apapi_token(made.token)) {
        int code = errno;

        rendezvous_close(&made);
        errno = code;
        return -1;
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
