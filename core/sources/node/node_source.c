/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source that reads no meter: the node sampler does, and tells it by its page (readings_page.h).
 * It gives up at once if the node sampler has ended, and after WAIT_NS if it does not answer; all
 * readings after that fail, and the session goes on with the hardware.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/shared_page.h"
#include "channel/ask.h"
#include "sources/node/readings_page.h"
#include "sources/sources.h"

#define FOLLOWS ", node sampler" /* what is read, by whom */

/* Longest time for which a reading waits [ns]: where it holds up others, and where it does not. */
#define WAIT_NS UINT64_C(200000000)
#define SLOW_WAIT_NS UINT64_C(2000000000)

static struct {
    char live_dir[PATH_MAX], node[NAME_MAX + 1];
    atomic_bool gone; /* it has ended, or does not answer: no other reader waits for it */
} place;

struct node_reader {
    struct apapi_reader base;
    char name[APAPI_COMPONENT_SIZE], origin[32];
    const struct readings_page *page;
    struct readings_wanted wanted;
    uint64_t patience_ns, age_ns, times_ns[2];
    struct apapi_event *events;
    int ask;
    int error; /* it has given up */
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

static int node_source_copy_events(struct node_reader *reader)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        if (!readings_page_event(reader->page, reader->wanted.number, i, &reader->events[i])) {
            errno = EBADMSG;
            return -1;
        }
    }
    return 0;
}

static int node_source_describe_reader(struct node_reader *reader)
{
    const struct readings_component *component = &reader->page->components[reader->wanted.number];
    int room = (int)(sizeof reader->base.detail - sizeof FOLLOWS);

    snprintf(reader->origin, sizeof reader->origin, "%.*s", (int)sizeof component->source - 1,
             component->source);
    snprintf(reader->base.detail, sizeof reader->base.detail, "%.*s" FOLLOWS, room,
             component->detail);
    reader->base.own_worker = component->slow == 1;
    reader->patience_ns = reader->base.own_worker ? SLOW_WAIT_NS : WAIT_NS;
    reader->wanted.count = component->count;
    reader->base.count = component->count;
    reader->events = calloc(reader->base.count, sizeof *reader->events);
    reader->base.events = reader->events;
    return reader->events ? node_source_copy_events(reader) : -1;
}

/* @return whether there is a reading for which nobody has to be asked. */
static bool node_source_has(struct node_reader *reader, struct apapi_reading *readings)
{
    uint64_t now_ns = clock_monotonic_ns();

    reader->wanted.deadline_ns = now_ns;
    reader->wanted.since_ns = now_ns > reader->age_ns ? now_ns - reader->age_ns : 0;
    if (reader->wanted.since_ns <= reader->times_ns[1]) {
        reader->wanted.since_ns = reader->times_ns[1] + 1;
    }
    return reader->age_ns > 0 &&
           readings_page_await(reader->page, &reader->wanted, readings, reader->times_ns) == 0;
}

static int node_source_ask(struct node_reader *reader, struct apapi_reading *readings)
{
    struct readings_wanted *wanted = &reader->wanted;
    int error;

    if (node_source_has(reader, readings)) {
        return 0;
    }
    wanted->since_ns = clock_monotonic_ns();
    wanted->deadline_ns = wanted->since_ns + reader->patience_ns;
    error = ask_send(reader->ask, ASK_LOOK, reader->name, wanted->deadline_ns)
                ? errno
                : readings_page_await(reader->page, wanted, readings, reader->times_ns);
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

/* One that does not answer now is not waited for later. */
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
    if (!reader->page || !readings_page_is_valid(reader->page)) {
        errno = ENODEV;
        return -1;
    }
    reader->wanted.life = readings_page_life(reader->page);
    reader->wanted.number = readings_page_find(reader->page, reader->name);
    if (reader->wanted.number < 0) {
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
