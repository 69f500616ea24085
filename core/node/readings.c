/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/readings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "node/folder.h"
#include "sources/sources.h"

int node_readings_open(struct node_readings *readings, int folder, struct apapi_error *err)
{
    readings->page =
        node_folder_map(folder, READINGS_PAGE, sizeof *readings->page, &readings->file, err);
    if (!readings->page) {
        return -1;
    }
    readings_page_begin(readings->page, clock_monotonic_ns());
    return 0;
}

/* Steps see their own GPUs, and counters that begin when they are opened their own beginning. */
static bool node_readings_is_common(const struct apapi_reader *reader)
{
    bool common = reader->source->common;

    for (size_t i = 0; i < reader->count; i++) {
        common &= reader->events[i].domain != APAPI_DOMAIN_GPU && !reader->events[i].estimated;
    }
    return common;
}

static struct node_readings_of *node_readings_find(struct node_readings *readings,
                                                   const char *component)
{
    for (size_t i = 0; i < readings->count; i++) {
        if (strcmp(readings->known[i].component, component) == 0) {
            return &readings->known[i];
        }
    }
    return NULL;
}

static struct node_readings_of *node_readings_add(struct node_readings *readings,
                                                  const struct session_reading *reading)
{
    struct node_readings_of *of;

    if (readings->count == READINGS_COMPONENTS) {
        return NULL;
    }
    of = &readings->known[readings->count++];
    snprintf(of->component, sizeof of->component, "%s", reading->component);
    of->number = node_readings_is_common(reading->reader)
                     ? readings_page_add(readings->page, of->component, reading->reader)
                     : -1;
    return of;
}

static bool node_readings_is_event(const struct apapi_event *a, const struct apapi_event *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->scale == b->scale &&
           a->accumulates == b->accumulates && a->range_max == b->range_max;
}

/* A source that was opened again may have other events. */
static bool node_readings_fit(const struct node_readings *readings, int number,
                              const struct apapi_reader *reader)
{
    const struct readings_component *component = &readings->page->components[number];
    struct apapi_event event;

    if (component->count != reader->count || strcmp(component->source, reader->source->name) != 0) {
        return false;
    }
    for (size_t i = 0; i < reader->count; i++) {
        if (!readings_page_event(readings->page, number, i, &event) ||
            !node_readings_is_event(&event, &reader->events[i])) {
            return false;
        }
    }
    return true;
}

static void node_readings_write(struct node_readings *readings,
                                const struct session_reading *reading)
{
    struct node_readings_of *of = node_readings_find(readings, reading->component);

    of = of ? of : node_readings_add(readings, reading);
    if (of && of->number >= 0 && !node_readings_fit(readings, of->number, reading->reader)) {
        readings_page_withdraw(readings->page, of->number);
        of->number = -1;
    }
    if (of && of->number >= 0) {
        readings_page_write(readings->page, of->number, reading->raw, reading->when.begin_ns,
                            reading->when.end_ns);
    }
}

void node_readings_take(const struct session_reading *reading, void *context)
{
    struct node_readings *readings = context;

    pthread_mutex_lock(&readings->mutex);
    node_readings_write(readings, reading);
    pthread_mutex_unlock(&readings->mutex);
}

void node_readings_close(struct node_readings *readings)
{
    if (readings->page) {
        readings_page_end(readings->page);
        munmap(readings->page, sizeof *readings->page);
    }
    folder_close(readings->file);
}
