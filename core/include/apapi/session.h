/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SESSION_H
#define APAPI_SESSION_H
#include <stdbool.h>

#include "apapi/error.h"
#include "apapi/events.h"
#include "apapi/interval.h"
#include "apapi/measurement.h"
#include "apapi/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A set of components that are measured together (opaque). */
struct apapi_session;
struct apapi_live_page;

/** One reading of one component. Lives during the call only. */
struct apapi_sample {
    const char *component;
    uint64_t time_ns; /* since the first reading of the session [ns] */
    size_t event_count;
    const struct apapi_event *events;
    const struct apapi_reading *readings;
    /* in event.unit: a gauge's value, what a counter has counted since the reading before; NaN:
     * none */
    const double *values;
};

/*
 * Components whose sources are slow to open, that may end the thread which reads them, or that have
 * failed for a while, have an own worker: a thread that reads nothing else. One shared worker reads
 * all others. How long a start waits for the first readings of own workers, a stop for the last
 * ones, and both of them for those of the shared worker [ns]:
 */
#define APAPI_START_WAIT_NS UINT64_C(50000000)
#define APAPI_STOP_WAIT_NS UINT64_C(100000000)
#define APAPI_SHARED_WAIT_NS UINT64_C(500000000)

/**
 * Called after each reading by the thread that made it, by one at a time. Whatever it does delays
 * the next reading.
 */
typedef void (*apapi_sample_f)(const struct apapi_sample *sample, void *context);

/** What to measure. Copied by apapi_session_create(). */
struct apapi_session_config {
    /* "rapl:nvml"; "all": every component that APAPI knows a way to read, but estimates; NULL:
     * apapi_components_default(). Results of those of these that cannot be measured are left out,
     * unless there is no other or `all_results` is set */
    const char *components;
    bool all_results;
    const char *sources; /* order of sources, "sysfs:papi"; NULL: each component's own order */
    const struct apapi_intervals *intervals; /* NULL: APAPI_INTERVAL_DEFAULT_NS for all */
    /* No component is read more often, whatever `intervals` or the user's definitions say, and all
     * are read at multiples of it on CLOCK_MONOTONIC, but for the first and the last reading. Only
     * a counter that would wrap unseen, by its source's own word, is. 0: none [ns] */
    uint64_t min_interval_ns;
    /* NULL: all events; must outlive the session. They choose and define what is shown: domains are
     * all meters of a source, by its own word and that of `default_ops` */
    const struct apapi_event_rules *rules;
    bool softfail; /* components and listed events that are not there do not stop the rest */
    uint64_t
        patience_ns; /* create() waits so long for sources that are slow to open; 0: not at all */
    apapi_sample_f on_sample; /* NULL: not needed */
    void *context;            /* for on_sample */
    /* A page of zeros, but for what the owner says of himself in its head. Written after each
     * reading; must outlive the session; NULL: none */
    struct apapi_live_page *live;
};

/**
 * @return the components that are measured when none is named, those of them that can be measured
 *         here. Static storage.
 */
APAPI_API const char *apapi_components_default(void);

/**
 * Check a list of components without opening anything.
 * @param components  "rapl:nvml", "all"
 * @return 0; -1 with errno EINVAL (empty list or word), ENOENT (a word that no source knows);
 *         `err` names the word and what is available.
 * Thread-safety: one thread at a time (PAPI).
 */
APAPI_API int apapi_components_check(const char *components, struct apapi_error *err);

/**
 * Check the components that an event list names before ":::", whether they are measured or not.
 * @param list       NULL is allowed
 * @param elsewhere  it is for other machines: without PAPI here nobody knows what theirs has
 * @return 0; -1 with errno ENOENT: no source knows one of them, `err` names its line.
 * Thread-safety: one thread at a time (PAPI).
 */
APAPI_API int apapi_eventlist_check(const struct apapi_eventlist *list, bool elsewhere,
                                    struct apapi_error *err);

/**
 * Open the sources of all components. A component that cannot be read is no error: its
 * result will say why. Sources that may take seconds for it are opened in the background, and are
 * waited for as long as config->patience_ns says; what is wrong with them, or with the user's list
 * of their events, is also told by the result only.
 * @return the session, freed by apapi_session_destroy(); NULL with errno
 *         EINVAL, ENOENT  as apapi_components_check(), or an unknown word in config->sources, or
 *                         an event of the user's list that is not there, or a component in it that
 *                         no source knows
 *         EDOM            a definition contradicts what the source knows of the event's unit
 *         ENOMEM
 * Thread-safety: one thread at a time (PAPI).
 */
APAPI_API struct apapi_session *apapi_session_create(const struct apapi_session_config *config,
                                                     struct apapi_error *err);

/**
 * Take a reading now and go on taking one at each interval, in threads of the session's own
 * that receive no signal. What cannot be read is tried again after 1, 2, 4, 8 ... intervals, at
 * most a minute; after a second its source is opened anew.
 * @param requested_ns  since when the caller wanted it (CLOCK_MONOTONIC) [ns]; 0: now
 * @return 0; -1 with errno
 *         EALREADY  it is running
 *         EAGAIN    no thread could be started; nothing runs
 * A session can be started again after a stop; it begins anew.
 */
APAPI_API int apapi_session_start(struct apapi_session *session, uint64_t requested_ns,
                                  struct apapi_error *err);

/**
 * Take the last reading and end the sampling. Blocks for one reading, at most for
 * APAPI_SHARED_WAIT_NS, where it has an own worker for APAPI_STOP_WAIT_NS: what does not answer in
 * this time keeps what was measured until then, and its result says so.
 * @return 0; -1 with errno EALREADY (it does not run).
 */
APAPI_API int apapi_session_stop(struct apapi_session *session, struct apapi_error *err);

/**
 * What was measured between the last start and stop.
 * @param m  result, to be emptied by apapi_measurement_clear(); set on success only
 * @return 0; -1 with errno EBUSY (it is running), ENODATA (never started), ENOMEM.
 */
APAPI_API int apapi_session_measurement(struct apapi_session *session, struct apapi_measurement *m,
                                        struct apapi_error *err);

/**
 * What has been measured between the start and the latest reading, while the session runs on. It
 * waits for no source and delays no reading. After a stop: as apapi_session_measurement().
 * @param m  result, to be emptied by apapi_measurement_clear(); set on success only
 * @return 0; -1 with errno ENODATA (never started), ENOMEM.
 */
APAPI_API int apapi_session_snapshot(struct apapi_session *session, struct apapi_measurement *m,
                                     struct apapi_error *err);

/**
 * Stop if need be and free. A thread that hangs in its source is left to itself, and the source
 * stays open; it touches nothing of the caller's any more. NULL is allowed. errno is preserved.
 */
APAPI_API void apapi_session_destroy(struct apapi_session *session);

#ifdef __cplusplus
}
#endif
#endif
