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
    char detail[64];           /* description of the source, for people */
    struct apapi_error reason; /* why it is not measured, or not any more */
    const char *order;         /* order of the sources; borrowed */
    const char *source;        /* name of the source, as in `order`; NULL: it has never been open */
    const struct apapi_event_rules *rules; /* borrowed; NULL: no event files */
    bool softfail;
    bool own_worker; /* it is read by its own worker, not by the shared one */
    bool to_open;    /* its worker has to open it */
    int refused;     /* errno of component_adopt(); 0: it has not failed */
    enum component_wanted {
        COMPONENT_UNWANTED,
        COMPONENT_LOOK, /* to be read at once, only for session_listen() */
        COMPONENT_COUNT /* to be read at once, and accounted for */
    } wanted;
    bool goes_on;       /* its next reader continues the counters of this one */
    bool tried;         /* there was a reading in this run, good or not */
    bool finished;      /* the last reading of this run has been made */
    bool lost;          /* its source has ended the thread that read it: it is never read again */
    bool user_rules;    /* the user's list chose its events, or the user's definitions have them */
    size_t event_count; /* events that are shown; behind them are those that only feed a domain */
    size_t meter_count; /* all events, shown or not */
    const struct apapi_definition **definitions; /* of each event; live as long as the rules */
    struct apapi_event *events; /* the measured ones, completed by their definitions */
    size_t *slots;            /* index of each in the reader's events; reader->count: it is gone */
    enum apapi_domain *feeds; /* the domain that each adds its energy to */
    struct apapi_meter *meters; /* one for each event */
    struct apapi_reading *raw;  /* latest readings of all the reader's events, then a failed one */
    struct apapi_reading *readings;     /* of the shown events, for on_sample() */
    double *values;                     /* of the latest reading, for on_sample() */
    uint64_t *spans_ns;                 /* time in which each value was counted, for on_sample() */
    struct apapi_histogram *histograms; /* of the meters of energy and power, then of the domains */
    size_t histogram_count;
    uint64_t interval_ns; /* as asked for, or shorter where a counter would wrap too often */
    uint64_t floor_ns;    /* least interval, and the grid of the readings: component_due_ns() */
    uint64_t origin_ns;   /* when the measurement began (CLOCK_MONOTONIC) */
    uint64_t deadline_ns; /* of the next reading (CLOCK_MONOTONIC) */
    bool dithers;         /* it has gauges of power: read at a random moment before the deadline */
    uint64_t early_ns;    /* time before the deadline at which it is read */
    struct dense_start dense;
    struct probe_plan probes;
    uint64_t check_ns; /* after the last reading: when the counters are checked; 0: never */
    uint64_t missed;   /* deadlines that passed unused */
    uint64_t read_ns;  /* time of the latest reading */
    struct apapi_period_meter period;
    struct retry retry;
    struct apapi_domain_meter domains[APAPI_DOMAINS]; /* `used`: there are meters for it */
    uint64_t known_ns[APAPI_DOMAINS]; /* when all meters of a domain were known first; 0: not yet */
    size_t live_first, live_count;    /* first slot and number of its events on the live page */
    uint64_t judged_ns;               /* when the page's uncertainties were worked out last */
};

/*
 * One of the components that have meters for a domain feeds it: the first one in the user's list
 * that has measured the domain in this run. Late components come after all that were in time, as
 * the energy before would be lost; of the late ones, the least late feeds the domain. All are
 * measured to the end, so the order in which they open makes no difference.
 */
#define FEED_LATE_NS UINT64_C(10000000000) /* a component that begins later in a run is late */
#define FEED_NEVER UINT64_MAX

struct feed {
    size_t index;     /* of the component that feeds the domain; SIZE_MAX: none */
    uint64_t late_ns; /* 0: it was in time; FEED_NEVER: it has not measured the domain (yet) */
};

/** The domains of a measurement, while its components are finished one after the other. */
struct domain_results {
    struct apapi_domain_result *results; /* APAPI_DOMAINS; borrowed */
    struct feed feeds[APAPI_DOMAINS];
    double covered; /* the least share of the time that a meter covers, 0..1; NaN: no meter */
    struct apapi_incidents incidents; /* of all meters of the measured components */
    uint32_t unknown;                 /* bits of domains that have meters, but no known energy */
    bool fill;                        /* estimate the energy of the time that is not covered */
};

/** No component feeds any domain. */
static inline void feed_clear(struct feed feeds[APAPI_DOMAINS])
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        feeds[d] = (struct feed){.index = SIZE_MAX, .late_ns = FEED_NEVER};
    }
}

/** @return whether the component at `index` feeds the domain, now that it is `late_ns` late. */
static inline bool feed_offer(struct feed *feed, size_t index, uint64_t late_ns)
{
    bool better = late_ns < feed->late_ns || (late_ns == feed->late_ns && index <= feed->index);

    if (better || index == feed->index) {
        *feed = (struct feed){.index = index, .late_ns = late_ns};
    }
    return index == feed->index;
}

/** A reading as its source returned it, for session_listen(). Valid only during the call. */
struct session_reading {
    const char *component;
    const struct apapi_reader *reader;
    const struct apapi_reading *raw; /* of reader->events */
    struct apapi_moment when;
    bool dense; /* of the dense start: it counts, but is no sample */
};

/** Called by the thread that has read. It must not block, nor call functions of the session. */
typedef void (*session_reading_f)(const struct session_reading *reading, void *context);

/** The settings with which a component is opened. */
struct component_settings {
    struct session_clock *clock; /* NULL: the system's */
    const char *order;           /* order of sources; NULL: its own; outlives the component */
    uint64_t interval_ns;
    uint64_t floor_ns;                     /* shortest interval that a user may have; 0: none */
    const struct apapi_event_rules *rules; /* NULL: all events; outlives the component */
    bool softfail;                         /* missing events of the user's list are no error */
};

/** Prepare a component that is not open. */
void component_begin(struct component *component, const char *name,
                     const struct component_settings *settings);

/**
 * Take over an open source, after component_begin(). The component owns the reader in any case.
 * @return 0; -1 with errno, and component->reason, ENOMEM, ENOENT (the user's event list names what
 *         is not there), EDOM (a definition contradicts the source).
 */
int component_adopt(struct component *component, struct apapi_reader *reader);

/**
 * Take over the reopened source, instead of the closed one. Events are found by their names; their
 * counters may have restarted.
 * @return 0; -1 with errno ENOMEM, ENODEV (none of the events is there), and the reader is not
 * taken.
 */
int component_rejoin(struct component *component, struct apapi_reader *reader,
                     struct apapi_error *err);

/** @return whether both are the same counter or gauge, with values that mean the same. */
bool component_event_is_same(const struct apapi_event *a, const struct apapi_event *b);

/** Forget all readings: a measurement begins at `origin_ns` (CLOCK_MONOTONIC). */
void component_restart(struct component *component, uint64_t origin_ns);

/**
 * Read all events now. Does not allocate, lock or log, but may take long. Changes `raw` only.
 * @return when the reading was, for component_account()
 */
struct apapi_moment component_fetch(struct component *component);

/** @return whether another process reads the source for this one. */
bool component_is_relayed(const struct component *component);

/** Account for a reading in the meters and domains. Does not allocate, lock or log. */
void component_account(struct component *component, struct apapi_moment when);

/** Account for a reading of the dense start that has not failed: see apapi_meter_add(). */
void component_account_dense(struct component *component, struct apapi_moment when);

/** @return whether all latest readings failed. */
bool component_failed(const struct component *component);

/** Have all readings fail with `error` as long as there is no reader. */
void component_lose(struct component *component, int error);

/**
 * Tell when the component is to be read. If there is a floor, this is a multiple of the floor
 * (CLOCK_MONOTONIC): all steps on a node may read a meter once in that time, and so read it
 * together. A late reader waits for the next multiple, but not for ever.
 * @return the time [ns]; not after `now_ns`: now
 */
uint64_t component_due_ns(const struct component *component, uint64_t now_ns);

/**
 * After the first reading of the run: begin the probes, and the readings that follow closely, see
 * struct dense_start.
 */
void component_begin_early(struct component *component, struct apapi_moment when);

/** @return when a probe's next reading is due, as component_due_ns(); UINT64_MAX: never. */
uint64_t component_probe_due_ns(const struct component *component, uint64_t now_ns);

/** Account for a reading of a probe. It changes only the uncertainty. */
void component_probe(struct component *component, struct apapi_moment when);

/** After the last reading: set `check_ns`, when the counters are checked. */
void component_plan_check(struct component *component, struct apapi_moment when);

/** Account for a check of the counters. Set `check_ns`: when to check once more, or 0. */
void component_check(struct component *component, struct apapi_moment when);

/**
 * Move the deadline on to the next one after `now_ns`, in an outage by `retry.pause_ns`. Deadlines
 * in between are missed.
 */
void component_next_deadline(struct component *component, uint64_t now_ns);

/**
 * @param energy_j  of the component's meters for the domain; NAN: not known
 * @return for feed_offer(): how late the domain was measured first [ns]; FEED_NEVER: it was not
 */
uint64_t component_late_ns(const struct component *component, int domain, double energy_j);

/**
 * Write the component's result up to the latest reading, and the results of the domains that it
 * feeds rather than an earlier component.
 * @param index  of the component in the session's list
 * @return 0; -1 with errno ENOMEM.
 */
int component_finish(const struct component *component, size_t index, const struct apapi_span *span,
                     struct apapi_component_result *result, struct domain_results *domains);

/** Close and free what it holds. errno is preserved. */
void component_close(struct component *component);

#endif
