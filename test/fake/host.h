/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H
/* Plays Slurm: a program with its channel, and a socket on which nodes find the program. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/channel.h"

#define HOST_TOKEN "0123456789abcdef0123456789abcdef"

static inline _Noreturn void host_die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* Listen on the loopback, on any port. @return the socket */
static inline int host_listen(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)address, &size)) {
        host_die("listen");
    }
    return fd;
}

/* Start a program with a listening socket; -1: none. @return the channel to the program */
static inline int host_start(char *program, int listener, pid_t *pid)
{
    char *const argv[] = {program, NULL};
    posix_spawn_file_actions_t actions;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        host_die("socketpair");
    }
    posix_spawn_file_actions_init(&actions);
    /* first move the descriptors away from the numbers that they are to get */
    posix_spawn_file_actions_adddup2(&actions, pair[1], 100);
    if (listener >= 0) {
        posix_spawn_file_actions_adddup2(&actions, listener, 101);
        posix_spawn_file_actions_adddup2(&actions, 101, APAPI_LISTEN_FD);
        posix_spawn_file_actions_addclose(&actions, 101);
    }
    posix_spawn_file_actions_adddup2(&actions, 100, APAPI_CHANNEL_FD);
    posix_spawn_file_actions_addclose(&actions, 100);
    if (posix_spawn(pid, program, &actions, NULL, argv, environ)) {
        host_die(program);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (listener >= 0) {
        close(listener);
    }
    return pair[0];
}

#endif
