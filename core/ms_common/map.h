/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_MAP_H
#define MS_COMMON_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"
#include "ms_common/measurement.h"

/* Which events of a component get into which fields of a measurement, and getting them there. */

/** Figures of the operating system where the events lack them. Bits. */
enum part {
    PART_NONE,
    PART_TEMPERATURE = 1,
    PART_FREQUENCY = 2,
    PART_TIME = 4,
    PART_MEMORY = 8,
    PART_ALL = 15
};

/** Numbers of an event in its unit; NaN: not known. */
struct figure {
    double total; /* energy [J]; of other gauges: value x time */
    double mean;  /* of energy and power [W] */
    double max;
    double sum; /* of all raw values */
    double now; /* of energy [W] */
};

/** The values of a gauge, or the rate of a counter, since a start. Empty: all zeros. */
struct course {
    double last, max;
    double integral;  /* value x time [ns] */
    uint64_t last_ns; /* 0: what comes next has nothing before it */
    uint64_t covered_ns;
    bool known; /* there has been a value */
};

/** A gauge's value. @param now_ns  CLOCK_MONOTONIC, later than that of the value before [ns] */
void course_add(struct course *course, double value, uint64_t now_ns);

/** A counter's increment since the call before; NaN: not known. */
void course_count(struct course *course, double amount, uint64_t now_ns);

/** @return all that is known so far; without the sum of raw values. */
struct figure course_figure(const struct course *course);

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

/** Match events with fields. @param map  empty it with map_clear() @return 0; -1: no memory */
int map_build(struct map *map, enum resource resource, const struct event_table *events);

/** Store what is known. @param figures  one for each event */
void map_store(const struct map *map, const struct figure *figures, void *measurement);

void map_clear(struct map *map);

/** Have the source taken that offers the events of the original APAPI's PAPI. */
void map_want_old_events(void);

#endif
