/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/counters.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SETS_MAX 8

struct counters_thread {
    size_t set_count;
    int sets[SETS_MAX];
};

static struct {
    const struct papi_calls *papi;
    bool multiplex, verbose;
    const char *asked_for; /* only during counters_open() */
    struct counter_events events;
} counters;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void counters_say(const char *text, const char *what)
{
    if (counters.verbose) {
        printf("apapi: %s%s\n", text, what);
    }
}

static void counters_choose(void)
{
    struct counter_events *list = &counters.events;
    size_t asked = list->count;

    counter_events_check(list, counters.papi, counters.multiplex, counters.verbose);
    if (list->count == 0) {
        counters_say("PAPI's default events are counted", asked > 0 ? ", as no other exists" : "");
        counter_events_default(list, counters.papi);
        counter_events_check(list, counters.papi, counters.multiplex, counters.verbose);
    }
    for (size_t i = 0; i < list->count; i++) {
        counters_say("regions count PAPI event ", list->events[i].name);
    }
}

static void counters_open_once(void)
{
    const char *events = counters.asked_for ? counters.asked_for : "";
    struct apapi_error err;

    counters.verbose = secure_getenv("PAPI_HL_VERBOSE") != NULL;
    counters.multiplex = secure_getenv("PAPI_MULTIPLEX") != NULL;
    if (counter_events_parse(&counters.events, events) > 0) {
        counters_say("PAPI events beyond the 32nd, and those with long names, are left out", "");
    }
    counters.papi = papi_calls_start(counter_events_need, &counters.events, &err);
    if (!counters.papi) {
        counters.events.count = 0;
        counters_say("regions have no CPU counters: ", err.text);
        return;
    }
    if (counters.multiplex && counters.papi->multiplex_init() != PAPI_CALLS_OK) {
        counters_say("PAPI cannot count events in turns here", "");
        counters.multiplex = false;
    }
    counters_choose();
}

size_t counters_open(const char *events)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    counters.asked_for = events;
    pthread_once(&opened, counters_open_once);
    pthread_mutex_unlock(&lock);
    return counters.events.count;
}

const struct counter_events *counters_events(void)
{
    return &counters.events;
}

static bool counters_start_sets(struct counters_thread *thread)
{
    const struct counter_events *list = &counters.events;
    size_t count;

    for (size_t first = 0; first < list->count; first += count) {
        int set;

        count = counter_events_same(list, first);
        set = thread->set_count < SETS_MAX
                  ? counter_events_set(list, first, count, counters.papi, counters.multiplex)
                  : PAPI_CALLS_NO_SET;
        if (set == PAPI_CALLS_NO_SET) {
            return false;
        }
        thread->sets[thread->set_count++] = set;
        if (counters.papi->start(set) != PAPI_CALLS_OK) {
            return false;
        }
    }
    return true;
}

struct counters_thread *counters_thread_begin(void)
{
    struct counters_thread *thread = counters.events.count > 0 ? calloc(1, sizeof *thread) : NULL;

    if (!thread) {
        return NULL;
    }
    counters.papi->register_thread();
    if (!counters_start_sets(thread)) {
        counters_say("PAPI cannot count for this thread", "");
        counters_thread_end(thread);
        return NULL;
    }
    return thread;
}

bool counters_read(const struct counters_thread *thread, long long *values)
{
    size_t first = 0;

    for (size_t i = 0; i < thread->set_count; i++) {
        if (counters.papi->read(thread->sets[i], values + first) != PAPI_CALLS_OK) {
            return false;
        }
        first += counter_events_same(&counters.events, first);
    }
    return true;
}

void counters_thread_end(struct counters_thread *thread)
{
    int saved = errno;

    if (!thread) {
        return;
    }
    for (size_t i = 0; i < thread->set_count; i++) {
        counters.papi->stop(thread->sets[i], NULL);
        counters.papi->cleanup_eventset(thread->sets[i]);
        counters.papi->destroy_eventset(&thread->sets[i]);
    }
    free(thread);
    errno = saved;
}
