/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SESSION_H
#define APAPI_SESSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/events.h"
#include "apapi/interval.h"
#include "apapi/measurement.h"
#include "apapi/source.h"

APAPI_BEGIN_C

/*
 * A session measures a set of components: create, start, stop, take the measurement, destroy. Call
 * these functions for one session from one thread at a time. Call create() and the checks of lists
 * from one thread at a time for all sessions, because PAPI requires it. A session keeps descriptors
 * open: destroy all sessions before closefrom(3) or the like closes descriptors of others.
 */

/** A set of components that are measured together. Opaque. */
struct apapi_session;
struct apapi_live_page;

/** One reading of one component. Valid only during the call of apapi_sample_f. */
struct apapi_sample {
    const char *component;
    uint64_t time_ns; /* since the first reading of the session [ns] */
    size_t event_count;
    const struct apapi_event *events;
    const struct apapi_reading *readings;
    /* A gauge's value, or what a counter has counted [event.unit] in the time spans_ns [ns]; 0: the
     * time is not known. NaN: no value, and no time. */
    const double *values;
    const uint64_t *spans_ns;
};

/*
 * A worker is a thread that reads components. One shared worker reads most of them. A component has
 * its own worker if its source is slow to open, may end its thread, has failed for a while, or is
 * open while another one hangs. The longest waits [ns]: APAPI_OPEN_WAIT_NS of a create for sources
 * that the shared worker opens, APAPI_START_WAIT_NS of a start for the first readings of own
 * workers, APAPI_STOP_WAIT_NS of a stop for their last readings, APAPI_SHARED_WAIT_NS of both for
 * the readings of the shared worker. A thread must not be cancelled in a function of a session.
 */
#define APAPI_OPEN_WAIT_NS UINT64_C(2000000000)
#define APAPI_START_WAIT_NS UINT64_C(50000000)
#define APAPI_STOP_WAIT_NS UINT64_C(100000000)
#define APAPI_SHARED_WAIT_NS UINT64_C(500000000)

/**
 * Called after each reading by the worker that made it. There is one call at a time. It delays the
 * next reading. It must neither end its thread nor call apapi_session_destroy(); the other
 * functions of this session fail in it (EDEADLK).
 */
typedef void (*apapi_sample_f)(const struct apapi_sample *sample, void *context);

/** Like apapi_sample_f, after each reading that the live page shows. */
typedef void (*apapi_live_shown_f)(const struct apapi_live_page *live, void *context);

/** The settings of a session. apapi_session_create() copies it. Zero and NULL are the defaults. */
struct apapi_session_config {
    /* "rapl:nvml"; "all": every component that APAPI has a route for, without estimates; NULL:
     * apapi_components_default(). With "all" and NULL, components that cannot be measured are left
     * out of the result, unless none can be measured or `all_results` is set. */
    const char *components;
    bool all_results;
    const char *sources; /* order of sources, "sysfs:papi"; NULL, "": each component's own order */
    const struct apapi_intervals *intervals; /* NULL: APAPI_INTERVAL_DEFAULT_NS for all */
    /* The shortest interval of any component, whatever `intervals` and the user's definitions say.
     * All readings except the first and the last are made at its multiples on CLOCK_MONOTONIC.
     * Exception: a counter that its source knows would wrap unseen. 0: no limit [ns] */
    uint64_t min_interval_ns;
    /* The rules that choose and define the events of the result; NULL: all events. Must stay valid
     * as long as the session. The domains always have all meters of a source, as the source and
     * `default_ops` define them. */
    const struct apapi_event_rules *rules;
    bool softfail;            /* a component or a listed event that does not exist is no error */
    uint64_t patience_ns;     /* how long create() waits for sources that are slow to open [ns] */
    apapi_sample_f on_sample; /* NULL: not needed */
    void *context;            /* for on_sample() */
    /* A live page, all zeros except for the members of its head that the caller sets. Updated after
     * each reading. Must stay valid as long as the session. NULL: none */
    struct apapi_live_page *live;
    apapi_live_shown_f on_live; /* NULL: not needed */
    void *live_context;         /* for on_live() */
};

/**
 * @return the components that are measured by default, as far as they can be measured here. Static
 *         storage. Any thread
 */
APAPI_API const char *apapi_components_default(void);

/**
 * Check a list of components. Opens no device.
 * @param components  "rapl:nvml", "all"
 * @return 0; -1 with errno EINVAL (the list, or a word in it, is empty), ENOENT (no source knows a
 *         word); `err` names the word and what would be valid
 */
APAPI_API int apapi_components_check(const char *components, struct apapi_error *err);

/**
 * Check the components that an event list names before ":::", whether they are measured or not.
 * @param list       NULL is allowed: nothing to check
 * @param elsewhere  the list is for other machines: if there is no PAPI here, accept a component
 *                   that only PAPI could know
 * @return 0; -1 with errno ENOENT: no source knows a component; `err` names its line
 */
APAPI_API int apapi_eventlist_check(const struct apapi_eventlist *list, bool elsewhere,
                                    struct apapi_error *err);

/**
 * Open the sources of all components. A component that cannot be read is no error: its result has
 * the reason. Workers open the sources: create() waits for those that are slow to open for
 * config->patience_ns, for all others for config->patience_ns or APAPI_OPEN_WAIT_NS, whichever is
 * longer. Errors of sources that are slow, or that come later, are in the result only; so are
 * errors of the user's list about their events.
 * @return the session; free it with apapi_session_destroy(). NULL with errno
 *         EINVAL, ENOENT  as apapi_components_check(); a word of config->sources is not a source;
 *                         the user's list names an event that does not exist, or a component that
 *                         no source knows
 *         EDOM            a definition contradicts the unit that the source states
 *         EAGAIN          no thread could be started
 *         ENOMEM
 */
APAPI_API struct apapi_session *apapi_session_create(const struct apapi_session_config *config,
                                                     struct apapi_error *err);

/**
 * Make a reading now, and further ones at each interval, in the session's workers, which receive no
 * signals. A component that cannot be read is tried again after 1, 2, 4, 8 ... intervals, at most a
 * minute. After a second of failures its source is opened again. A session can be started again
 * after a stop; its result then starts from zero.
 * @param requested_ns  when the caller requested the start, CLOCK_MONOTONIC [ns]; 0: now
 * @return 0; -1 with errno
 *         EALREADY  the session is running
 *         EAGAIN    no thread could be started; nothing is measured
 */
APAPI_API int apapi_session_start(struct apapi_session *session, uint64_t requested_ns,
                                  struct apapi_error *err);

/**
 * Make the last reading and end the sampling. Blocks for one reading: at most for
 * APAPI_SHARED_WAIT_NS, and for APAPI_STOP_WAIT_NS where a component has its own worker. A
 * component that does not answer in this time keeps what was measured before, and its result has
 * the reason.
 * @return 0; -1 with errno EALREADY: the session is not running
 */
APAPI_API int apapi_session_stop(struct apapi_session *session, struct apapi_error *err);

/**
 * The figures between the last start and stop.
 * @param m  result; empty it with apapi_measurement_clear(). Set on success only
 * @return 0; -1 with errno EBUSY (the session is running), ENODATA (it was never started), ENOMEM
 */
APAPI_API int apapi_session_measurement(struct apapi_session *session, struct apapi_measurement *m,
                                        struct apapi_error *err);

/**
 * The figures from the start to the latest reading, while the session continues. Waits for no
 * source, and delays a reading by some microseconds. After a stop: as apapi_session_measurement().
 * @param m  result; empty it with apapi_measurement_clear(). Set on success only
 * @return 0; -1 with errno ENODATA (the session was never started), ENOMEM
 */
APAPI_API int apapi_session_snapshot(struct apapi_session *session, struct apapi_measurement *m,
                                     struct apapi_error *err);

/**
 * Stop a session that is running, and free it. A thread that hangs in its source is abandoned, and
 * the source stays open; the thread no longer uses the caller's memory. NULL is allowed. errno is
 * preserved.
 */
APAPI_API void apapi_session_destroy(struct apapi_session *session);

APAPI_END_C
#endif
