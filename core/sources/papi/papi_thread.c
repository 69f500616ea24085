/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/thread.h"

static pthread_mutex_t thread_lock = PTHREAD_MUTEX_INITIALIZER; /* protects everything below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool running;

static enum state { FREE, ASKED, ANSWERED } state;
static int (*asked)(void *context);
static void *asked_with;
static int result, result_errno;

static void papi_thread_answer(int value, int error)
{
    result = value;
    result_errno = error;
    state = ANSWERED;
    pthread_cond_broadcast(&changed);
}

static void papi_thread_end(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&thread_lock);
    running = false;
    papi_thread_answer(PAPI_THREAD_ENDED, EIO);
    pthread_mutex_unlock(&thread_lock);
}

/* Holds the lock except during calls. */
static void papi_thread_serve(void)
{
    for (;;) {
        int value;

        while (state != ASKED) {
            pthread_cond_wait(&changed, &thread_lock);
        }
        pthread_mutex_unlock(&thread_lock);
        value = asked(asked_with);
        int error = errno;
        pthread_mutex_lock(&thread_lock);
        papi_thread_answer(value, error);
    }
}

static void *papi_thread_run(void *unused)
{
    pthread_cleanup_push(papi_thread_end, NULL);
    pthread_mutex_lock(&thread_lock);
    papi_thread_serve();
    pthread_cleanup_pop(1);
    return unused;
}

/* A child of fork() only has the thread that called it. */
static void forget_parent(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    const pthread_cond_t unused = PTHREAD_COND_INITIALIZER;

    thread_lock = unlocked;
    changed = unused;
    running = false;
    state = FREE;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_parent);
}

static int papi_thread_start(struct apapi_error *err)
{
    pthread_t thread;

    if (running) {
        return 0;
    }
    if (thread_start(&thread, papi_thread_run, NULL)) {
        return apapi_fail(err, EAGAIN, "a thread for PAPI cannot be started: %s", strerror(errno));
    }
    pthread_detach(thread);
    running = true;
    return 0;
}

static int papi_thread_ask(int (*call)(void *context), void *context)
{
    asked = call;
    asked_with = context;
    state = ASKED;
    pthread_cond_broadcast(&changed);
    while (state != ANSWERED) {
        pthread_cond_wait(&changed, &thread_lock);
    }
    state = FREE;
    pthread_cond_broadcast(&changed);
    errno = result_errno;
    return result;
}

int papi_thread_call(int (*call)(void *context), void *context, struct apapi_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int value;

    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&thread_lock);
    while (state != FREE) {
        pthread_cond_wait(&changed, &thread_lock);
    }
    value = papi_thread_start(err) ? -1 : papi_thread_ask(call, context);
    int error = errno;
    pthread_mutex_unlock(&thread_lock);
    errno = error;
    return value;
}
