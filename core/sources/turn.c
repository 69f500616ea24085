/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/turn.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define SOURCES_MAX 32
#define PATIENCE_S 1

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct turn {
    const char *source; /* NULL: free */
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    bool taken;
} turns[SOURCES_MAX];

/* Changes of the system time must not prolong or end a wait. */
static void init(struct turn *turn, const char *source)
{
    pthread_condattr_t monotonic;

    turn->source = source;
    pthread_mutex_init(&turn->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&turn->given_back, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Sources of one name use one library. If there are more names than slots, they share the last. */
static struct turn *find_turn(const struct apapi_source *source)
{
    size_t i = 0;

    pthread_mutex_lock(&table_lock);
    while (i < SOURCES_MAX - 1 && turns[i].source && strcmp(turns[i].source, source->name) != 0) {
        i++;
    }
    if (!turns[i].source) {
        init(&turns[i], source->name);
    }
    pthread_mutex_unlock(&table_lock);
    return &turns[i];
}

static bool take(struct turn *turn)
{
    struct timespec until;
    bool taken;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&turn->lock);
    while (turn->taken &&
           pthread_cond_timedwait(&turn->given_back, &turn->lock, &until) != ETIMEDOUT) {
    }
    taken = !turn->taken;
    turn->taken = true;
    pthread_mutex_unlock(&turn->lock);
    return taken;
}

static void give_back(struct turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    turn->taken = false;
    pthread_cond_signal(&turn->given_back);
    pthread_mutex_unlock(&turn->lock);
}

struct apapi_reader *source_open(const struct apapi_source *source, const char *component,
                                 struct apapi_error *err)
{
    struct turn *turn = find_turn(source);
    struct apapi_reader *reader;
    int error;

    if (!take(turn)) {
        apapi_fail(err, EBUSY, "%s: an earlier call into %s has not returned", component,
                   source->name);
        return NULL;
    }
    reader = source->open(component, err);
    error = errno;
    give_back(turn);
    errno = error;
    return reader;
}

void source_close(struct apapi_reader *reader)
{
    struct turn *turn = find_turn(reader->source);
    int saved = errno;

    if (take(turn)) {
        reader->source->close(reader);
        give_back(turn);
    }
    errno = saved;
}
