/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_PROBE_H
#define MEASURE_PROBE_H
#include <stdbool.h>
#include <stdint.h>

#include "measure/moment.h"

/*
 * The energy of one update of a counter, seen at moments that have nothing to do with the load: by
 * a probe, two readings not farther apart than an update, or between two usual readings where
 * updates are long. What a reading does not show yet is no more than one update, and the end of a
 * run is such a moment as well: of n + 1 of them it is the greatest once in n + 1 runs. Pure
 * arithmetic.
 */
struct apapi_probe {
    uint64_t update_ns; /* for which `most` holds */
    double most;        /* energy of one update [raw units]; 0: not seen yet */
    uint64_t increments;
    uint64_t next; /* the increment to be looked at; the distances grow */
    bool open;     /* the first of two readings has been taken; no other value since */
    double first;  /* its value */
    double latest; /* value of the latest reading of a probe */
    double recent; /* energy of one update in the latest probe [raw units] */
    uint64_t first_ns;
    uint64_t latest_ns; /* end of the latest reading of the probe */
    uint64_t still_ns;  /* of this probe */
    uint64_t waited_ns; /* of all probes, for a move */
    uint64_t moves;     /* that they saw */
};

/** Forget what was seen. @param update_ns  update period [ns] */
void apapi_probe_init(struct apapi_probe *probe, uint64_t update_ns);

/** The update period is known better. What was seen with one that is far from it is forgotten. */
void apapi_probe_learn(struct apapi_probe *probe, uint64_t update_ns);

/* The rare part of apapi_probe_note(). */
void apapi_probe_note_rare(struct apapi_probe *probe, double increment, uint64_t since_ns);

/** An increment between two usual readings [raw units, ns]. */
static inline void apapi_probe_note(struct apapi_probe *probe, double increment, uint64_t since_ns)
{
    if (++probe->increments >= probe->next) {
        apapi_probe_note_rare(probe, increment, since_ns);
    }
}

/**
 * @return the update period by what the probes saw, how long they waited for a move [ns]; 0: no
 *         other than the known one
 */
uint64_t apapi_probe_update_ns(const struct apapi_probe *probe);

/** The first reading of a probe. */
void apapi_probe_open(struct apapi_probe *probe, double value, struct apapi_moment when);

/**
 * The second one; without a first one nothing happens. If it shows the same value, one more may
 * follow.
 * @param most  increment that is plausible [raw units]
 */
void apapi_probe_close(struct apapi_probe *probe, double value, struct apapi_moment when,
                       double most);

#endif
