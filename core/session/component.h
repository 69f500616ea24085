/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_COMPONENT_H
#define SESSION_COMPONENT_H
#include "apapi/events.h"
#include "apapi/measurement.h"
#include "apapi/source.h"
#include "measure/domain.h"
#include "measure/meter.h"
#include "measure/period.h"
#include "session/feed.h"
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
    bool own_worker;    /* it is read by its own worker, not by the shared one, see worker.h */
    bool to_open;       /* its worker has to open it */
    bool tried;         /* there was a reading in this run, good or not */
    bool finished;      /* the last one of this run has been made */
    bool lost;          /* its source has ended the thread that read it: it is never read again */
    bool user_rules;    /* the user's list chose its events, or his definitions speak of them */
    size_t event_count; /* those that are shown; behind them those that only feed a domain */
    size_t meter_count; /* of both */
    const struct apapi_definition **definitions; /* of each event; live as long as the rules */
    struct apapi_event *events; /* those that are measured, completed by their definitions */
    size_t *places;           /* of each in the reader's; the reader's count: it is there no more */
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
    uint64_t missed;      /* deadlines that passed unused */
    uint64_t read_ns;     /* time of the latest reading */
    struct apapi_period_meter period;
    struct retry retry;
    struct apapi_domain_meter domains[APAPI_DOMAINS]; /* `used`: it has meters for it, see feed.h */
    uint64_t known_ns[APAPI_DOMAINS]; /* when all of them were known first; 0: not yet */
    size_t live_first, live_count;    /* places of its first events on the live page */
};

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

/** @return an event of the reader as its source and the site define it. */
struct apapi_event component_accounted(const struct component *component, size_t place);

/* Parts of component_adopt(). */
int component_choose_events(struct component *component);
int component_define_events(struct component *component);
void component_feed_domains(struct component *component);
int component_create_meters(struct component *component);
void component_create_domains(struct component *component);

/**
 * Take over its source that was opened anew, in place of one that is closed: events are found by
 * their names, and their counters may have begun anew.
 * @return 0; -1 with errno ENOMEM, ENODEV (none of the events is there), and the reader is not
 * taken.
 */
int component_rejoin(struct component *component, struct apapi_reader *reader,
                     struct apapi_error *err);

/** Forget all readings: a measurement begins (CLOCK_MONOTONIC). */
void component_restart(struct component *component, uint64_t origin_ns);

/** Read all events now. Does not allocate, lock or log. */
void component_read(struct component *component);

/** The first part of it, which may take long: no more than `raw` changes. @return when it was. */
struct apapi_moment component_fetch(struct component *component);

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
 * @param place  in the list of components
 * @return 0; -1 with errno ENOMEM.
 */
int component_finish(const struct component *component, size_t place, const struct apapi_span *span,
                     struct apapi_component_result *result, struct domain_results *domains);

/** Close and free what it holds. errno is preserved. */
void component_close(struct component *component);

#endif
