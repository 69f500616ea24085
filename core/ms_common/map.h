/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_MAP_H
#define MS_COMMON_MAP_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/event.h"
#include "ms_common/resource.h"

/* Which events of a component get into which fields of a measurement, and getting them there. */

/** Numbers of an event in its unit; NaN: not known. */
struct figure {
    double total; /* energy [J]; of other gauges: value x time */
    double mean;  /* of energy and power [W] */
    double max;
    double sum; /* of all raw values */
    double now; /* of energy [W] */
};

/** Events that lie in structures of `stride` bytes, each at its beginning. */
struct event_table {
    const void *first;
    size_t stride;
    size_t count;
};

struct map_match;

/** One component's events and a resource's fields. */
struct map {
    enum resource resource;
    struct map_match *matches;
    size_t count;
    unsigned parts;    /* enum part: what the events offer */
    unsigned packages; /* processor packages among them */
    unsigned gpus;
};

/** @return event number `index`. */
const struct apapi_event *event_table_at(const struct event_table *table, size_t index);

/** Match events with fields. @param map  empty it with map_clear() @return 0; -1: no memory */
int map_build(struct map *map, enum resource resource, const struct event_table *events);

/** Store what is known. @param figures  one for each event */
void map_store(const struct map *map, const struct figure *figures, void *measurement);

void map_clear(struct map *map);

#endif
