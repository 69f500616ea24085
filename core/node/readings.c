/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/readings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/shared_page.h"
#include "base/thread.h"
#include "channel/ask.h"
#include "node/meters.h"
#include "sources/sources.h"

#define MOST 2000 /* requests in a second; more are taken slowly, or find the queue full */

/* --- the page ------------------------------------------------------------------------------ */

/* Set a new, even number, also if a killed writer left it odd: the old contents become invalid. */
static void page_wake(struct readings_component *component)
{
    __atomic_store_n(&component->sequence, (component->sequence | 1) + 1, __ATOMIC_RELEASE);
    futex_wake(&component->sequence);
}

/* @param life  0: the page is not written any more */
static void page_live(struct readings_page *page, uint64_t life)
{
    __atomic_store_n(&page->component_count, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&page->life, life, __ATOMIC_RELEASE);
    for (int i = 0; i < READINGS_COMPONENTS; i++) {
        page_wake(&page->components[i]);
    }
}

int node_readings_open(struct node_readings *readings, int folder, struct apapi_error *err)
{
    struct readings_page *page = node_folder_map(folder, READINGS_PAGE, sizeof *page, NULL, err);

    readings->page = page;
    if (!page) {
        return -1;
    }
    pthread_mutex_init(&readings->mutex, NULL);
    page->version = READINGS_VERSION;
    page->size = sizeof *page;
    page_live(page, clock_monotonic_ns());
    memcpy(page->magic, READINGS_MAGIC, sizeof page->magic);
    return 0;
}

void node_readings_close(struct node_readings *readings)
{
    if (readings->page) {
        page_live(readings->page, 0);
        shared_page_unmap(readings->page, sizeof *readings->page);
        pthread_mutex_destroy(&readings->mutex);
    }
}

/* Not common: GPUs, which differ by step, and counters that begin at 0 when a reader opens them. */
static bool readings_are_common(const struct apapi_reader *reader)
{
    bool common = reader->source->common;

    for (size_t i = 0; i < reader->count; i++) {
        common &= reader->events[i].domain != APAPI_DOMAIN_GPU && !reader->events[i].estimated;
    }
    return common;
}

/* @return the peak of an event, or a free place for it; NULL: there is no room */
static struct node_peak *readings_peak(struct node_readings *readings, const char *name)
{
    for (struct node_peak *peak = readings->peaks; peak < readings->peaks + NODE_PEAKS; peak++) {
        if (!*peak->name || strcmp(peak->name, name) == 0) {
            return peak;
        }
    }
    return NULL;
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

/*
 * Events keep their places: the events of a component that comes later lie behind them.
 * @return the reading's component, which may be gone; NULL: there is no room for it
 */
static struct readings_component *readings_of(struct node_readings *readings,
                                              const struct session_reading *reading)
{
    struct readings_page *page = readings->page;
    const struct apapi_reader *reader = reading->reader;
    struct readings_component *component = page->components;
    uint64_t number = page->component_count;
    uint32_t first = 0;

    for (; component < page->components + number; component++) {
        if (strcmp(component->name, reading->component) == 0) {
            return component;
        }
        first = component->first + component->count;
    }
    if (number == READINGS_COMPONENTS || reader->count > READINGS_EVENTS - first) {
        return NULL;
    }
    snprintf(component->name, sizeof component->name, "%s", reading->component);
    snprintf(component->source, sizeof component->source, "%s", reader->source->name);
    memcpy(component->detail, reader->detail, sizeof component->detail);
    for (size_t i = 0; i < reader->count; i++) {
        struct readings_event *event = &page->events[first + i];
        const struct node_peak *peak = readings_peak(readings, reader->events[i].name);

        *event = (struct readings_event){.event = reader->events[i]};
        if (peak && *peak->name && event->event.kind == APAPI_KIND_POWER) { /* its peak goes on */
            event->seen_w = (float)peak->most_w;
            event->seen = peak->seen;
        }
    }
    component->first = first;
    component->count = (uint32_t)reader->count;
    component->slow = reader->own_worker;
    __atomic_store_n(&component->gone, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&component->begin_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&page->component_count, number + 1, __ATOMIC_RELEASE);
    return component;
}

/* @return whether the page has these events: a source that was opened again may have others. */
static bool readings_fit(const struct readings_page *page,
                         const struct readings_component *component,
                         const struct apapi_reader *reader)
{
    if (component->count != reader->count || strcmp(component->source, reader->source->name) != 0) {
        return false;
    }
    for (size_t i = 0; i < reader->count; i++) {
        if (!component_event_is_same(&page->events[component->first + i].event,
                                     &reader->events[i])) {
            return false;
        }
    }
    return true;
}

static void readings_see(struct readings_event *of, const struct apapi_reading *reading)
{
    double power_w = apapi_event_value(&of->event, reading->raw);

    if (of->event.kind == APAPI_KIND_POWER && !of->event.accumulates && reading->error == 0 &&
        power_w <= apapi_domain_max_w(of->event.domain)) { /* what is beyond may be wrong */
        of->seen_w = fmaxf(of->seen_w, (float)power_w);
        __atomic_store_n(&of->seen, of->seen + 1, __ATOMIC_RELEASE);
    }
}

void node_readings_write(const struct session_reading *reading, void *context)
{
    struct node_readings *readings = context;
    struct readings_page *page = readings->page;
    const uint64_t times_ns[2] = {reading->when.begin_ns, reading->when.end_ns};
    struct readings_component *component;

    if (!readings_are_common(reading->reader)) {
        return;
    }
    pthread_mutex_lock(&readings->mutex);
    component = readings_of(readings, reading);
    if (component && !component->gone && !readings_fit(page, component, reading->reader)) {
        __atomic_store_n(&component->gone, 1, __ATOMIC_RELEASE);
        page_wake(component);
    } else if (component && !component->gone) {
        __atomic_store_n(&component->sequence, component->sequence | 1, __ATOMIC_RELEASE);
        for (uint32_t i = 0; i < component->count; i++) {
            const struct readings_value value = {reading->raw[i].raw,
                                                 (uint64_t)reading->raw[i].error};

            shared_words_store(&page->values[component->first + i], &value, 2);
            readings_see(&page->events[component->first + i], &reading->raw[i]);
        }
        shared_words_store(&component->begin_ns, times_ns, 2);
        page_wake(component);
    }
    pthread_mutex_unlock(&readings->mutex);
}

/* --- requests ------------------------------------------------------------------------------- */

void node_requests_take(struct node_requests *requests)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    uint64_t now_ns = clock_monotonic_ns();
    char text[ASK_SIZE] = "";
    ssize_t size = recv(requests->socket, text, sizeof text - 1, MSG_DONTWAIT | MSG_TRUNC);
    bool counts = strncmp(text, ASK_COUNT, strlen(ASK_COUNT)) == 0;

    if (size > 0 && size < (ssize_t)sizeof text &&
        (counts || strncmp(text, ASK_LOOK, strlen(ASK_LOOK)) == 0)) {
        const char *component = strchr(text, ' ') + 1;

        requests->counted_ns = counts ? now_ns : requests->counted_ns;
        session_read_now(requests->session, *component ? component : NULL, counts);
    }
    if (now_ns - requests->second_ns >= (uint64_t)NS_PER_S) {
        requests->second_ns = now_ns;
        requests->count = 0;
    } else if (++requests->count > MOST) {
        nanosleep(&pause, NULL); /* a flood costs no more than a few percent of a core */
    }
}

int node_requests_open(struct node_requests *requests, int folder, struct apapi_session *session,
                       struct apapi_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct sockaddr *name = (const struct sockaddr *)&address;
    mode_t before = umask(0177);
    int file;

    /* Name the folder by its descriptor: the folder's path may be too long for an address. */
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" ASK_SOCKET, folder);
    unlinkat(folder, ASK_SOCKET, 0);
    file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *requests = (struct node_requests){.session = session, .socket = file};
    if (file >= 0 && bind(file, name, sizeof address)) {
        folder_close(file);
        requests->socket = -1;
    }
    umask(before);
    return requests->socket >= 0
               ? 0
               : apapi_fail(err, errno, "nobody can ask for a reading: %s", strerror(errno));
}
