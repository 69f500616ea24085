/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/readings.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/thread.h"
#include "channel/ask.h"
#include "node/meters.h"
#include "sources/sources.h"

#define MOST 2000 /* requests in a second: those of more wait for the next one, or are refused */

int node_readings_open(struct node_readings *readings, int folder, struct apapi_error *err)
{
    readings->page = node_folder_map(folder, READINGS_PAGE, sizeof *readings->page, NULL, err);
    if (!readings->page) {
        return -1;
    }
    pthread_mutex_init(&readings->mutex, NULL);
    readings_page_begin(readings->page, clock_monotonic_ns());
    return 0;
}

/* Steps see their own GPUs, and counters that begin when they are opened their own beginning. */
static bool readings_are_common(const struct apapi_reader *reader)
{
    bool common = reader->source->common;

    for (size_t i = 0; i < reader->count; i++) {
        common &= reader->events[i].domain != APAPI_DOMAIN_GPU && !reader->events[i].estimated;
    }
    return common;
}

/* @return what is kept of an event, or a free place; NULL: there is no room for it */
static struct node_peak *readings_peak(struct node_readings *readings, const char *name)
{
    for (struct node_peak *peak = readings->peaks; peak < readings->peaks + NODE_PEAKS; peak++) {
        if (!*peak->name || strcmp(peak->name, name) == 0) {
            return peak;
        }
    }
    return NULL;
}

/* The page goes on from what was seen before. */
static void readings_recall(struct node_readings *readings, int number)
{
    const struct readings_component *of = &readings->page->components[number];

    for (uint32_t i = of->first; i < of->first + of->count; i++) {
        struct readings_event *event = &readings->page->events[i];
        const struct node_peak *peak = readings_peak(readings, event->event.name);

        if (peak && *peak->name && event->event.kind == APAPI_KIND_POWER) {
            event->seen_w = (float)peak->most_w;
            event->seen = peak->seen;
        }
    }
}

void node_readings_keep(struct node_readings *readings, struct node_peak peaks[NODE_PEAKS])
{
    const struct readings_page *page = readings->page;

    if (!page) {
        return;
    }
    pthread_mutex_lock(&readings->mutex);
    for (size_t c = 0; c < page->component_count; c++) {
        const struct readings_component *of = &page->components[c];

        for (uint32_t i = of->first; i < of->first + of->count; i++) {
            const struct readings_event *event = &page->events[i];
            struct node_peak *peak =
                event->seen > 0 ? readings_peak(readings, event->event.name) : NULL;

            if (peak) {
                snprintf(peak->name, sizeof peak->name, "%s", event->event.name);
                peak->most_w = (double)event->seen_w;
                peak->seen = event->seen;
            }
        }
    }
    memcpy(peaks, readings->peaks, sizeof readings->peaks);
    pthread_mutex_unlock(&readings->mutex);
}

/* @return the component's place; NULL: there is no room for it */
static struct node_readings_of *readings_of(struct node_readings *readings,
                                            const struct session_reading *reading)
{
    struct node_readings_of *of;

    for (size_t i = 0; i < readings->count; i++) {
        if (strcmp(readings->known[i].component, reading->component) == 0) {
            return &readings->known[i];
        }
    }
    if (readings->count == READINGS_COMPONENTS) {
        return NULL;
    }
    of = &readings->known[readings->count++];
    snprintf(of->component, sizeof of->component, "%s", reading->component);
    of->number = readings_are_common(reading->reader)
                     ? readings_page_add(readings->page, of->component, reading->reader)
                     : -1;
    if (of->number >= 0) {
        readings_recall(readings, of->number);
    }
    return of;
}

/* A source that was opened again may have other events. */
static bool readings_fit(const struct node_readings *readings, int number,
                         const struct apapi_reader *reader)
{
    const struct readings_component *component = &readings->page->components[number];
    struct apapi_event a;

    if (component->count != reader->count || strcmp(component->source, reader->source->name) != 0) {
        return false;
    }
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *b = &reader->events[i];

        if (!readings_page_event(readings->page, number, i, &a) || strcmp(a.name, b->name) != 0 ||
            a.type != b->type || a.scale != b->scale || a.accumulates != b->accumulates ||
            a.range_max != b->range_max) {
            return false;
        }
    }
    return true;
}

void node_readings_write(const struct session_reading *reading, void *context)
{
    struct node_readings *readings = context;
    struct node_readings_of *of;

    pthread_mutex_lock(&readings->mutex);
    of = readings_of(readings, reading);
    if (of && of->number >= 0 && !readings_fit(readings, of->number, reading->reader)) {
        readings_page_withdraw(readings->page, of->number);
        of->number = -1;
    }
    if (of && of->number >= 0) {
        readings_page_write(readings->page, of->number, reading->raw, reading->when.begin_ns,
                            reading->when.end_ns);
    }
    pthread_mutex_unlock(&readings->mutex);
}

void node_readings_close(struct node_readings *readings)
{
    if (readings->page) {
        readings_page_end(readings->page);
        munmap(readings->page, sizeof *readings->page);
        pthread_mutex_destroy(&readings->mutex);
    }
}

static void requests_accept(struct node_requests *requests)
{
    struct ask ask;
    ssize_t size = recv(requests->socket, &ask, sizeof ask, MSG_DONTWAIT | MSG_TRUNC);

    if (size != (ssize_t)sizeof ask || memcmp(ask.magic, ASK_MAGIC, sizeof ask.magic) != 0 ||
        ask.version != ASK_VERSION || (ask.kind != ASK_LOOK && ask.kind != ASK_COUNT) ||
        !memchr(ask.component, '\0', sizeof ask.component)) {
        return;
    }
    if (ask.kind == ASK_COUNT) {
        atomic_store(&requests->counted_ns, clock_monotonic_ns());
    }
    session_read_now(requests->session, *ask.component ? ask.component : NULL,
                     ask.kind == ASK_COUNT);
}

static void *requests_run(void *argument)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    struct node_requests *requests = argument;
    struct pollfd watched[] = {{.fd = requests->stop, .events = POLLIN},
                               {.fd = requests->socket, .events = POLLIN}};
    uint64_t second_ns = 0; /* when the present second began */
    unsigned count = 0;     /* of requests in it */

    while (poll(watched, 2, -1) < 0 || !watched[0].revents) {
        uint64_t now_ns;

        if (!watched[1].revents) {
            continue;
        }
        requests_accept(requests);
        now_ns = clock_monotonic_ns();
        if (now_ns - second_ns >= (uint64_t)NS_PER_S) {
            second_ns = now_ns;
            count = 0;
        } else if (++count > MOST) {
            nanosleep(&pause, NULL); /* a flood costs no more than a few percent of a core */
        }
    }
    return NULL;
}

int node_requests_open(struct node_requests *requests, int folder, struct apapi_session *session,
                       struct apapi_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct sockaddr *name = (const struct sockaddr *)&address;
    mode_t before = umask(0177);

    /* By the folder's descriptor: its path may be too long for an address. */
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" ASK_SOCKET, folder);
    unlinkat(folder, ASK_SOCKET, 0);
    requests->session = session;
    requests->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    requests->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    requests->runs = requests->stop >= 0 && requests->socket >= 0 &&
                     bind(requests->socket, name, sizeof address) == 0 &&
                     thread_start(&requests->thread, requests_run, requests) == 0;
    umask(before);
    if (!requests->runs) {
        folder_close(requests->socket);
        folder_close(requests->stop);
        return apapi_fail(err, errno, "nobody can ask for a reading: %s", strerror(errno));
    }
    return 0;
}

void node_requests_close(struct node_requests *requests)
{
    const uint64_t one = 1;

    if (requests->runs && write(requests->stop, &one, sizeof one) == (ssize_t)sizeof one) {
        pthread_join(requests->thread, NULL);
        requests->runs = false;
        close(requests->socket);
        close(requests->stop);
    }
}
