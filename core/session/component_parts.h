/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_COMPONENT_PARTS_H
#define SESSION_COMPONENT_PARTS_H
#include "apapi/measurement.h"
#include "apapi/source.h"
#include "events/definition.h"
#include "measure/domain.h"
#include "measure/meter_result.h"
#include "measure/period.h"
#include "session/feed.h"
#include "session/probe.h"
#include "session/retry.h"
#include "session/session_clock.h"

/** One component of a session: its open source and all that is kept of its events. */
struct component {
    char name[APAPI_COMPONENT_SIZE];
    struct apapi_reader *reader; /* NULL: not open now */
    struct session_clock *clock;
    char detail[64];           /* what is read, for people */
    struct apapi_error reason; /* why it is not measured, or not any more */
    const char *order;         /* of sources; borrowed */
    const char *source;        /* what is read, as in `order`; NULL: it has never been open */
    const struct apapi_event_rules *rules; /* borrowed; NULL: no files */
    bool softfail;
    bool own_worker; /* it is read by its own worker, not by the shared one, see worker.h */
    bool to_open;    /* its worker has to open it */
    enum component_wanted {
        COMPONENT_UNWANTED,
        COMPONENT_LOOK, /* to be read at once, and only passed on */
        COMPONENT_COUNT /* and counted as well */
    } wanted;
    bool goes_on;       /* its next reader has the counters of this one */
    bool tried;         /* there was a reading in this run, good or not */
    bool finished;      /* the last one of this run has been made */
    bool lost;          /* its source has ended the thread that read it: it is never read again */
    bool user_rules;    /* the user's list chose its events, or his definitions speak of them */
    size_t event_count; /* those that are shown; behind them those that only feed a domain */
    size_t meter_count; /* of both */
    const struct apapi_definition **definitions; /* of each event; live as long as the rules */
    struct apapi_event *events; /* those that are measured, completed by their definitions */
    size_t *slots;            /* of each in the reader's; the reader's count: it is there no more */
    enum apapi_domain *feeds; /* what each adds its energy to, see component_feed_domains() */
    struct apapi_meter *meters;     /* one for each event */
    struct apapi_reading *raw;      /* latest, of all events of the reader; a failed one follows */
    struct apapi_reading *readings; /* of those that are shown, for those who want samples */
    double *values;                 /* of the latest reading, for those who want samples */
    struct apapi_histogram *histograms; /* of the meters of energy and power, then of the domains */
    size_t histogram_count;
    uint64_t interval_ns; /* asked for, or shorter where a counter would wrap too often */
    uint64_t floor_ns;  /* of the interval, and the grid of the readings, see component_due_ns() */
    uint64_t origin_ns; /* when the measurement began (CLOCK_MONOTONIC) */
    uint64_t deadline_ns; /* of the next reading (CLOCK_MONOTONIC) */
    bool dithers;         /* it has gauges of power: read at a random moment before the deadline */
    uint64_t early_ns;    /* so much before it */
    struct probe_plan probes;
    uint64_t missed;  /* deadlines that passed unused */
    uint64_t read_ns; /* time of the latest reading */
    struct apapi_period_meter period;
    struct retry retry;
    struct apapi_domain_meter domains[APAPI_DOMAINS]; /* `used`: it has meters for it, see feed.h */
    uint64_t known_ns[APAPI_DOMAINS]; /* when all of them were known first; 0: not yet */
    size_t live_first, live_count;    /* slots of its first events on the live page */
};

/** @return an event of the reader as its source and the site define it. */
struct apapi_event component_accounted(const struct component *component, size_t index);

/* Parts of component_adopt(). */
int component_choose_events(struct component *component);
int component_define_events(struct component *component);
void component_feed_domains(struct component *component);
int component_create_meters(struct component *component);
void component_create_domains(struct component *component);

/**
 * Take over its source that was reopened, instead of the closed one: events are found by
 * their names, and their counters may have restarted.
 * @return 0; -1 with errno ENOMEM, ENODEV (none of the events is there), and the reader is not
 * taken.
 */
int component_rejoin(struct component *component, struct apapi_reader *reader,
                     struct apapi_error *err);

#endif
