/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/ticker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

struct ticker {
    uint64_t interval_ns;
    ticker_f call;
    void *context;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool ended;
};

uint64_t ticker_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* @return whether it shall go on. */
static bool ticker_wait(struct ticker *ticker, uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};
    bool ended;

    pthread_mutex_lock(&ticker->mutex);
    while (!ticker->ended && ticker_now_ns() < until_ns) {
        pthread_cond_timedwait(&ticker->changed, &ticker->mutex, &until);
    }
    ended = ticker->ended;
    pthread_mutex_unlock(&ticker->mutex);
    return !ended;
}

/* What was missed is left out. */
static void *ticker_run(void *argument)
{
    struct ticker *ticker = argument;
    uint64_t next_ns = ticker_now_ns() + ticker->interval_ns;

    while (ticker_wait(ticker, next_ns)) {
        uint64_t now_ns = ticker_now_ns();

        ticker->call(ticker->context);
        next_ns += ((now_ns - next_ns) / ticker->interval_ns + 1) * ticker->interval_ns;
    }
    return NULL;
}

static void ticker_init(struct ticker *ticker)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ticker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&ticker->mutex, NULL);
}

static void ticker_free(struct ticker *ticker)
{
    pthread_cond_destroy(&ticker->changed);
    pthread_mutex_destroy(&ticker->mutex);
    free(ticker);
}

static int ticker_create_thread(struct ticker *ticker)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&ticker->thread, NULL, ticker_run, ticker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct ticker *ticker_start(uint64_t interval_ns, ticker_f call, void *context)
{
    struct ticker *ticker = malloc(sizeof *ticker);

    if (!ticker) {
        return NULL;
    }
    *ticker = (struct ticker){.interval_ns = interval_ns, .call = call, .context = context};
    ticker_init(ticker);
    if (ticker_create_thread(ticker)) {
        ticker_free(ticker);
        return NULL;
    }
    return ticker;
}

void ticker_stop(struct ticker *ticker)
{
    if (!ticker) {
        return;
    }
    pthread_mutex_lock(&ticker->mutex);
    ticker->ended = true;
    pthread_cond_signal(&ticker->changed);
    pthread_mutex_unlock(&ticker->mutex);
    pthread_join(ticker->thread, NULL);
    ticker_free(ticker);
}
