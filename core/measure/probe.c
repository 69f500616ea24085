/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/probe.h"

#include <math.h>

#define LEARN_SHARE 4 /* a smaller change of the update period does not matter */
#define MUCH_LONGER 3 /* than the known update period: less may be chance */

void apapi_probe_init(struct apapi_probe *probe, uint64_t update_ns)
{
    *probe = (struct apapi_probe){.update_ns = update_ns};
}

void apapi_probe_learn(struct apapi_probe *probe, uint64_t update_ns)
{
    uint64_t known_ns = probe->update_ns;
    uint64_t change_ns = update_ns > known_ns ? update_ns - known_ns : known_ns - update_ns;

    if (change_ns > known_ns / LEARN_SHARE) {
        apapi_probe_init(probe, update_ns);
    }
}

/* @return of an increment between the two readings of a probe what belongs to one update. */
static double one_update(const struct apapi_probe *probe, double increment, uint64_t since_ns)
{
    uint64_t updates = probe->update_ns ? since_ns / probe->update_ns : 0;

    return updates > 1 ? increment / (double)updates : increment;
}

/* Usual readings may be any part of an update apart, and the period only assumed: by time. */
static void probe_add(struct apapi_probe *probe, double increment, uint64_t since_ns)
{
    double updates = since_ns > probe->update_ns ? (double)since_ns / (double)probe->update_ns : 1;

    probe->most = fmax(probe->most, increment / updates);
}

/* A reading that finds the counter where it was shows nothing: the next one is looked at. */
void apapi_probe_note_rare(struct apapi_probe *probe, double increment, uint64_t since_ns)
{
    if (increment > 0) {
        probe_add(probe, increment, since_ns);
        probe->next = probe->increments + probe->increments / 2 + 1;
    }
}

void apapi_probe_open(struct apapi_probe *probe, double value, struct apapi_moment when)
{
    probe->open = true;
    probe->first = value;
    probe->latest = value;
    probe->first_ns = when.begin_ns;
    probe->latest_ns = when.end_ns;
    probe->still_ns = 0;
}

/*
 * A move at the end of a long wait may have been there for most of it: the wait counts for no more
 * than the waits without one. What has not moved at the end of a probe stands still, and that is no
 * update period.
 */
static void probe_wait(struct apapi_probe *probe, bool moved, struct apapi_moment when)
{
    uint64_t waited_ns = when.begin_ns - probe->latest_ns;
    uint64_t most_ns = probe->still_ns > probe->update_ns ? probe->still_ns : probe->update_ns;

    probe->latest_ns = when.end_ns;
    probe->still_ns += moved && waited_ns > most_ns ? most_ns : waited_ns;
    if (moved) {
        probe->waited_ns += probe->still_ns;
        probe->moves++;
    }
}

uint64_t apapi_probe_update_ns(const struct apapi_probe *probe)
{
    uint64_t mean_ns = probe->moves ? probe->waited_ns / probe->moves : 0;

    return mean_ns > MUCH_LONGER * probe->update_ns ? mean_ns : 0;
}

void apapi_probe_close(struct apapi_probe *probe, double value, struct apapi_moment when,
                       double most)
{
    double increment = value - probe->first;

    if (probe->open && increment >= 0 && increment <= most) {
        probe->latest = value;
    }
    if (probe->open && increment >= 0) {
        probe_wait(probe, increment > 0, when);
    }
    if (probe->open && increment > 0 && increment <= most) {
        probe->recent = one_update(probe, increment, when.end_ns - probe->first_ns);
        probe->most = fmax(probe->most, probe->recent);
    }
    probe->open &= increment == 0;
}
