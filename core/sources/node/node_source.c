/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source that reads no meter: the node sampler does, and writes its page (readings_page.h).
 * A reader gives up at once if the node sampler has ended, and after the longest wait below if it
 * does not answer. Then all its readings fail, and the session reads the hardware itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/shared_page.h"
#include "base/thread.h"
#include "channel/ask.h"
#include "sources/node/readings_page.h"
#include "sources/sources.h"

#define FOLLOWS ", node sampler" /* after the description of the source: its reader */
#define SEEN_LEAST 10000         /* readings; at most 3 / 10000 of the time has a higher power */

/* Longest wait for a reading [ns]: in the shared worker, which it holds up, and in an own one. */
_Atomic uint64_t node_source_wait_ns = 200000000;
#define SLOW_WAIT_NS UINT64_C(2000000000)

static struct {
    char live_dir[PATH_MAX], node[NAME_MAX + 1];
    atomic_bool gone; /* the node sampler has ended, or does not answer: no reader waits for it */
} place;

struct node_reader {
    struct apapi_reader base;
    char name[APAPI_COMPONENT_SIZE], origin[32];
    const struct readings_page *page;
    const struct readings_component *component;
    uint64_t life;  /* of the page, when the reader was opened */
    uint32_t first; /* index of the component's first event */
    uint64_t age_ns, times_ns[2];
    struct apapi_event *events;
    int ask;
    int error; /* errno with which the reader has given up; 0: it has not */
};

void node_source_use(const char *live_dir, const char *node)
{
    atomic_store(&place.gone, false);
    if (!live_dir ||
        snprintf(place.live_dir, sizeof place.live_dir, "%s", live_dir) >=
            (int)sizeof place.live_dir ||
        snprintf(place.node, sizeof place.node, "%s", node) >= (int)sizeof place.node) {
        place.live_dir[0] = '\0';
    }
}

static int node_source_probe(const char *component, struct apapi_error *err)
{
    return *place.live_dir && !atomic_load(&place.gone)
               ? 0
               : apapi_fail(err, ENOSYS, "%s: there is no node sampler", component);
}

/* --- the page: nothing in it is relied on --- */

static bool node_source_is_event(const struct apapi_event *event)
{
    return memchr(event->name, '\0', sizeof event->name) &&
           memchr(event->unit, '\0', sizeof event->unit) && event->kind < APAPI_KINDS &&
           event->domain < APAPI_DOMAINS && event->type <= APAPI_TYPE_BIT64 &&
           isfinite(event->scale) && event->scale > 0 && event->guard_j >= 0 && event->most_w >= 0;
}

static int node_source_copy_events(struct node_reader *reader)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        struct readings_event from = reader->page->events[reader->first + i];

        from.event.most_w = from.seen >= SEEN_LEAST ? from.seen_w : from.event.most_w;
        if (!node_source_is_event(&from.event)) {
            errno = EBADMSG;
            return -1;
        }
        reader->events[i] = from.event;
    }
    return 0;
}

static bool node_source_is_gone(const struct node_reader *reader)
{
    return __atomic_load_n(&reader->page->life, __ATOMIC_ACQUIRE) != reader->life ||
           __atomic_load_n(&reader->component->gone, __ATOMIC_ACQUIRE) != 0;
}

/* @return whether the page is of this version, a node sampler writes it, and has the component */
static bool node_source_find(struct node_reader *reader)
{
    const struct readings_page *page = reader->page;
    uint64_t count;

    if (!page || memcmp(page->magic, READINGS_MAGIC, sizeof page->magic) != 0 ||
        page->version != READINGS_VERSION || page->size != sizeof *page) {
        return false;
    }
    reader->life = __atomic_load_n(&page->life, __ATOMIC_ACQUIRE);
    count = reader->life ? __atomic_load_n(&page->component_count, __ATOMIC_ACQUIRE) : 0;
    for (uint64_t i = 0; i < count && i < READINGS_COMPONENTS; i++) {
        const struct readings_component *component = reader->component = &page->components[i];

        reader->first = component->first;
        reader->base.count = component->count;
        if (strncmp(component->name, reader->name, sizeof component->name) == 0 &&
            !node_source_is_gone(reader) && reader->base.count > 0 &&
            reader->base.count <= READINGS_EVENTS &&
            reader->first <= READINGS_EVENTS - reader->base.count) {
            return true;
        }
    }
    return false;
}

/* Copy the latest reading. @return false: it was being written meanwhile. */
static bool node_source_copy(struct node_reader *reader, uint32_t sequence,
                             struct apapi_reading *readings)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        struct readings_value value;

        shared_words_load(&value, &reader->page->values[reader->first + i], 2);
        readings[i] = (struct apapi_reading){value.raw, (int)value.error};
    }
    shared_words_load(reader->times_ns, &reader->component->begin_ns, 2);
    return sequence % 2 == 0 &&
           __atomic_load_n(&reader->component->sequence, __ATOMIC_RELAXED) == sequence;
}

/*
 * Wait for a reading that began at `since_ns` or later. Neither allocates nor locks.
 * @return 0; ETIMEDOUT; ESTALE: another node sampler writes the page, or none, or the component is
 *         gone
 */
static int node_source_await(struct node_reader *reader, uint64_t since_ns, uint64_t deadline_ns,
                             struct apapi_reading *readings)
{
    const uint32_t *word = &reader->component->sequence;

    for (;;) {
        uint32_t sequence = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        bool whole = node_source_copy(reader, sequence, readings);

        if (node_source_is_gone(reader)) {
            return ESTALE;
        }
        if (whole && reader->times_ns[0] >= since_ns) {
            return 0;
        }
        if (clock_monotonic_ns() >= deadline_ns) {
            return ETIMEDOUT;
        }
        futex_wait(word, sequence, deadline_ns);
    }
}

/* --- the reader --- */

/* Get a reading: from the page if that is young enough, or else ask the node sampler for one. */
static int node_source_ask(struct node_reader *reader, struct apapi_reading *readings)
{
    uint64_t now_ns = clock_monotonic_ns(), last_ns = reader->times_ns[1];
    uint64_t since_ns = now_ns > reader->age_ns ? now_ns - reader->age_ns : 0;
    uint64_t deadline_ns = now_ns + (reader->base.own_worker ? SLOW_WAIT_NS : node_source_wait_ns);
    int error;

    since_ns = since_ns > last_ns ? since_ns : last_ns + 1;
    if (reader->age_ns > 0 && node_source_await(reader, since_ns, now_ns, readings) == 0) {
        return 0;
    }
    error = ask_send(reader->ask, ASK_LOOK, reader->name, deadline_ns)
                ? errno
                : node_source_await(reader, now_ns, deadline_ns, readings);
    if (error && !(error == ETIMEDOUT && reader->base.own_worker)) {
        atomic_store(&place.gone, true);
    }
    return error;
}

static void node_source_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct node_reader *reader = (struct node_reader *)base;

    if (!reader->error) {
        reader->error = atomic_load(&place.gone) ? ESTALE : node_source_ask(reader, readings);
    }
    for (size_t i = 0; reader->error && i < base->count; i++) {
        readings[i] = (struct apapi_reading){.error = reader->error};
    }
}

static int node_source_describe_reader(struct node_reader *reader)
{
    const struct readings_component *component = reader->component;
    int room = (int)(sizeof reader->base.detail - sizeof FOLLOWS);

    snprintf(reader->origin, sizeof reader->origin, "%.*s", (int)sizeof component->source - 1,
             component->source);
    snprintf(reader->base.detail, sizeof reader->base.detail, "%.*s" FOLLOWS, room,
             component->detail);
    reader->base.own_worker = component->slow == 1;
    reader->events = calloc(reader->base.count, sizeof *reader->events);
    reader->base.events = reader->events;
    return reader->events ? node_source_copy_events(reader) : -1;
}

/* Read once: a node sampler that does not answer now is not waited for later. */
static int node_source_try(struct node_reader *reader)
{
    struct apapi_reading *readings = calloc(reader->base.count, sizeof *readings);

    if (!readings) {
        return -1;
    }
    node_source_read(&reader->base, readings);
    free(readings);
    errno = reader->error;
    return reader->error ? -1 : 0;
}

static int node_source_attach(struct node_reader *reader)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s/" READINGS_PAGE, place.live_dir, place.node);
    reader->page = shared_page_find(AT_FDCWD, path, O_RDONLY, sizeof *reader->page);
    if (!node_source_find(reader)) {
        errno = ENODEV;
        return -1;
    }
    reader->ask = ask_open(place.live_dir, place.node);
    return reader->ask < 0 || node_source_describe_reader(reader) ? -1 : node_source_try(reader);
}

static void node_source_close(struct apapi_reader *base)
{
    struct node_reader *reader = (struct node_reader *)base;
    int saved = errno;

    if (reader) {
        shared_page_unmap(reader->page, sizeof *reader->page);
        folder_close(reader->ask);
        free(reader->events);
        free(reader);
    }
    errno = saved;
}

static struct apapi_reader *node_source_open(const char *component, struct apapi_error *err)
{
    struct node_reader *reader;

    if (node_source_probe(component, err)) {
        return NULL;
    }
    reader = calloc(1, sizeof *reader);
    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->base.source = &apapi_source_node;
    reader->ask = -1;
    snprintf(reader->name, sizeof reader->name, "%s", component);
    if (node_source_attach(reader)) {
        apapi_fail(err, errno, "%s: the node sampler does not read it: %s", component,
                   strerror(errno));
        node_source_close(&reader->base);
        return NULL;
    }
    return &reader->base;
}

static void node_source_when(const struct apapi_reader *base, uint64_t *begin_ns, uint64_t *end_ns)
{
    const struct node_reader *reader = (const struct node_reader *)base;

    if (!reader->error) {
        *begin_ns = reader->times_ns[0];
        *end_ns = reader->times_ns[1];
    }
}

static void node_source_allow_age(struct apapi_reader *base, uint64_t age_ns)
{
    ((struct node_reader *)base)->age_ns = age_ns;
}

static const struct source_relay relay = {.allow_age = node_source_allow_age,
                                          .when = node_source_when};

const struct apapi_source apapi_source_node = {
    .name = "node",
    .relay = &relay,
    .probe = node_source_probe,
    .open = node_source_open,
    .read = node_source_read,
    .close = node_source_close,
};

/* --- which of this process's components it reads --- */

const char *apapi_route_source(const char *component, const struct apapi_reader *reader)
{
    struct apapi_way ways[APAPI_WAYS_MAX];
    size_t count;

    if (reader->source != &apapi_source_node) {
        return reader->source->name;
    }
    count = apapi_catalog_ways(component, ways);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(ways[i].source->name, ((const struct node_reader *)reader)->origin) == 0) {
            return ways[i].source->name;
        }
    }
    return NULL;
}

struct apapi_reader *apapi_route_open(const char *component, const char *order,
                                      uint64_t interval_ns, struct apapi_error *err)
{
    struct apapi_reader *reader = NULL;
    struct apapi_error ignored;

    if (!order && interval_ns >= APAPI_ROUTE_RELAY_NS &&
        node_source_probe(component, &ignored) == 0) {
        reader = source_open(&apapi_source_node, component, &ignored);
    }
    if (reader &&
        (!apapi_route_source(component, reader) || wanted_events_missing(component, reader) > 0)) {
        source_close(reader);
        reader = NULL;
    }
    return reader ? reader : apapi_catalog_open(component, order, err);
}
