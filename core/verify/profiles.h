/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_PROFILES_H
#define VERIFY_PROFILES_H
#include "verify/scene.h"

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

const char *profile_name(enum profile profile);

/** Make the scene's power such a course, with periods from milliseconds to seconds. */
void profile_make(enum profile profile, struct scene *scene, struct random *random);

/** Two powers in turn. @param duty  share of the second one, between 0 and 1 */
void profile_make_square(struct scene *scene, uint64_t period_ns, double duty, double least_w,
                         double most_w);

/** A new power after each `least_ns` to `most_ns`. */
void profile_make_steps(struct scene *scene, double least_ns, double most_ns,
                        struct random *random);

/** A sine of that period around the middle of all powers. */
void profile_make_sine(struct scene *scene, uint64_t period_ns, struct random *random);

#endif
