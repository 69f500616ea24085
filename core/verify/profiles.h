/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_PROFILES_H
#define VERIFY_PROFILES_H
#include "base/random.h"
#include "simulation/power.h"

#define PROFILE_LEAST_W 15.0
#define PROFILE_MOST_W 450.0

/** Courses of power between PROFILE_LEAST_W and PROFILE_MOST_W. */
enum profile {
    PROFILE_CONSTANT,
    PROFILE_RAMP,
    PROFILE_SINE,
    PROFILE_SQUARE,
    PROFILE_BURSTS,
    PROFILE_STEPS,
    PROFILE_WALK,
    PROFILE_LOAD, /* idle, then under load */
    PROFILES
};

/**
 * Make a course of power, with periods from milliseconds to seconds.
 * @param length_ns  of the run
 */
void profile_make(enum profile profile, struct power *power, uint64_t length_ns,
                  struct random *random);

/** 15 W, and 450 W for a share `duty` of each period. */
void profile_make_square(struct power *power, uint64_t period_ns, double duty);

/** A new power after each `least_ns` to `most_ns`. */
void profile_make_steps(struct power *power, double least_ns, double most_ns,
                        struct random *random);

/** A sine of that period around the middle of all powers. */
void profile_make_sine(struct power *power, uint64_t period_ns, struct random *random);

#endif
