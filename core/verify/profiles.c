/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/profiles.h"

#define PERIOD_LEAST_NS 2e6
#define PERIOD_MOST_NS 5e9
#define WALK_STEP_W 20.0

static const char *const names[PROFILES] = {
    [PROFILE_CONSTANT] = "constant", [PROFILE_RAMP] = "ramp",     [PROFILE_SINE] = "sine",
    [PROFILE_SQUARE] = "square",     [PROFILE_BURSTS] = "bursts", [PROFILE_STEPS] = "steps",
    [PROFILE_WALK] = "walk",         [PROFILE_LOAD] = "load",
};

const char *profile_name(enum profile profile)
{
    return names[profile];
}

static double some_w(struct random *random)
{
    return random_between(random, PROFILE_LEAST_W, PROFILE_MOST_W);
}

static uint64_t some_period_ns(struct random *random)
{
    return random_scale(random, PERIOD_LEAST_NS, PERIOD_MOST_NS);
}

void profile_make_square(struct scene *scene, uint64_t period_ns, double duty, double least_w,
                         double most_w)
{
    uint64_t most_ns = (uint64_t)((double)period_ns * duty);

    power_add_part(scene_power(scene), period_ns - most_ns, least_w);
    power_add_part(scene_power(scene), most_ns, most_w);
}

void profile_make_steps(struct scene *scene, double least_ns, double most_ns, struct random *random)
{
    for (int i = 0; i < SCENE_PARTS; i++) {
        power_add_part(scene_power(scene), random_scale(random, least_ns, most_ns), some_w(random));
    }
}

void profile_make_sine(struct scene *scene, uint64_t period_ns, struct random *random)
{
    double mean_w = (PROFILE_LEAST_W + PROFILE_MOST_W) / 2;

    power_add_part(scene_power(scene), period_ns, mean_w);
    power_add_sine(scene_power(scene), period_ns,
                   random_between(random, 0.1, 1) * (mean_w - PROFILE_LEAST_W));
}

static void make_ramp(struct scene *scene, struct random *random)
{
    double from_w = some_w(random), to_w = some_w(random);
    uint64_t period_ns = some_period_ns(random);

    power_add_line(scene_power(scene), period_ns, from_w, to_w);
    power_add_line(scene_power(scene), period_ns, to_w, from_w);
}

static double walk_on_w(double w, double step_w, struct random *random)
{
    w += random_between(random, -step_w, step_w);
    if (w < PROFILE_LEAST_W) {
        return 2 * PROFILE_LEAST_W - w;
    }
    return w > PROFILE_MOST_W ? 2 * PROFILE_MOST_W - w : w;
}

static void make_walk(struct scene *scene, struct random *random)
{
    uint64_t part_ns = random_scale(random, 2e5, 1e8);
    double w = some_w(random);

    for (int i = 0; i < SCENE_PARTS; i++) {
        power_add_part(scene_power(scene), part_ns, w);
        w = walk_on_w(w, WALK_STEP_W, random);
    }
}

/* Once in the time that is measured, more or less. */
static void make_load(struct scene *scene, struct random *random)
{
    power_add_part(scene_power(scene), scene->length_ns, PROFILE_LEAST_W);
    power_add_part(scene_power(scene), scene->length_ns, some_w(random));
}

void profile_make(enum profile profile, struct scene *scene, struct random *random)
{
    switch (profile) {
    case PROFILE_CONSTANT:
        power_add_part(scene_power(scene), (uint64_t)PERIOD_MOST_NS, some_w(random));
        break;
    case PROFILE_RAMP:
        make_ramp(scene, random);
        break;
    case PROFILE_SINE:
        profile_make_sine(scene, some_period_ns(random), random);
        break;
    case PROFILE_SQUARE:
        profile_make_square(scene, some_period_ns(random), 0.5, PROFILE_LEAST_W, some_w(random));
        break;
    case PROFILE_BURSTS:
        profile_make_square(scene, some_period_ns(random), random_between(random, 0.01, 0.5),
                            PROFILE_LEAST_W, PROFILE_MOST_W);
        break;
    case PROFILE_STEPS:
        profile_make_steps(scene, PERIOD_LEAST_NS, 1e9, random);
        break;
    case PROFILE_WALK:
        make_walk(scene, random);
        break;
    case PROFILE_LOAD:
    case PROFILES:
        make_load(scene, random);
        break;
    }
}
