/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/asks.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/thread.h"
#include "channel/ask.h"

#define MOST 2000 /* requests in a second: those of more wait for the next one, or are refused */

/* How many there were in this second. */
struct asks_second {
    uint64_t begin_ns;
    unsigned count;
};

static bool asks_is_sound(const struct ask *ask, ssize_t size)
{
    return size == (ssize_t)sizeof *ask && memcmp(ask->magic, ASK_MAGIC, sizeof ask->magic) == 0 &&
           ask->version == ASK_VERSION && (ask->kind == ASK_LOOK || ask->kind == ASK_COUNT) &&
           memchr(ask->component, '\0', sizeof ask->component);
}

static void asks_pass_on(struct node_asks *asks, const struct ask *ask)
{
    bool counts = ask->kind == ASK_COUNT;

    if (counts) {
        atomic_store(&asks->counted_ns, clock_monotonic_ns());
    }
    session_read_now(asks->session, *ask->component ? ask->component : NULL, counts);
}

/* A flood costs no more than a few percent of a core. */
static void asks_pace(struct asks_second *second)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    uint64_t now_ns = clock_monotonic_ns();

    if (now_ns - second->begin_ns >= (uint64_t)NS_PER_S) {
        *second = (struct asks_second){.begin_ns = now_ns};
    } else if (++second->count > MOST) {
        nanosleep(&pause, NULL);
    }
}

static void *asks_listen(void *argument)
{
    struct node_asks *asks = argument;
    struct pollfd watched[] = {{.fd = asks->stop, .events = POLLIN},
                               {.fd = asks->socket, .events = POLLIN}};
    struct asks_second second = {0};

    while (poll(watched, 2, -1) < 0 || !watched[0].revents) {
        struct ask ask;

        if (watched[1].revents) {
            ssize_t size = recv(asks->socket, &ask, sizeof ask, MSG_DONTWAIT | MSG_TRUNC);

            if (asks_is_sound(&ask, size)) {
                asks_pass_on(asks, &ask);
            }
            asks_pace(&second);
        }
    }
    return NULL;
}

/* By the folder's descriptor: its path may be too long for an address. */
static int asks_bind(struct node_asks *asks, int folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    mode_t before = umask(0177);
    int result;

    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" ASK_SOCKET, folder);
    unlinkat(folder, ASK_SOCKET, 0);
    result = bind(asks->socket, (const struct sockaddr *)&address, sizeof address);
    umask(before);
    return result;
}

static int asks_open(struct node_asks *asks, int folder)
{
    asks->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    asks->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (asks->stop < 0 || asks->socket < 0 || asks_bind(asks, folder) ||
        thread_start(&asks->thread, asks_listen, asks)) {
        return -1;
    }
    asks->runs = true;
    return 0;
}

int node_asks_open(struct node_asks *asks, int folder, struct apapi_session *session,
                   struct apapi_error *err)
{
    asks->session = session;
    return asks_open(asks, folder)
               ? apapi_fail(err, errno, "nobody can ask for a reading: %s", strerror(errno))
               : 0;
}

void node_asks_close(struct node_asks *asks)
{
    const uint64_t one = 1;

    if (asks->runs && write(asks->stop, &one, sizeof one) == (ssize_t)sizeof one) {
        pthread_join(asks->thread, NULL);
        asks->runs = false;
    }
    folder_close(asks->socket);
    folder_close(asks->stop);
    asks->socket = asks->stop = -1;
}
