/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_LANE_H
#define SESSION_LANE_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/component.h"

struct sampling;

/**
 * A thread for one component that is slow, that may end the thread, or that has failed for so long
 * that its source is opened anew. What it waits for in the source costs nobody else anything:
 * `lock` is not held there, and whoever asks for an answer has a deadline. What is left behind in
 * the source finds out when it returns, and its reading is thrown away.
 *
 * The component belongs to the thread: what it has accounted for to the holder of `lock`, its
 * reader, `raw` and `places` to the thread alone.
 */
struct lane {
    struct sampling *sampling;
    struct component *component;
    pthread_t thread;
    bool started;         /* there is a thread, or was one that has to be joined */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    bool to_open; /* the source is not open yet */
    bool running; /* between start and stop */
    bool tried;   /* there was a reading since the start, good or not */
    bool last;    /* the stop wants one more */
    bool ending;  /* the session is gone: touch nothing of its owner's */
    bool ended;   /* the thread is done, or its source has ended it */
    unsigned run; /* counts the starts */
    uint64_t cpu_start_ns;
    uint64_t cpu_ns; /* CPU time of the thread in the latest run */
};

void lane_init(struct lane *lane, struct sampling *sampling, struct component *component);
void lane_clear(struct lane *lane);

/** Open the component, prepared by component_begin(), in a thread. What fails is its reason. */
void lane_open(struct lane *lane);

/** A run begins: read now and at each interval, in a thread that is there already or is started. */
void lane_run(struct lane *lane);

/** From the thread for all: read on in a thread of its own. Nothing changes if none can be started.
 */
void lane_take_over(struct lane *lane);

/** Wait until the source is open, or cannot be opened. */
void lane_await_open(struct lane *lane, uint64_t deadline_ns);

/** Wait for the first reading of the run, unless the source is still being opened. */
void lane_await_first(struct lane *lane, uint64_t deadline_ns);

/** Ask for the last reading of the run. */
void lane_ask(struct lane *lane);

/** Wait for it and end the run. @return when it was [ns]; 0: there was none in time. */
uint64_t lane_await_last(struct lane *lane, uint64_t deadline_ns);

/** @return CPU time of the thread in the latest run, so far if it goes on [ns]. */
uint64_t lane_cpu_ns(struct lane *lane);

/** End the run without a reading. */
void lane_halt(struct lane *lane);

/** Close the source and end the thread. */
void lane_dismiss(struct lane *lane);

/** Wait for that; a thread that hangs is left to itself, and so is what it holds. */
void lane_await_end(struct lane *lane, uint64_t deadline_ns);

#endif
