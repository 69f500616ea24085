/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_SCENE_H
#define VERIFY_SCENE_H
#include "simulation/history.h"
#include "simulation/random.h"

#define SCENE_PARTS 4096

/** One run: a history of one component with one meter, and how long it is measured. */
struct scene {
    struct history history;
    struct power_part parts[SCENE_PARTS];
    uint64_t start_ns;          /* in the history's time */
    uint64_t length_ns;         /* from start to stop */
    uint64_t fixed_interval_ns; /* of all scenes; 0: the scene's own */
};

/**
 * Begin a scene of no power: a counter as RAPL's that is read every 5 ms to 1 s, for 5 ms to 60 s.
 */
void scene_begin(struct scene *scene, uint64_t fixed_interval_ns, struct random *random);

static inline struct history_component *scene_component(struct scene *scene)
{
    return &scene->history.components[0];
}

static inline struct history_meter *scene_meter(struct scene *scene)
{
    return &scene->history.components[0].meters[0];
}

/** The true power of what it measures. */
struct power *scene_power(struct scene *scene);

/** An interval from `least_ns` to `most_ns`, unless it is fixed. */
void scene_set_interval(struct scene *scene, double least_ns, double most_ns,
                        struct random *random);

/** Make the meter a gauge of power. */
void scene_make_gauge(struct scene *scene);

/** The measurement begins at any phase of the power. Once that is there. */
void scene_end(struct scene *scene, struct random *random);

#endif
