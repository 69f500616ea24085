/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/tally.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/region.h"
#include "regions/counters.h"
#include "regions/observer.h"

/* A pass that has begun. */
struct tally_pass {
    uint32_t node;
    uint32_t reads;
    bool valid; /* its begin could be read */
    long long begin[COUNTER_EVENTS_MAX];
};

/* A thread, and those that had its slot before it. */
struct tally_thread {
    struct counters_thread *counters; /* NULL: not started, or it cannot count */
    bool tried;
    uint32_t depth;
    struct tally_pass passes[APAPI_REGION_DEPTH];
    struct tally_sums *nodes[PAGE_NODES]; /* NULL: none */
};

static struct tally_thread *threads[PAGE_THREADS];
static bool tally_wanted;
static bool started; /* PAPI was */
static bool forked;  /* the counters are the parent's */
static char *asked_for;

#define tally_put(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define tally_get(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

static void tally_add(long long *sum, long long value)
{
    tally_put(*sum, *sum + value);
}

static struct tally_thread *tally_thread_of(uint32_t slot)
{
    struct tally_thread *thread;

    if (slot >= PAGE_THREADS || tally_get(forked)) {
        return NULL;
    }
    thread = __atomic_load_n(&threads[slot], __ATOMIC_ACQUIRE);
    if (!thread && counters_open(asked_for) > 0) {
        tally_put(started, true);
        thread = calloc(1, sizeof *thread);
        __atomic_store_n(&threads[slot], thread, __ATOMIC_RELEASE);
    }
    if (thread && !thread->tried) {
        thread->tried = true;
        thread->depth = 0;
        thread->counters = counters_thread_begin();
    }
    return thread;
}

static struct tally_sums *tally_sums_of(struct tally_thread *thread, uint32_t node)
{
    if (!thread->nodes[node]) {
        __atomic_store_n(&thread->nodes[node], calloc(1, sizeof *thread->nodes[node]),
                         __ATOMIC_RELEASE);
    }
    return thread->nodes[node];
}

static void tally_begin(uint32_t slot, uint32_t node)
{
    int saved = errno;
    struct tally_thread *thread = tally_thread_of(slot);

    if (thread && thread->depth < APAPI_REGION_DEPTH) {
        struct tally_pass *pass = &thread->passes[thread->depth];

        pass->node = node;
        pass->reads = 0;
        pass->valid = thread->counters && tally_sums_of(thread, node) &&
                      counters_read(thread->counters, pass->begin);
    }
    if (thread) {
        thread->depth++;
    }
    errno = saved;
}

/* The innermost pass through a node, if it can be read. */
static struct tally_pass *tally_open_pass(struct tally_thread *thread, uint32_t node)
{
    uint32_t depth = thread->depth < APAPI_REGION_DEPTH ? thread->depth : APAPI_REGION_DEPTH;

    while (depth > 0 && thread->passes[depth - 1].node != node) {
        depth--;
    }
    return depth > 0 && thread->passes[depth - 1].valid ? &thread->passes[depth - 1] : NULL;
}

static void tally_add_values(long long *sums, const struct tally_pass *pass,
                             const long long *values)
{
    const struct counter_events *list = counters_events();

    for (size_t i = 0; i < list->count; i++) {
        tally_add(&sums[i], list->events[i].instant ? values[i] : values[i] - pass->begin[i]);
    }
}

static void tally_read(uint32_t slot, uint32_t node)
{
    int saved = errno;
    struct tally_thread *thread = tally_thread_of(slot);
    struct tally_pass *pass = thread ? tally_open_pass(thread, node) : NULL;
    long long values[COUNTER_EVENTS_MAX];

    if (pass && pass->reads < TALLY_READS && counters_read(thread->counters, values)) {
        struct tally_sums *sums = thread->nodes[node];

        tally_add_values(sums->read_totals[pass->reads], pass, values);
        tally_put(sums->reads[pass->reads], sums->reads[pass->reads] + 1);
        pass->reads++;
    }
    errno = saved;
}

static void tally_end(uint32_t slot, uint32_t node)
{
    int saved = errno;
    struct tally_thread *thread = tally_thread_of(slot);
    long long values[COUNTER_EVENTS_MAX];

    if (!thread || thread->depth == 0) { /* the region began before the counting */
        return;
    }
    if (--thread->depth < APAPI_REGION_DEPTH) {
        const struct tally_pass *pass = &thread->passes[thread->depth];

        if (pass->valid && pass->node == node && counters_read(thread->counters, values)) {
            tally_add_values(thread->nodes[node]->totals, pass, values);
            tally_put(thread->nodes[node]->passes, thread->nodes[node]->passes + 1);
        }
    }
    errno = saved;
}

static void tally_leave(uint32_t slot)
{
    struct tally_thread *thread = slot < PAGE_THREADS ? threads[slot] : NULL;

    if (thread && !tally_get(forked)) {
        counters_thread_end(thread->counters);
        thread->counters = NULL;
        thread->tried = false;
    }
}

static void tally_forget(void)
{
    forked = started;
}

static const struct region_observer observer = {tally_begin, tally_read, tally_end, tally_leave};

int tally_want(const char *events)
{
    bool before = false;
    const char *list = events ? events : secure_getenv("PAPI_EVENTS");

    if (!__atomic_compare_exchange_n(&tally_wanted, &before, true, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        errno = EALREADY;
        return -1;
    }
    asked_for = list ? strdup(list) : NULL; /* kept, as threads may look at any time */
    pthread_atfork(NULL, NULL, tally_forget);
    return region_observe(&observer);
}

void tally_want_if_asked(void)
{
    if (!tally_get(tally_wanted) && secure_getenv("PAPI_EVENTS")) {
        tally_want(NULL);
    }
}

size_t tally_event_count(void)
{
    return tally_get(tally_wanted) ? counters_events()->count : 0;
}

const struct counter_event *tally_event(size_t index)
{
    return &counters_events()->events[index];
}

bool tally_copy(uint32_t slot, uint32_t node, struct tally_sums *copy)
{
    const struct tally_thread *thread =
        slot < PAGE_THREADS ? __atomic_load_n(&threads[slot], __ATOMIC_ACQUIRE) : NULL;
    const struct tally_sums *sums = thread && node < PAGE_NODES
                                        ? __atomic_load_n(&thread->nodes[node], __ATOMIC_ACQUIRE)
                                        : NULL;

    if (!sums || tally_get(forked)) {
        return false;
    }
    copy->passes = tally_get(sums->passes);
    for (size_t i = 0; i < counters_events()->count; i++) {
        copy->totals[i] = tally_get(sums->totals[i]);
    }
    for (size_t k = 0; k < TALLY_READS; k++) {
        copy->reads[k] = tally_get(sums->reads[k]);
        for (size_t i = 0; i < counters_events()->count; i++) {
            copy->read_totals[k][i] = tally_get(sums->read_totals[k][i]);
        }
    }
    return true;
}
