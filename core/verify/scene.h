/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_SCENE_H
#define VERIFY_SCENE_H
#include "base/random.h"
#include "simulation/history.h"

#define SCENE_PARTS 4096 /* of each power */

/** One run: a history of one component, and how long it is measured. */
struct scene {
    struct history history;
    struct power_part parts[HISTORY_EVENTS][SCENE_PARTS];
    uint64_t start_ns;          /* of the measurement, in the history's time; 0: not chosen yet */
    uint64_t length_ns;         /* from start to stop */
    uint64_t fixed_interval_ns; /* between readings; 0: the scene's own */
    struct random *random;      /* what makes it */
    double value;               /* of its ensemble */
};

/**
 * Begin a scene: a counter as RAPL's that is read every 1 ms to 1 s, for 5 ms to 60 s, without any
 * power yet.
 * @param fixed_interval_ns  between readings, whatever the scene wants; 0: as it wants
 */
void scene_begin(struct scene *scene, uint64_t fixed_interval_ns, struct random *random);

/** Add a counter; up to HISTORY_EVENTS in all. @return its power, which has no parts yet. */
struct power *scene_add_counter(struct scene *scene, enum apapi_domain domain, unsigned socket);

static inline struct history_component *scene_component(struct scene *scene)
{
    return &scene->history.components[0];
}

/** The first one. */
static inline struct history_meter *scene_meter(struct scene *scene)
{
    return &scene->history.components[0].meters[0];
}

/** @return the true power of the meter. */
static inline struct power *scene_power_of(struct scene *scene, const struct history_meter *meter)
{
    return &scene->history.powers[meter->domain][meter->socket];
}

/** @return the true power of the first meter. */
static inline struct power *scene_power(struct scene *scene)
{
    return scene_power_of(scene, scene_meter(scene));
}

/** @return what its meters truly counted [J]. */
double scene_energy_j(const struct scene *scene, uint64_t from_ns, uint64_t to_ns);

/** An interval from `least_ns` to `most_ns`, unless it is fixed. */
void scene_set_interval(struct scene *scene, double least_ns, double most_ns);

/** The meter is a gauge of power. */
void scene_make_gauge(struct scene *scene);

/** The measurement begins at any phase of the power, which is there, and of the meters. */
void scene_set_start(struct scene *scene);

#endif
