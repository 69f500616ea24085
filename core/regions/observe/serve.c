/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "regions/message.h"
#include "regions/observe/observe.h"
#include "regions/observe/observer.h"

#define SERVE_CONNECTIONS (OBSERVE_PROGRAMS_MAX + 64)
#define SERVE_AT_ONCE 64                  /* events that are handled before other work */
#define SERVE_SLICE_NS UINT64_C(10000000) /* processor time that is used before other work */
#define SERVE_BACKLOG SERVE_CONNECTIONS   /* all ranks of a job may come at once */
#define SERVE_LOGS 8                      /* lines in the log at most */
#define SERVE_PART 10                     /* one tenth of a core at most, for all messages */
#define SERVE_BURST_NS UINT64_C(50000000) /* processor time without a pause */

/* A process: it has registered a page, or it is `apapi mark`. */
struct serve_peer {
    int channel;
    pid_t pid;
    bool registers; /* has registered a page, which may have been refused */
    struct observed *program;
    struct serve_peer *next;
};

struct serve {
    struct observer *observer;
    serve_log_f log;
    unsigned logged;
    uint32_t uid;
    int listener, poll;
    int ends;    /* epoll of the registered programs: which have ended */
    bool behind; /* messages wait since a pause */
    bool deaf;   /* no descriptor was left: programs wait in the queue */
    size_t peer_count;
    struct serve_peer *peers;
    uint64_t publish_ns; /* next time to publish results; 0: there is no program */
    uint64_t busy_ns;    /* when past work has used its part of a core only; far ahead: pause */
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
};

static void serve_say(struct serve *serve, const struct serve_peer *peer, const char *what)
{
    char text[320];

    if (serve->log && serve->logged < SERVE_LOGS) {
        serve->logged++;
        snprintf(text, sizeof text, "regions of process %ld are not kept: %s%s", (long)peer->pid,
                 what, serve->logged == SERVE_LOGS ? "; others are only counted" : "");
        serve->log(text);
    }
}

static int serve_bind(struct serve *serve)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, serve->path, sizeof address.sun_path);
    serve->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    unlink(serve->path); /* the socket of a sampler that was killed */
    /* only the step's user can enter the folder */
    return serve->listener < 0 || bind(serve->listener, (const void *)&address, sizeof address) ||
                   chmod(serve->path, 0666) || listen(serve->listener, SERVE_BACKLOG)
               ? -1
               : 0;
}

/* @param epoll  of `serve`. @param events  beside EPOLLHUP, which comes always */
static int serve_watch(int epoll, int file, uint32_t events, void *what)
{
    struct epoll_event event = {.events = events, .data.ptr = what};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event);
}

struct serve *serve_open(const char *path, uint32_t uid, struct observer *observer, serve_log_f log)
{
    struct serve *serve = calloc(1, sizeof(*serve));
    int length;

    if (!serve) {
        errno = ENOMEM;
        return NULL;
    }
    *serve = (struct serve){.observer = observer, .log = log, .uid = uid, .listener = -1};
    serve->poll = epoll_create1(EPOLL_CLOEXEC);
    serve->ends = epoll_create1(EPOLL_CLOEXEC);
    length = snprintf(serve->path, sizeof serve->path, "%s" REGION_SOCKET_SUFFIX, path);
    if (length < 0 || (size_t)length >= sizeof serve->path) {
        serve->path[0] = '\0';
        errno = ENAMETOOLONG;
    } else if (serve->poll >= 0 && serve->ends >= 0 && serve_bind(serve) == 0 &&
               serve_watch(serve->poll, serve->listener, EPOLLIN, serve) == 0) {
        return serve;
    }
    serve_close(serve);
    return NULL;
}

/* @return whether to pause, as after each burst: a flood of messages must not take a core. */
static bool serve_pauses(const struct serve *serve)
{
    return serve->busy_ns > clock_monotonic_ns() + SERVE_BURST_NS * SERVE_PART;
}

int serve_descriptor(const struct serve *serve)
{
    return serve_pauses(serve) ? serve->ends : serve->poll;
}

/* Drop a connection, after a last look at the program's page. */
static void serve_drop(struct serve *serve, struct serve_peer *peer)
{
    struct serve_peer **place = &serve->peers;

    while (*place != peer) {
        place = &(*place)->next;
    }
    *place = peer->next;
    serve->peer_count--;
    if (peer->program) {
        observe_remove(serve->observer, peer->program);
    }
    /* close() is not enough while a new process still has the sampler's descriptors */
    epoll_ctl(serve->poll, EPOLL_CTL_DEL, peer->channel, NULL);
    epoll_ctl(serve->ends, EPOLL_CTL_DEL, peer->channel, NULL);
    close(peer->channel);
    free(peer);
    if (serve->deaf && serve_watch(serve->poll, serve->listener, EPOLLIN, serve) == 0) {
        serve->deaf = false;
    }
}

static void serve_accept(struct serve *serve)
{
    struct ucred who = {.uid = UINT32_MAX};
    socklen_t size = sizeof who;
    int channel = accept4(serve->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct serve_peer *peer;

    if (channel < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* not watched until a descriptor is free: poll() would return at once, for ever */
            epoll_ctl(serve->poll, EPOLL_CTL_DEL, serve->listener, NULL);
            serve->deaf = true;
        }
        return;
    }
    if (getsockopt(channel, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
        (who.uid != serve->uid && who.uid != 0 && who.uid != geteuid())) {
        close(channel);
        return;
    }
    peer = serve->peer_count < SERVE_CONNECTIONS ? calloc(1, sizeof(*peer)) : NULL;
    if (!peer) {
        serve->observer->losses.programs++;
        close(channel);
        return;
    }
    *peer = (struct serve_peer){.channel = channel, .pid = who.pid, .next = serve->peers};
    if (serve_watch(serve->poll, channel, EPOLLIN, peer)) {
        close(channel);
        free(peer);
        return;
    }
    serve->peers = peer;
    serve->peer_count++;
}

/* Create a result page that its reader cannot change and nobody can shorten. @return -1: none. */
static int serve_results(struct observed *program)
{
    const size_t size = sizeof(struct page_results);
    int file = memfd_create("apapi-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *page = MAP_FAILED;

    if (file >= 0 && ftruncate(file, (off_t)size) == 0) {
        page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (page == MAP_FAILED) {
        if (file >= 0) {
            close(file);
        }
        return -1;
    }
    page_results_init(page);
    region_seal(file);
    program->results = page;
    return file;
}

/* @return whether it is not known when the program ended: in a region, while messages waited. */
static bool serve_is_late(const struct serve *serve, const struct serve_peer *peer,
                          const struct observed *program)
{
    struct pollfd channel = {.fd = peer->channel};

    return serve->behind && !__atomic_load_n(&program->page->head.ended, __ATOMIC_ACQUIRE) &&
           poll(&channel, 1, 0) == 1 && channel.revents & POLLHUP;
}

static void serve_register(struct serve *serve, struct serve_peer *peer, int file)
{
    struct apapi_error err = {"it has registered twice"};
    struct region_message answer;
    struct observed *program = peer->program ? NULL : observed_create(file, &err);
    int results;

    if (program && serve_is_late(serve, peer, program)) {
        serve->observer->losses.programs++;
        observed_destroy(program);
        return;
    }
    if (program && observe_add(serve->observer, program) < 0) {
        snprintf(err.text, sizeof err.text, "%s",
                 errno == ENOSPC ? "too many programs or threads" : strerror(errno));
        observed_destroy(program);
        serve_say(serve, peer, err.text);
        return;
    }
    if (!program) {
        serve->observer->losses.refused++;
        serve_say(serve, peer, err.text);
        return;
    }
    peer->program = program;
    serve_watch(serve->ends, peer->channel, 0, peer);
    results = serve_results(program);
    if (results >= 0) {
        region_message_init(&answer, REGION_RESULTS, NULL);
        region_send(peer->channel, &answer, results);
        close(results);
    }
    if (serve->publish_ns == 0) {
        serve->publish_ns = clock_monotonic_ns() + NS_PER_S;
    }
}

/* @param problem  why the message was refused; NULL: it was done */
static void serve_answer(const struct serve_peer *peer, const struct region_message *message,
                         struct observe_energy energy, const char *problem)
{
    struct region_message answer;

    region_message_init(&answer, problem ? REGION_REFUSED : REGION_DONE,
                        problem ? problem : message->name);
    answer.value = energy.energy_j;
    answer.within_j = energy.within_j;
    region_send(peer->channel, &answer, -1);
}

static void serve_shell(struct serve *serve, const struct serve_peer *peer,
                        const struct region_message *message)
{
    struct observe_energy energy = {NAN, NAN, 0};
    int result = message->kind == REGION_BEGIN ? observe_shell_begin(serve->observer, message->name)
                 : message->kind == REGION_END
                     ? observe_shell_end(serve->observer, message->name, &energy)
                     : observe_shell_read(serve->observer, message->name, &energy);

    serve_answer(peer, message, energy,
                 result == 0       ? NULL
                 : errno == ENOENT ? "there is no such region"
                 : errno == E2BIG  ? "too many regions within each other"
                                   : strerror(errno));
}

static void serve_fom(struct serve *serve, const struct serve_peer *peer,
                      const struct region_message *message)
{
    int result = observe_fom(serve->observer, message->name, message->value, message->unit);

    serve_answer(peer, message, (struct observe_energy){NAN, NAN, 0},
                 result == 0       ? NULL
                 : errno == ENOSPC ? "too many figures of merit"
                                   : "the value is not finite");
}

/* @return whether the connection goes on. */
static bool serve_receive(struct serve *serve, struct serve_peer *peer)
{
    struct region_message message;
    int file;

    if (region_receive(peer->channel, &message, &file) < 0) {
        return false;
    }
    switch (message.kind) {
    case REGION_REGISTER:
        peer->registers = true;
        serve_register(serve, peer, file);
        break;
    case REGION_BEGIN:
    case REGION_END:
    case REGION_READ:
        serve_shell(serve, peer, &message);
        break;
    case REGION_FOM:
        if (!peer->registers) { /* programs with an older libapapi send them, too */
            serve_fom(serve, peer, &message);
        }
        break;
    default:
        break;
    }
    if (file >= 0) {
        close(file);
    }
    return true;
}

/*
 * Handle events, after the first one until `until_ns` of processor time.
 * @return how many there were; those not handled come again the next time
 */
static int serve_events(struct serve *serve, uint64_t until_ns)
{
    struct epoll_event events[SERVE_AT_ONCE];
    int count = epoll_wait(serve->poll, events, SERVE_AT_ONCE, 0);

    for (int i = 0; i < count && (i == 0 || clock_thread_cpu_ns() < until_ns); i++) {
        struct serve_peer *peer = events[i].data.ptr;

        if (events[i].data.ptr == serve) {
            serve_accept(serve);
        } else if (!serve_receive(serve, peer) && errno != EAGAIN && errno != EINTR) {
            serve_drop(serve, peer);
        }
    }
    return count;
}

/*
 * Drop the programs that have ended, also in a pause: a page that is still looked at goes on being
 * in its region. There are no more of them than have been registered between pauses. As
 * serve_events().
 */
static int serve_ends(struct serve *serve, uint64_t until_ns)
{
    struct epoll_event events[SERVE_AT_ONCE];
    int count = epoll_wait(serve->ends, events, SERVE_AT_ONCE, 0);

    for (int i = 0; i < count && (i == 0 || clock_thread_cpu_ns() < until_ns); i++) {
        serve_drop(serve, events[i].data.ptr);
    }
    return count;
}

/* Handle messages that were sent before the end. */
static void serve_pending(struct serve *serve)
{
    uint64_t until_ns = clock_thread_cpu_ns() + SERVE_BURST_NS;

    while (clock_thread_cpu_ns() < until_ns && serve_events(serve, until_ns) > 0) {
    }
}

/* Count the programs that there was no time for. No other can come: a process that has the socket
 * open could connect to it without its name. */
static void serve_count_rest(struct serve *serve)
{
    uint64_t *lost = &serve->observer->losses.programs;
    struct region_message message;
    int channel;

    shutdown(serve->listener, SHUT_RD);
    for (const struct serve_peer *peer = serve->peers; peer; peer = peer->next) {
        *lost +=
            region_receive(peer->channel, &message, NULL) == 0 && message.kind == REGION_REGISTER;
    }
    while ((channel = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        ++*lost;
        close(channel);
    }
}

int serve_work(struct serve *serve)
{
    uint64_t now_ns = clock_monotonic_ns(), begin_ns = clock_thread_cpu_ns();
    int done = serve_ends(serve, begin_ns + SERVE_SLICE_NS);

    if (serve_pauses(serve)) {
        serve->behind = true;
    } else {
        int handled = serve_events(serve, begin_ns + SERVE_SLICE_NS);

        serve->behind = serve->behind && handled > 0;
        done += handled;
    }
    if (done > 0) {
        serve->busy_ns = serve->busy_ns > now_ns ? serve->busy_ns : now_ns;
        serve->busy_ns += (clock_thread_cpu_ns() - begin_ns) * SERVE_PART;
    }
    return done;
}

int serve_pause_ms(const struct serve *serve)
{
    uint64_t now_ns = clock_monotonic_ns(), left_ms;
    uint64_t next_ns =
        serve_pauses(serve) ? serve->busy_ns - SERVE_BURST_NS * SERVE_PART : serve->publish_ns;

    if (next_ns == 0) {
        return -1;
    }
    left_ms = next_ns > now_ns ? (next_ns - now_ns) / 1000000 + 1 : 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

void serve_tick(struct serve *serve)
{
    uint64_t now_ns = clock_monotonic_ns();

    if (serve->publish_ns > 0 && now_ns >= serve->publish_ns) {
        serve->publish_ns = serve->peers ? observe_publish(serve->observer, now_ns) : 0;
    }
}

void serve_close(struct serve *serve)
{
    if (!serve) {
        return;
    }
    if (*serve->path) {
        unlink(serve->path);
    }
    observe_end(serve->observer);
    serve_pending(serve);
    serve_count_rest(serve);
    while (serve->peers) {
        serve_drop(serve, serve->peers);
    }
    if (serve->listener >= 0) {
        close(serve->listener);
    }
    if (serve->poll >= 0) {
        close(serve->poll);
    }
    if (serve->ends >= 0) {
        close(serve->ends);
    }
    free(serve);
}
