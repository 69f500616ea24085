/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/source_lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

#define SOURCES_MAX 32
#define PATIENCE_NS (1 * NS_PER_S)

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct source_lock {
    const char *source; /* NULL: free */
    pthread_mutex_t mutex;
    pthread_cond_t given_back;
    bool taken;
} locks[SOURCES_MAX];

static void source_lock_init(struct source_lock *lock, const char *source)
{
    lock->source = source;
    pthread_mutex_init(&lock->mutex, NULL);
    thread_condition(&lock->given_back);
}

/* Sources of one name use one library. More names than places share the last one. */
static struct source_lock *source_lock_find(const struct apapi_source *source)
{
    size_t i = 0;

    pthread_mutex_lock(&table_mutex);
    while (i < SOURCES_MAX - 1 && locks[i].source && strcmp(locks[i].source, source->name) != 0) {
        i++;
    }
    if (!locks[i].source) {
        source_lock_init(&locks[i], source->name);
    }
    pthread_mutex_unlock(&table_mutex);
    return &locks[i];
}

static bool source_lock_take(struct source_lock *lock)
{
    const struct timespec until = thread_deadline(clock_monotonic_ns() + PATIENCE_NS);
    bool taken;

    pthread_mutex_lock(&lock->mutex);
    while (lock->taken &&
           pthread_cond_timedwait(&lock->given_back, &lock->mutex, &until) != ETIMEDOUT) {
    }
    taken = !lock->taken;
    lock->taken = true;
    pthread_mutex_unlock(&lock->mutex);
    return taken;
}

static void source_lock_give_back(struct source_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    lock->taken = false;
    pthread_cond_signal(&lock->given_back);
    pthread_mutex_unlock(&lock->mutex);
}

struct apapi_reader *source_open(const struct apapi_source *source, const char *component,
                                 struct apapi_error *err)
{
    struct source_lock *lock = source_lock_find(source);
    struct apapi_reader *reader;
    int error;

    if (!source_lock_take(lock)) {
        apapi_fail(err, EBUSY, "%s: an earlier call into %s has not returned", component,
                   source->name);
        return NULL;
    }
    reader = source->open(component, err);
    error = errno;
    source_lock_give_back(lock);
    errno = error;
    return reader;
}

void source_close(struct apapi_reader *reader)
{
    struct source_lock *lock = source_lock_find(reader->source);
    int saved = errno;

    if (source_lock_take(lock)) {
        reader->source->close(reader);
        source_lock_give_back(lock);
    }
    errno = saved;
}
