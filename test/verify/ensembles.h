/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_ENSEMBLES_H
#define VERIFY_ENSEMBLES_H
#include "simulation/chance.h"
#include "simulation/history.h"

#define SCENE_PARTS 4096 /* of each power */

/** One run: a history of one component, and how long it is measured. */
struct scene {
    struct history history;
    struct history_component *component; /* the only one */
    struct history_meter *meter;         /* the first meter */
    struct power *power;                 /* its true power */
    struct power_part parts[HISTORY_EVENTS][SCENE_PARTS];
    uint64_t start_ns;     /* start of the measurement, in the history's time; 0: not chosen yet */
    uint64_t length_ns;    /* from start to stop */
    uint64_t late_ns;      /* the session is started this long after the start */
    struct random *random; /* makes the run */
    double value;          /* value of its ensemble */
};

/** Runs of one kind. */
struct ensemble {
    const char *name; /* NULL: end of the table */
    void (*make)(struct scene *scene);
    double value; /* scene->value for make() */
    bool gauge;   /* a gauge of power instead of a counter */
};

extern const struct ensemble ensembles[];

/**
 * A cell for each course of power, meter, range of intervals, and statement of the source about the
 * meter: true, none or wrong: "sine/counter-10ms/100ms/wrong". Call it in one thread at a time.
 */
const struct ensemble *ensemble_cells(void);

/** @return the energy that the scene's meters truly counted [J]. */
double scene_energy_j(const struct scene *scene, uint64_t from_ns, uint64_t to_ns);

/** Make a run of an ensemble. */
void ensemble_make(const struct ensemble *ensemble, struct scene *scene, struct random *random);

#endif
