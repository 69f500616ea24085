/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/observe/observe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "regions/observe/observe_parts.h"

#define PAUSE_NS UINT64_C(10000) /* for each program: some ten times of what a look at it takes */

struct observer *observe_create(const struct apapi_live_page *live)
{
    struct observer *observer = calloc(1, sizeof(*observer));

    if (observer) {
        pthread_mutex_init(&observer->lock, NULL);
        observer->live = live;
        observer->first = ticks_moment_now(PAGE_CLOCK_CPU);
        observer->room = (struct observed_room){OBSERVED_THREADS_MAX, OBSERVED_NODES_MAX, 0};
        nodes_init(&observer->nodes);
        observer->columns[NODES_UNMARKED] = COLUMN_UNMARKED;
        observer->columns[NODES_REST] = COLUMN_COMMON;
        observer->column_count = COLUMN_FIRST;
    }
    return observer;
}

void observe_destroy(struct observer *observer)
{
    if (!observer) {
        return;
    }
    while (observer->programs) {
        struct observed *program = observer->programs;

        observer->programs = program->next;
        observed_destroy(program);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        free(observer->domains[d].fit);
    }
    pthread_mutex_destroy(&observer->lock);
    free(observer);
}

static struct observe_moment observe_now(const struct observer *observer)
{
    const struct ticks_moment now = {ticks_now(PAGE_CLOCK_CPU), clock_monotonic_ns()};
    uint64_t start_ns = observer->live->head.start_ns;

    return (struct observe_moment){
        .ns = now.ns,
        .passed_s = now.ns > start_ns ? (double)(now.ns - start_ns) / NS_PER_S : 0,
        .ticks = now.ticks,
        .tick_ns = ticks_length_ns(PAGE_CLOCK_CPU, observer->first, now),
        .elapsed_s =
            now.ns > observer->looked_ns ? (double)(now.ns - observer->looked_ns) / NS_PER_S : 0};
}

static void observe_look_at(struct observer *observer, const struct observe_moment *now,
                            struct observed *program)
{
    observer->threads_s +=
        observed_look(program, now, &observer->room, &observer->nodes, observer->news_s);
}

void observe_look(struct observer *observer)
{
    const struct observe_moment now = observe_now(observer);
    double threads_s;

    observer->room.news = OBSERVED_NEWS_MAX;
    for (struct observed *program = observer->programs; program; program = program->next) {
        observe_look_at(observer, &now, program);
    }
    threads_s = observer->threads_s;
    observer->threads_s = 0;
    if (threads_s <= 0 && observer->depth > 0) {
        threads_s = now.elapsed_s;
        observer->news_s[observer->shell[observer->depth - 1].node] += threads_s;
    }
    bands_span(&observer->bands, observer->looked_ns, now.ns);
    for (size_t i = 0; threads_s > 0 && i < observer->nodes.count; i++) {
        if (observer->news_s[i] > 0) {
            observe_add_node_time(observer, i, observer->news_s[i]);
            observer->news_s[i] = 0;
        }
    }
    observe_add_time(observer, threads_s > 0 ? FIT_INSIDE : FIT_OUTSIDE, now.elapsed_s);
    observer->looked_ns = now.ns;
}

void observe_look_sometimes(struct observer *observer)
{
    if (clock_monotonic_ns() - observer->looked_ns >= observer->program_count * PAUSE_NS) {
        observe_look(observer);
    }
}

static void observe_row(struct observer *observer, struct observe_domain *domain,
                        const struct apapi_live_slot *slot)
{
    double x[FIT_COLUMNS] = {0};

    for (size_t i = 0; i < observer->column_count; i++) {
        x[i] = observer->times_s[i] - domain->times_s[i];
    }
    if (slot->total >= domain->total_j && x[FIT_OUTSIDE] + x[FIT_INSIDE] > 0) {
        fit_add(domain->fit, x, observer->column_count, slot->total - domain->total_j);
    }
    memcpy(domain->times_s, observer->times_s, sizeof(domain->times_s));
    domain->time_ns = slot->time_ns;
    domain->total_j = slot->total;
}

/* The thread that calls this is the page's writer. */
void observe_reading(const struct apapi_live_page *live, void *context)
{
    struct observer *observer = context;

    if (!atomic_load_explicit(&observer->active, memory_order_acquire)) {
        return;
    }
    pthread_mutex_lock(&observer->lock);
    observe_look(observer);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_live_slot *slot = &live->domains[d];

        if (observer->domains[d].fit && slot->time_ns != observer->domains[d].time_ns &&
            !isnan(slot->total)) {
            observe_row(observer, &observer->domains[d], slot);
        }
    }
    observe_change_columns(observer);
    pthread_mutex_unlock(&observer->lock);
}

/* What was measured before the first program came is a row without any. */
int observe_activate(struct observer *observer)
{
    if (atomic_load_explicit(&observer->active, memory_order_relaxed)) {
        return 0;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        uint64_t flags = __atomic_load_n(&observer->live->domains[d].flags, __ATOMIC_RELAXED);
        struct fit *fit = observer->domains[d].fit;

        if (!(flags & APAPI_LIVE_MEASURED) || fit) {
            continue;
        }
        fit = malloc(sizeof(*fit));
        if (!fit) {
            errno = ENOMEM;
            return -1;
        }
        fit_clear(fit);
        observer->domains[d].fit = fit;
    }
    observer->looked_ns = observer->live->head.start_ns;
    if (observer->looked_ns == 0) {
        observer->looked_ns = clock_monotonic_ns();
    }
    bands_begin(&observer->bands, observer->looked_ns);
    observe_look(observer);
    atomic_store_explicit(&observer->active, true, memory_order_release);
    return 0;
}

int observe_add(struct observer *observer, struct observed *program)
{
    int result = observe_activate(observer);

    if (result == 0 &&
        (observer->program_count == OBSERVE_PROGRAMS_MAX || observer->room.threads == 0)) {
        observer->losses.programs++;
        errno = ENOSPC;
        result = -1;
    }
    if (result == 0) {
        pthread_mutex_lock(&observer->lock);
        if (observer->program_count == 0) {
            observe_look(observer); /* until now there was none */
        }
        program->next = observer->programs;
        observer->programs = program;
        observer->program_count++;
        pthread_mutex_unlock(&observer->lock);
    }
    return result;
}

void observe_remove(struct observer *observer, struct observed *program)
{
    struct observed **place = &observer->programs;

    pthread_mutex_lock(&observer->lock);
    if (observer->program_count == 1) {
        observe_look(observer); /* from now on there is none */
    } else {
        const struct observe_moment now = observe_now(observer);

        observer->room.news = PAGE_NODES;
        observe_look_at(observer, &now, program);
    }
    while (*place && *place != program) {
        place = &(*place)->next;
    }
    if (*place) {
        *place = (*place)->next;
    }
    observer->program_count--;
    observed_count(program, &observer->nodes, &observer->losses);
    if (!observer->ending) {
        observer->room.threads += program->threads;
        observer->room.nodes += program->known - 1;
    }
    pthread_mutex_unlock(&observer->lock);
    observed_destroy(program);
}

void observe_end(struct observer *observer)
{
    pthread_mutex_lock(&observer->lock);
    observer->ending = true;
    pthread_mutex_unlock(&observer->lock);
}

void observe_refuse(struct observer *observer)
{
    observer->losses.refused++;
}
