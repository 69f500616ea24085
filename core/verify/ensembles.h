/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_ENSEMBLES_H
#define VERIFY_ENSEMBLES_H
#include "verify/scene.h"

/** Runs of one kind. */
struct ensemble {
    const char *name; /* NULL: end of the table */
    const char *what;
    bool gauge; /* a gauge of power instead of a counter */
    void (*make)(struct scene *scene);
    double value; /* scene->value for make() */
};

extern const struct ensemble ensembles[];

/** What is measured in real time: each of the eight courses of power, for 5 ms to 1.3 s. */
extern const struct ensemble real_ensembles[];

/** Make a run of it. @param interval_ns  of all readings; 0: what the ensemble wants */
void ensemble_make(const struct ensemble *ensemble, uint64_t interval_ns, struct scene *scene,
                   struct random *random);

#endif
