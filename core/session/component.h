/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_COMPONENT_H
#define SESSION_COMPONENT_H
#include "apapi/events.h"
#include "apapi/measurement.h"
#include "apapi/source.h"
#include "measure/domain.h"
#include "measure/meter.h"
#include "measure/period.h"

/** One component of a session: its open source and all that is kept of its events. */
struct component {
    char name[APAPI_COMPONENT_SIZE];
    struct apapi_reader *reader; /* NULL: not measured, see `reason` */
    struct apapi_error reason;
    const struct apapi_event_rules *rules; /* borrowed; NULL: no files */
    bool softfail;
    size_t event_count;
    const struct apapi_definition **definitions; /* of each event; live as long as the rules */
    struct apapi_event *events;     /* those that are measured, completed by their definitions */
    size_t *places;                 /* of each in the reader's */
    struct apapi_meter *meters;     /* one for each event */
    struct apapi_reading *raw;      /* latest, of all events of the reader */
    struct apapi_reading *readings; /* of those that are measured, for those who want samples */
    double *values;                 /* of the latest reading, for those who want samples */
    struct apapi_histogram *histograms; /* of the meters of energy and power, then of the domains */
    size_t histogram_count;
    uint64_t interval_ns; /* asked for, or shorter where a counter would wrap too often */
    uint64_t deadline_ns; /* of the next reading (CLOCK_MONOTONIC) */
    uint64_t missed;      /* deadlines that passed unused */
    uint64_t read_ns;     /* time of the latest reading */
    struct apapi_period_meter period;
    struct apapi_domain_meter domains[APAPI_DOMAINS]; /* `used`: this component feeds it */
    bool power_feeds[APAPI_DOMAINS]; /* by power gauges, having no energy counter for it */
};

/** How a component is to be opened. */
struct component_settings {
    const char *order; /* of sources; NULL: its own */
    uint64_t interval_ns;
    const struct apapi_event_rules *rules; /* NULL: all events; outlives the component */
    bool softfail; /* events of the user's list that are not there do not matter */
};

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

/* Parts of component_attach(). */
int component_choose_events(struct component *component, const struct component_settings *settings);
int component_create_meters(struct component *component);

/** @return one of the histograms that were made for the meters and the domains. */
struct apapi_histogram *component_next_histogram(struct component *component);

/** Feed the domains that `taken` does not have yet, and take them: nothing counts twice. */
void component_claim_domains(struct component *component, bool taken[APAPI_DOMAINS]);

/** Forget all readings. */
void component_restart(struct component *component);

/** Read all events now. Does not allocate, lock or log. */
void component_read(struct component *component);

/** Move the deadline on to the next one after `now_ns`; those in between are missed. */
void component_next_deadline(struct component *component, uint64_t now_ns);

/** The last reading has been taken: tell the result. 0; -1 with errno ENOMEM. */
int component_finish(const struct component *component, const struct apapi_span *span,
                     struct apapi_component_result *result,
                     struct apapi_domain_result domains[APAPI_DOMAINS]);

/** Close and free what it holds. errno is preserved. */
void component_close(struct component *component);

#endif
