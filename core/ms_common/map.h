/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_MAP_H
#define MS_COMMON_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "apapi/session.h"
#include "ms_common/measurement.h"

/* A map from the events of a component to the fields of a measurement, and its use. */

/** Bits: figures that the operating system gives where the events lack them. */
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
    double now; /* the latest value; of energy [W] */
};

/** The values of a gauge, or the rate of a counter, since a start. Empty: all zeros. */
struct course {
    double last, max;
    double integral;  /* value x time [ns] */
    uint64_t last_ns; /* when `last` was; 0: the next value follows no other one */
    uint64_t covered_ns;
    bool known; /* there has been a value */
};

/** Add a gauge's value. @param now_ns  CLOCK_MONOTONIC, later than that of the last value [ns] */
void course_add(struct course *course, double value, uint64_t now_ns);

/** @return all that is known so far; without the sum of raw values. */
struct figure course_figure(const struct course *course);

/** An array of structures of `stride` bytes, each with an event at its beginning. */
struct event_table {
    const void *first;
    size_t stride;
    size_t count;
};

/** One component's events and a resource's fields. */
struct map {
    enum resource resource;
    struct map_match *matches;
    size_t count;
    unsigned parts;    /* enum part: what the events offer */
    unsigned packages; /* processor packages that have events */
    unsigned gpus;
};

/** Match events with fields. @param map  empty it with map_clear() @return 0; -1: no memory */
int map_build(struct map *map, enum resource resource, const struct event_table *events);

/** Store what is known. @param figures  one for each event */
void map_store(const struct map *map, const struct figure *figures, void *measurement);

void map_clear(struct map *map);

/** Ask for the source that offers the events of the original APAPI's PAPI. */
void map_want_old_events(void);

/* A measurement of a list that is being filled with the figures of a resource. */

struct target {
    enum resource resource;
    void *measurement; /* of the program; NULL: this resource is not measured now */
    uint64_t interval_ns;
    struct map map;
    bool mapped;
    struct figure *figures; /* of the latest reading, for each event; owned */
    struct course *courses; /* of all readings so far, for each event; owned */
};

/** @return the interval that the program has set, within what a session accepts [ns]. */
uint64_t target_interval_ns(enum resource resource, void *measurement);

/** Begin with all figures 0. */
void target_start(struct target *target);

/** Store the values of a reading of a session, and the totals up to it. */
void target_take_sample(struct target *target, const struct apapi_sample *sample);

/** Store what a session has measured. */
void target_take_result(struct target *target, const struct apapi_component_result *result,
                        uint64_t runtime_ns);

/** Store figures of other events. */
void target_take_figures(struct target *target, const struct event_table *events,
                         const struct figure *figures, uint64_t runtime_ns);

void target_clear(struct target *target);

/*
 * The kernel's figures of the processors: temperatures, frequencies, time at work and memory. One
 * thread at a time.
 */

struct machine;

/** @return free it with machine_close(). NULL: no memory */
struct machine *machine_open(void);

/** Forget what was read. */
void machine_start(struct machine *machine);

/**
 * Read, and store in `cpu` the latest values, and sums, means and maxima since the start. The
 * kernel's times move every 10 ms: nothing is read again before that.
 * @param parts   enum part: what to read
 * @param now_ns  CLOCK_MONOTONIC [ns]
 */
void machine_read(struct machine *machine, unsigned parts, uint64_t now_ns, struct ms_cpu *cpu);

/** NULL is allowed. */
void machine_close(struct machine *machine);

#endif
