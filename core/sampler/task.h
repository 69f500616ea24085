/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_TASK_H
#define SAMPLER_TASK_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * Work that may wait for a disk, done in its own thread, so that the sampler can answer meanwhile.
 * One thread starts it and waits for it. All members 0: nothing started.
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
 * Start. The previous task must have ended. If no thread can be created, the work is done at once.
 * @param context  must stay valid until the task has ended
 */
void task_start(struct task *task, void (*work)(void *context), void *context);

/**
 * Wait until the work is done.
 * @param deadline_ns  CLOCK_MONOTONIC; 0: do not wait; UINT64_MAX: no limit
 * @return whether no task is running any more
 */
bool task_wait(struct task *task, uint64_t deadline_ns);

#endif
