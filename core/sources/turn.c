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
} turns[SOURCES_MAX];

/* Sources of one name use one library. More names than places share the last one. */
static struct turn *find_turn(const struct apapi_source *source)
{
    size_t i = 0;

    pthread_mutex_lock(&table_lock);
    while (i < SOURCES_MAX - 1 && turns[i].source && strcmp(turns[i].source, source->name) != 0) {
        i++;
    }
    if (!turns[i].source) {
        turns[i].source = source->name;
        pthread_mutex_init(&turns[i].lock, NULL);
    }
    pthread_mutex_unlock(&table_lock);
    return &turns[i];
}

static bool take(struct turn *turn)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    return pthread_mutex_timedlock(&turn->lock, &until) == 0;
}

struct apapi_reader *source_open(const struct apapi_source *source, const char *component,
                                 struct apapi_error *err)
{
    struct turn *turn = find_turn(source);
    struct apapi_reader *reader;
    int error;

    if (!take(turn)) {
        apapi_fail(err, EBUSY, "%s: an earlier call into %s has not come back", component,
                   source->name);
        return NULL;
    }
    reader = source->open(component, err);
    error = errno;
    pthread_mutex_unlock(&turn->lock);
    errno = error;
    return reader;
}

void source_close(struct apapi_reader *reader)
{
    struct turn *turn = find_turn(reader->source);
    int saved = errno;

    if (take(turn)) {
        reader->source->close(reader);
        pthread_mutex_unlock(&turn->lock);
    }
    errno = saved;
}
