/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_COMPONENT_H
#define SESSION_COMPONENT_H
#include "apapi/measurement.h"
#include "apapi/source.h"
#include "config/definitions.h"
#include "measure/domain.h"
#include "measure/meter.h"
#include "session/schedule.h"

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
    bool own_worker; /* it is read by its own worker, not by the shared one */
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
    enum apapi_domain *feeds; /* what each adds its energy to */
    struct apapi_meter *meters;     /* one for each event */
    struct apapi_reading *raw;      /* latest, of all events of the reader; a failed one follows */
    struct apapi_reading *readings; /* of those that are shown, for those who want samples */
    double *values;                 /* of the latest reading, for those who want samples */
    uint64_t *spans_ns;             /* in which each was counted, for the same */
    struct apapi_histogram *histograms; /* of the meters of energy and power, then of the domains */
    size_t histogram_count;
    uint64_t interval_ns; /* asked for, or shorter where a counter would wrap too often */
    uint64_t floor_ns;  /* of the interval, and the grid of the readings, see component_due_ns() */
    uint64_t origin_ns; /* when the measurement began (CLOCK_MONOTONIC) */
    uint64_t deadline_ns; /* of the next reading (CLOCK_MONOTONIC) */
    bool dithers;         /* it has gauges of power: read at a random moment before the deadline */
    uint64_t early_ns;    /* so much before it */
    struct dense_start dense;
    struct probe_plan probes;
    uint64_t check_ns; /* after its last reading: when its counters are looked at; 0: not */
    uint64_t missed;   /* deadlines that passed unused */
    uint64_t read_ns;  /* time of the latest reading */
    struct apapi_period_meter period;
    struct retry retry;
    struct apapi_domain_meter domains[APAPI_DOMAINS]; /* `used`: it has meters for it */
    uint64_t known_ns[APAPI_DOMAINS]; /* when all of them were known first; 0: not yet */
    size_t live_first, live_count;    /* slots of its first events on the live page */
    uint64_t judged_ns;               /* when the page's uncertainties were worked out last */
};

/*
 * A domain is fed by one of the components that have meters for it: the first one of the user's
 * list that has measured it in this run. One that was late stands behind all that were not, or the
 * energy until then would be lost; of those that were late, the one that was it least.
 * All of them are measured to the end, so it is the same whatever order they open in.
 */
#define FEED_LATE_NS UINT64_C(10000000000) /* after the start of the run: no matter */
#define FEED_NEVER UINT64_MAX

struct feed {
    size_t index;     /* of the component that feeds the domain; SIZE_MAX: none */
    uint64_t late_ns; /* 0: it was in time; FEED_NEVER: it has not measured it (yet) */
};

/** The domains of a measurement, while its components are finished one after the other. */
struct domain_results {
    struct apapi_domain_result *results; /* APAPI_DOMAINS; borrowed */
    struct feed feeds[APAPI_DOMAINS];
    double covered;   /* the least share of the time of any meter, 0..1; NaN: nothing */
    uint32_t unknown; /* bits of domains that have meters, and no energy that is known */
    bool fill;        /* estimate the energy of the time that is not covered */
};

/** No component feeds any domain. */
void feed_clear(struct feed feeds[APAPI_DOMAINS]);

/** @return whether the component at `index` feeds the domain, now that it is `late_ns` late. */
bool feed_offer(struct feed *feed, size_t index, uint64_t late_ns);

/** A reading as its source returned it, for others. Nothing outlives the call. */
struct session_reading {
    const char *component;
    const struct apapi_reader *reader;
    const struct apapi_reading *raw; /* of reader->events */
    struct apapi_moment when;
    bool dense; /* of the start: it counts, though no sample tells it */
};

/** Called by the thread that has read. It must not block, and calls nothing of the session. */
typedef void (*session_reading_f)(const struct session_reading *reading, void *context);

/** The settings with which a component is opened. */
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

/**
 * Take over an open source, after component_begin(). As component_open(); it owns the reader in any
 * case.
 */
int component_adopt(struct component *component, struct apapi_reader *reader);

/**
 * Take over its source that was reopened, instead of the closed one: events are found by their
 * names, and their counters may have restarted.
 * @return 0; -1 with errno ENOMEM, ENODEV (none of the events is there), and the reader is not
 * taken.
 */
int component_rejoin(struct component *component, struct apapi_reader *reader,
                     struct apapi_error *err);

/** @return whether it is the same counter or gauge, whose values mean the same. */
bool component_event_is_same(const struct apapi_event *a, const struct apapi_event *b);

/** Forget all readings: a measurement begins (CLOCK_MONOTONIC). */
void component_restart(struct component *component, uint64_t origin_ns);

/**
 * Read all events now. Does not allocate, lock or log, but may take long; no more than `raw`
 * changes. @return when it was, for component_account()
 */
struct apapi_moment component_fetch(struct component *component);

/** @return whether another process reads it for this one. */
bool component_is_relayed(const struct component *component);

/** Account for a reading: what it means. Does not allocate, lock or log. */
void component_account(struct component *component, struct apapi_moment when);

/** The same for one of the dense start that has not failed: see apapi_meter_add(). */
void component_account_dense(struct component *component, struct apapi_moment when);

/** @return whether all latest readings failed. */
bool component_failed(const struct component *component);

/** All readings fail with `error` as long as there is no reader. */
void component_lose(struct component *component, int error);

/**
 * When it is to be read. Where there is a floor, at a multiple of it (CLOCK_MONOTONIC): so all the
 * steps on a node that may read a meter once in that time read it together. A late reader waits
 * for the next multiple, but not for ever.
 * @return not after `now_ns`: now
 */
uint64_t component_due_ns(const struct component *component, uint64_t now_ns);

/**
 * The first reading of the run was taken: probes begin, and the readings that follow closely, see
 * struct dense_start.
 */
void component_begin_early(struct component *component, struct apapi_moment when);

/** @return when the next reading of a probe is due, by the same rule; UINT64_MAX: never. */
uint64_t component_probe_due_ns(const struct component *component, uint64_t now_ns);

/** It was taken. It changes nothing but the uncertainty. */
void component_probe(struct component *component, struct apapi_moment when);

/** The last reading was taken: when counters are looked at once more. Sets `check_ns`. */
void component_plan_check(struct component *component, struct apapi_moment when);

/** That was done. Sets `check_ns`: once more, or not. */
void component_check(struct component *component, struct apapi_moment when);

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
