/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/actor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define END_LIMIT_NS UINT64_C(1000000000) /* for an actor that does not answer any more */
#define MS_NS UINT64_C(1000000)

int actor_start(struct actor *actor, const struct actor_config *config, struct apapi_error *err)
{
    int pair[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        return apapi_fail(err, errno, "no socket: %s", strerror(errno));
    }
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        actor_loop(pair[1], config);
    }
    close(pair[1]);
    if (pid < 0) {
        int code = errno;

        close(pair[0]);
        return apapi_fail(err, code, "no process: %s", strerror(code));
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *actor = (struct actor){.fd = pair[0], .pid = pid};
    return 0;
}

int actor_order(const struct actor *actor, const struct order *order)
{
    ssize_t sent = send(actor->fd, order, sizeof *order, MSG_NOSIGNAL | MSG_DONTWAIT);

    return sent == (ssize_t)sizeof *order ? 0 : -1;
}

bool actor_hear(const struct actor *actor, struct order_answer *answer)
{
    return actor->fd >= 0 &&
           recv(actor->fd, answer, sizeof *answer, MSG_DONTWAIT) == (ssize_t)sizeof *answer;
}

/* Up to the end of file. */
static void actor_hear_all(const struct actor *actor,
                           void (*hear)(const struct order_answer *answer, void *context),
                           void *context)
{
    uint64_t deadline_ns = clock_monotonic_ns() + END_LIMIT_NS;
    struct pollfd heard = {.fd = actor->fd, .events = POLLIN};
    struct order_answer answer;
    uint64_t now_ns;

    while ((now_ns = clock_monotonic_ns()) < deadline_ns) {
        if (poll(&heard, 1, (int)((deadline_ns - now_ns) / MS_NS) + 1) <= 0) {
            continue; /* the deadline, or a signal */
        }
        if (recv(actor->fd, &answer, sizeof answer, MSG_DONTWAIT) != (ssize_t)sizeof answer) {
            return;
        }
        hear(&answer, context);
    }
}

void actor_end(struct actor *actor, void (*hear)(const struct order_answer *answer, void *context),
               void *context)
{
    const struct order end = {.kind = ORDER_END};

    if (actor->fd < 0) {
        return;
    }
    if (actor_order(actor, &end)) {
        shutdown(actor->fd, SHUT_WR);
    }
    actor_hear_all(actor, hear, context);
    close(actor->fd);
    kill(actor->pid, SIGKILL);
    waitpid(actor->pid, NULL, 0);
    *actor = ACTOR_NONE;
}
