/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_COMPONENT_H
#define SESSION_COMPONENT_H
#include "apapi/measurement.h"
#include "apapi/source.h"
#include "measure/domain.h"
#include "measure/meter.h"

/** One component of a session: its open source and all that is kept of its events. */
struct component {
    char name[APAPI_COMPONENT_SIZE];
    struct apapi_reader *reader; /* NULL: not measured, see `reason` */
    struct apapi_error reason;
    struct apapi_meter *meters; /* one for each event */
    struct apapi_reading *readings;
    uint64_t interval_ns; /* asked for, or shorter where a counter would wrap too often */
    uint64_t deadline_ns; /* of the next reading (CLOCK_MONOTONIC) */
    uint64_t missed;      /* deadlines that passed unused */
    uint64_t read_ns;     /* time of the latest reading */
    struct apapi_domain_meter domains[APAPI_DOMAINS]; /* `used`: this component feeds it */
    bool power_feeds[APAPI_DOMAINS]; /* by power gauges, having no energy counter for it */
};

/** Open the component's source; one that cannot be read is no error. 0; -1 with errno ENOMEM. */
int component_open(struct component *component, const char *name, const char *order,
                   uint64_t interval_ns);

/** Feed the domains that `taken` does not have yet, and take them: nothing counts twice. */
void component_claim_domains(struct component *component, bool taken[APAPI_DOMAINS]);

/** Forget all readings. */
void component_restart(struct component *component);

/** Read all events now. Does not allocate, lock or log. */
void component_read(struct component *component);

/** Move the deadline on to the next one after `now_ns`; those in between are missed. */
void component_next_deadline(struct component *component, uint64_t now_ns);

/** The last reading has been taken: tell the result. 0; -1 with errno ENOMEM. */
int component_finish(const struct component *component, uint64_t elapsed_ns,
                     struct apapi_component_result *result,
                     struct apapi_domain_result domains[APAPI_DOMAINS]);

/** Close and free what it holds. errno is preserved. */
void component_close(struct component *component);

#endif
