/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/profiles.h"

#define PERIOD_LEAST_NS 2e6
#define PERIOD_MOST_NS 5e9
#define WALK_STEP_W 20.0

static double profiles_some_w(struct random *random)
{
    return random_between(random, PROFILE_LEAST_W, PROFILE_MOST_W);
}

static uint64_t profiles_some_period_ns(struct random *random)
{
    return random_scale(random, PERIOD_LEAST_NS, PERIOD_MOST_NS);
}

static void profiles_make_pulses(struct power *power, uint64_t period_ns, double duty,
                                 double most_w)
{
    uint64_t most_ns = (uint64_t)((double)period_ns * duty);

    power_add_part(power, period_ns - most_ns, PROFILE_LEAST_W);
    power_add_part(power, most_ns, most_w);
}

void profile_make_square(struct power *power, uint64_t period_ns, double duty)
{
    profiles_make_pulses(power, period_ns, duty, PROFILE_MOST_W);
}

void profile_make_steps(struct power *power, double least_ns, double most_ns, struct random *random)
{
    for (size_t i = 0; i < power->size; i++) {
        power_add_part(power, random_scale(random, least_ns, most_ns), profiles_some_w(random));
    }
}

void profile_make_sine(struct power *power, uint64_t period_ns, struct random *random)
{
    double mean_w = (PROFILE_LEAST_W + PROFILE_MOST_W) / 2;

    power_add_part(power, period_ns, mean_w);
    power_add_sine(power, period_ns, random_between(random, 0.1, 1) * (mean_w - PROFILE_LEAST_W));
}

static void profiles_make_ramp(struct power *power, struct random *random)
{
    double from_w = profiles_some_w(random), to_w = profiles_some_w(random);
    uint64_t period_ns = profiles_some_period_ns(random);

    power_add_line(power, period_ns, from_w, to_w);
    power_add_line(power, period_ns, to_w, from_w);
}

static double profiles_walk_on_w(double w, double step_w, struct random *random)
{
    w += random_between(random, -step_w, step_w);
    if (w < PROFILE_LEAST_W) {
        return 2 * PROFILE_LEAST_W - w;
    }
    return w > PROFILE_MOST_W ? 2 * PROFILE_MOST_W - w : w;
}

static void profiles_make_walk(struct power *power, struct random *random)
{
    uint64_t part_ns = random_scale(random, 2e5, 1e8);
    double w = profiles_some_w(random);

    for (size_t i = 0; i < power->size; i++) {
        power_add_part(power, part_ns, w);
        w = profiles_walk_on_w(w, WALK_STEP_W, random);
    }
}

/* Once in the time that is measured, more or less. */
static void profiles_make_load(struct power *power, uint64_t length_ns, struct random *random)
{
    power_add_part(power, length_ns, PROFILE_LEAST_W);
    power_add_part(power, length_ns, profiles_some_w(random));
}

void profile_make(enum profile profile, struct power *power, uint64_t length_ns,
                  struct random *random)
{
    switch (profile) {
    case PROFILE_CONSTANT:
        power_add_part(power, (uint64_t)PERIOD_MOST_NS, profiles_some_w(random));
        break;
    case PROFILE_RAMP:
        profiles_make_ramp(power, random);
        break;
    case PROFILE_SINE:
        profile_make_sine(power, profiles_some_period_ns(random), random);
        break;
    case PROFILE_SQUARE:
        profiles_make_pulses(power, profiles_some_period_ns(random), 0.5, profiles_some_w(random));
        break;
    case PROFILE_BURSTS:
        profile_make_square(power, profiles_some_period_ns(random),
                            random_between(random, 0.01, 0.5));
        break;
    case PROFILE_STEPS:
        profile_make_steps(power, PERIOD_LEAST_NS, 1e9, random);
        break;
    case PROFILE_WALK:
        profiles_make_walk(power, random);
        break;
    case PROFILE_LOAD:
    case PROFILES:
        profiles_make_load(power, length_ns, random);
        break;
    }
}
