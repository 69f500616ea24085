/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_TASK_H
#define SAMPLER_TASK_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * Work that may wait for a disk, done by a thread of its own, so that the sampler can answer
 * meanwhile. One thread starts it and waits for it. All members 0: nothing has been started.
 */
struct task {
    void (*work)(void *context);
    void *context;
    bool started;
    bool done;             /* guarded by the mutex */
    pthread_mutex_t mutex; /* set by task_start() */
    pthread_cond_t changed;
};

/**
 * Start. The one before must have ended. Where no thread can be had the work is done at once.
 * @param context  must live until the task has ended
 */
void task_start(struct task *task, void (*work)(void *context), void *context);

/**
 * Wait until the work is done.
 * @param deadline_ns  CLOCK_MONOTONIC; 0: only look; UINT64_MAX: however long it takes
 * @return whether nothing is running any more
 */
bool task_wait(struct task *task, uint64_t deadline_ns);

#endif
