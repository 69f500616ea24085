/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_COMPONENT_H
#define SESSION_COMPONENT_H
#include "session/component_parts.h"

/** How a component is to be opened. */
struct component_settings {
    struct session_clock *clock; /* NULL: the system's */
    const char *order;           /* of sources; NULL: its own; outlives the component */
    uint64_t interval_ns;
    uint64_t floor_ns;                     /* the shortest that a user may have; 0: none */
    const struct apapi_event_rules *rules; /* NULL: all events; outlives the component */
    bool softfail; /* events of the user's list that are not there do not matter */
};

/** Prepare a component that is not open. */
void component_begin(struct component *component, const char *name,
                     const struct component_settings *settings);

/**
 * Open the component's source; one that cannot be read is no error.
 * @return 0; -1 with errno, and component->reason, ENOMEM, ENOENT (the user's event list names what
 *         is not there), EDOM (a definition contradicts the source).
 */
int component_open(struct component *component, const char *name,
                   const struct component_settings *settings);

/** Take over an open source. As component_open(); it owns the reader in any case. */
int component_attach(struct component *component, const char *name, struct apapi_reader *reader,
                     const struct component_settings *settings);

/**
 * Take over an open source, after component_begin(). As component_open(); it owns the reader in any
 * case.
 */
int component_adopt(struct component *component, struct apapi_reader *reader);

/** Forget all readings: a measurement begins (CLOCK_MONOTONIC). */
void component_restart(struct component *component, uint64_t origin_ns);

/** Read all events now. Does not allocate, lock or log. */
void component_read(struct component *component);

/** The first part of it, which may take long: no more than `raw` changes. @return when it was. */
struct apapi_moment component_fetch(struct component *component);

/** @return whether another process reads it for this one. */
bool component_is_relayed(const struct component *component);

/** The second part: what the readings mean. */
void component_account(struct component *component, struct apapi_moment when);

/** @return whether all latest readings failed. */
bool component_failed(const struct component *component);

/** All readings fail with `error` as long as there is no reader. */
void component_lose(struct component *component, int error);

/**
 * When it is to be read. Where there is a floor, at a multiple of it (CLOCK_MONOTONIC): so all the
 * steps on a node that may read a meter once in that time read it together. Who is woken late waits
 * for the next multiple, but not for ever.
 * @return not after `now_ns`: now
 */
uint64_t component_due_ns(const struct component *component, uint64_t now_ns);

/** The first reading of the run was taken: probes begin. */
void component_begin_probes(struct component *component, struct apapi_moment when);

/** @return when the next reading of a probe is due, by the same rule; UINT64_MAX: never. */
uint64_t component_probe_due_ns(const struct component *component, uint64_t now_ns);

/** @return whether that is a usual reading, to be accounted for. */
static inline bool component_probe_is_usual(const struct component *component)
{
    return component->probes.next == PROBE_USUAL;
}

/** It was taken. One that is not usual changes nothing but the uncertainty. */
void component_probe(struct component *component, struct apapi_moment when);

/**
 * Move the deadline on to the next one after `now_ns`, in an outage by its pause; those in between
 * are missed.
 */
void component_next_deadline(struct component *component, uint64_t now_ns);

/**
 * @param energy_j  of its meters for the domain; NAN: not known
 * @return for feed_offer(): how late it was with the domain [ns]; FEED_NEVER: it is not measured
 */
uint64_t component_late_ns(const struct component *component, int domain, double energy_j);

/**
 * The last reading has been taken: tell the result, and that of the domains that it feeds rather
 * than those before.
 * @param index  in the list of components
 * @return 0; -1 with errno ENOMEM.
 */
int component_finish(const struct component *component, size_t index, const struct apapi_span *span,
                     struct apapi_component_result *result, struct domain_results *domains);

/** Close and free what it holds. errno is preserved. */
void component_close(struct component *component);

#endif
