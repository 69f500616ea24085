/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_WORKER_PARTS_H
#define SESSION_WORKER_PARTS_H
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
        WORKER_LOOK, /* somebody wants to know the raw values */
        WORKER_REOPEN,
        WORKER_CLOSE
    } call;
    struct component *component;
    unsigned run;                /* in which it was begun */
    bool asked;                  /* the last reading had been asked for when it was begun */
    bool early;                  /* WORKER_READ: before its deadline, which remains */
    bool usual;                  /* one of many: it may be shared with others, and a bit older */
    bool extra;                  /* WORKER_READ: at any time, somebody wants it now */
    bool reopened;               /* WORKER_READ: with a source that was opened again */
    struct apapi_reader *reader; /* opened, or to be closed */
    int error;                   /* errno of what could not be opened */
    struct apapi_error why;
    struct apapi_moment when; /* of a reading */
};

/**
 * Reads one or more components, each when it is due. A session has one shared worker for all
 * components, but for those that have an own worker: components that are slow to open or to read,
 * that may end their thread, or that have failed for so long that their source is opened again.
 *
 * What a worker does next is decided by worker_step(); its thread calls that and sleeps between.
 *
 * `mutex` protects all that follows it here, and the components that the worker reads. It is not
 * held in a call into a source: there the thread alone touches the component's reader, `raw` and
 * `slots`. So a source that hangs holds up only its worker, and a reading that comes back after
 * its run is thrown away. Where two are locked, the shared worker's comes first.
 */
struct worker {
    struct session_common *common;
    struct component *components; /* of an own worker: one */
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
    struct apapi_reader *to_close; /* before that; NULL: none */
    size_t next;                   /* of the components, in this round of readings */
    uint64_t round_ns;             /* when the round began */
    uint64_t cpu_start_ns;         /* of the thread, when the run began */
    uint64_t cpu_ns;               /* in the latest run, of threads that have ended or are idle */
};

/* What its steps and its orders need both. Called with the mutex, but for worker_take_over(). */

/** @return whether this worker reads the component, whose source is open or was. */
bool worker_reads(const struct worker *worker, const struct component *component);

/** Tell those who wait that something has changed. */
void worker_changed(struct worker *worker);

/** From the shared worker, with its mutex: an own one reads on. If it cannot, nothing changes. */
void worker_take_over(struct worker *own);

/** The thread has nothing more to do. */
void worker_end(struct worker *worker);

/** @return CPU time of its thread so far [ns]. @param thread  NULL: the calling one */
uint64_t worker_thread_cpu_ns(const struct worker *worker, const pthread_t *thread);

/** What the calling thread has used is counted, and it will not go on. */
void worker_count_cpu(struct worker *worker);

/** @return 0; -1 with errno EAGAIN, and worker->started is false. */
int worker_start_thread(struct worker *worker);

#endif
