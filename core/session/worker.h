/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_WORKER_H
#define SESSION_WORKER_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/component.h"
#include "session/session_common.h"

/** A call into a source, made without the mutex. */
struct worker_task {
    enum worker_call {
        WORKER_NO_CALL,
        WORKER_OPEN,
        WORKER_READ,
        WORKER_PROBE,
        WORKER_CHECK, /* after the last reading */
        WORKER_LOOK,  /* for session_listen() alone */
        WORKER_REOPEN,
        WORKER_CLOSE
    } call;
    struct component *component;
    unsigned run;  /* the run in which the call was begun */
    bool asked;    /* the last reading had been asked for when the call was begun */
    bool dense;    /* WORKER_READ: a reading of the dense start, not shown to others */
    bool usual;    /* one reading of many: it may be shared with others, and a bit older */
    bool extra;    /* WORKER_READ: between deadlines, for session_read_now() */
    bool reopened; /* WORKER_READ: with a source that was opened again */
    struct apapi_reader *reader; /* opened, or to be closed */
    int error;                   /* errno of a source that could not be opened */
    struct apapi_error why;
    struct apapi_moment when; /* when the reading was */
};

/**
 * Reads one or more components, each when it is due. A session has one shared worker for all
 * components but those with an own worker: they are slow to open or to read, may end their thread,
 * are opened again after long failures, or are open while the shared worker is opening another.
 *
 * worker_step() does the worker's next step; the worker's thread calls it, and sleeps in between.
 *
 * `mutex` protects all that follows it here, and the components that the worker reads. It is not
 * held in a call into a source: there the thread alone touches the component's reader, `raw` and
 * `slots`. So a source that hangs holds up only its worker, and a reading that comes back after
 * its run is thrown away. To lock two workers, lock the shared worker's mutex first.
 */
struct worker {
    struct session_common *common;
    struct component *components; /* an own worker has one */
    size_t count;
    struct worker *own; /* of a shared worker: the own worker of each component; else NULL */
    void *(*thread_main)(void *worker);
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool started;                  /* there is a thread, or was one that has to be given back */
    bool running;                  /* between start and stop */
    bool last;                     /* the stop wants one more reading of each component */
    bool ending;                   /* the session is gone: touch nothing of its owner's */
    bool ended;                    /* the thread is done, or its source has ended it */
    unsigned run;                  /* counts the starts */
    struct worker_task task;       /* the call that was made, and is not accounted for yet */
    struct worker_task following;  /* the call to be made next, whatever is due */
    struct apapi_reader *to_close; /* to be closed before that; NULL: none */
    size_t next;                   /* index of the next component in this round of readings */
    uint64_t round_ns;             /* when the round began */
    uint64_t cpu_start_ns;         /* CPU time of the thread when the run began */
    uint64_t cpu_ns; /* CPU time in the latest run, of threads that have ended or are idle */
};

/**
 * Prepare a worker. The arguments must outlive it.
 * @param own  the shared worker's: a prepared worker for each component; NULL: for an own worker
 */
void worker_init(struct worker *worker, struct session_common *common, struct component *components,
                 size_t count, struct worker *own);

void worker_clear(struct worker *worker);

/**
 * Do one step: call a source, or account for the call before. The worker's thread calls this; in
 * simulated time, the code that plays the thread does. The mutex is held, except during a call into
 * a source.
 * @return when to call this again, unless `changed` is signalled before [ns]; 0: at once. When
 *         `ended` is set: never; the caller unlocks and calls common_release().
 */
uint64_t worker_step(struct worker *worker);

/** The source has ended the thread in the middle of a call. Called without the mutex, once. */
void worker_lost(void *worker);

/* Orders. Called without the mutex. */

/** Open its components that are `to_open`. A failure is noted as the component's `reason`. */
void worker_open(struct worker *worker);

/**
 * A run begins: read all components now, then each at its interval.
 * @return 0; -1 with errno EAGAIN: no thread could be started.
 */
int worker_run(struct worker *worker);

/** Wait until all its sources are open, or cannot be opened. */
void worker_await_open(struct worker *worker, uint64_t deadline_ns);

/** Wait for the first readings of the run, but for sources that are still being opened. */
void worker_await_first(struct worker *worker, uint64_t deadline_ns);

/**
 * With the mutex: have a component read as soon as its source is free, by a reading that begins
 * after this call. @param count  it counts as usual ones do; else on_reading() alone gets it
 */
void worker_want(struct worker *worker, struct component *component, bool count);

/** Ask for the last readings of the run. */
void worker_ask_last(struct worker *worker);

/**
 * Wait for the last readings and end the run. If a component has none, its `reason` says so.
 * @param patience_ns  time to wait, since the last readings were asked for at `asked_ns`
 * @return when the latest of these readings was [ns]; 0: there was none in time.
 */
uint64_t worker_await_last(struct worker *worker, uint64_t asked_ns, uint64_t patience_ns);

/** @return CPU time in the latest run, so far if it goes on [ns]. */
uint64_t worker_cpu_ns(struct worker *worker);

/** Close the sources and end the thread. */
void worker_dismiss(struct worker *worker);

/** Wait until the thread ends; a thread that hangs is left to itself, with all that it holds. */
void worker_await_end(struct worker *worker, uint64_t deadline_ns);

#endif
