/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/task.h"

#include <errno.h>

#include "base/thread.h"

static void *task_run(void *argument)
{
    struct task *task = argument;

    task->work(task->context);
    pthread_mutex_lock(&task->mutex);
    task->done = true;
    pthread_cond_signal(&task->changed);
    pthread_mutex_unlock(&task->mutex);
    return NULL;
}

/* The thread is detached: the process may end before the disk responds. */
static int task_start_thread(struct task *task)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int code;

    if (pthread_attr_init(&attributes)) {
        return -1;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    code = pthread_create(&thread, &attributes, task_run, task);
    pthread_attr_destroy(&attributes);
    return code ? -1 : 0;
}

void task_start(struct task *task, void (*work)(void *context), void *context)
{
    if (!task->started) {
        pthread_mutex_init(&task->mutex, NULL);
        thread_condition(&task->changed);
    }
    task->work = work;
    task->context = context;
    task->started = true;
    task->done = false;
    if (task_start_thread(task)) {
        task_run(task);
    }
}

bool task_wait(struct task *task, uint64_t deadline_ns)
{
    const struct timespec until = thread_deadline(deadline_ns);
    int code = 0;
    bool done;

    if (!task->started) {
        return true;
    }
    pthread_mutex_lock(&task->mutex);
    while (!task->done && code != ETIMEDOUT) {
        code = pthread_cond_timedwait(&task->changed, &task->mutex, &until);
    }
    done = task->done;
    pthread_mutex_unlock(&task->mutex);
    return done;
}
