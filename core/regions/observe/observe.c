/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/observe/observe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "regions/observe/observer.h"

#define PAUSE_NS UINT64_C(10000) /* for each program: some ten times of what a look at it takes */

struct observer *observe_create(const struct apapi_live_page *live)
{
    struct observer *observer = calloc(1, sizeof(*observer));

    if (observer) {
        pthread_mutex_init(&observer->lock, NULL);
        observer->live = live;
        observer->first = ticks_moment_now(PAGE_CLOCK_CPU);
        observer->room = (struct observed_room){OBSERVED_THREADS_MAX, OBSERVED_NODES_MAX, 0};
        observer->nodes.count = NODES_FIRST;
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

/* --- columns: in which of a fit's a region's time is ------------------------------------------ */

#define TIMES_MORE 2 /* so much more than one that has a column: none is changed often */

static void observe_add_time(struct observer *observer, size_t column, double time_s)
{
    observer->times_s[column] += time_s;
    bands_add(&observer->bands, column, time_s);
}

/* Regions get columns of their own as they come, as long as there are any. */
static void observe_add_node_time(struct observer *observer, size_t node, double time_s)
{
    size_t column = observer->columns[node];

    if (column == COLUMN_NONE) {
        column = observer->column_count < FIT_COLUMNS ? observer->column_count++ : COLUMN_COMMON;
        observer->columns[node] = (uint16_t)column;
    }
    observer->nodes.list[node].time_s += time_s;
    observe_add_time(observer, column, time_s);
    if (column == COLUMN_COMMON) {
        observer->common_s[node] += time_s;
    } else {
        observer->passes[column] += observer->news_passes[node];
    }
}

/* Move the past of a column into the common one. */
static void columns_empty(struct observer *observer, size_t column)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct observe_domain *domain = &observer->domains[d];

        if (domain->fit) {
            fit_join(domain->fit, column, COLUMN_COMMON);
        }
        domain->times_s[COLUMN_COMMON] += domain->times_s[column];
        domain->times_s[column] = domain->passes[column] = 0;
    }
    observer->times_s[COLUMN_COMMON] += observer->times_s[column];
    observer->times_s[column] = observer->passes[column] = 0;
    bands_move(&observer->bands, column, COLUMN_COMMON);
}

/*
 * Let a region of the common column have one of its own, in place of one with much less time, which
 * joins the common one with its past. Memory stays as it is.
 */
static void observe_change_columns(struct observer *observer)
{
    const struct nodes_one *list = observer->nodes.list;
    size_t least = 0, most = 0;

    if (observer->column_count < FIT_COLUMNS || observer->held > 0) {
        return;
    }
    for (size_t i = NODES_FIRST; i < observer->nodes.count; i++) {
        size_t *best = observer->columns[i] == COLUMN_COMMON ? &most : &least;
        bool more = *best == 0 || list[i].time_s > list[*best].time_s;

        if (observer->columns[i] != COLUMN_NONE && (*best == 0 || more == (best == &most))) {
            *best = i;
        }
    }
    if (most > 0 && least > 0 && list[most].time_s > TIMES_MORE * list[least].time_s) {
        uint16_t column = observer->columns[least];

        observer->common_s[least] += observer->times_s[column];
        columns_empty(observer, column);
        observer->columns[least] = COLUMN_COMMON;
        observer->columns[most] = column;
    }
}

/* --- looks ---------------------------------------------------------------------------------- */

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

/* Add the time since the last look to all sums. Reads all pages. */
static void observe_look(struct observer *observer)
{
    const struct observe_moment now = observe_now(observer);
    double threads_s;

    observer->room.news = OBSERVED_NEWS_MAX;
    for (struct observed *program = observer->programs; program; program = program->next) {
        observed_look(observer, program, &now);
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
            observer->news_s[i] = observer->news_passes[i] = 0;
        }
    }
    observe_add_time(observer, threads_s > 0 ? FIT_INSIDE : FIT_OUTSIDE, now.elapsed_s);
    observer->looked_ns = now.ns;
}

/* The same, if that is not more often than the number of programs allows. */
static void observe_look_sometimes(struct observer *observer)
{
    if (clock_monotonic_ns() - observer->looked_ns >= observer->program_count * PAUSE_NS) {
        observe_look(observer);
    }
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
        struct observe_domain *domain = &observer->domains[d];
        double x[FIT_COLUMNS] = {0}, passes[FIT_COLUMNS] = {0};

        if (!domain->fit || slot->time_ns == domain->time_ns || isnan(slot->total)) {
            continue;
        }
        for (size_t i = 0; i < observer->column_count; i++) {
            x[i] = observer->times_s[i] - domain->times_s[i];
            passes[i] = observer->passes[i] - domain->passes[i];
        }
        if (slot->total >= domain->total_j && x[FIT_OUTSIDE] + x[FIT_INSIDE] > 0) {
            fit_add(domain->fit, x, passes, observer->column_count, slot->total - domain->total_j);
        }
        memcpy(domain->times_s, observer->times_s, sizeof(domain->times_s));
        memcpy(domain->passes, observer->passes, sizeof(domain->passes));
        domain->time_ns = slot->time_ns;
        domain->total_j = slot->total;
    }
    observe_change_columns(observer);
    pthread_mutex_unlock(&observer->lock);
}

/*
 * Go from nothing to sums. What was measured before the first program came is a row without any.
 * @return 0; -1 with ENOMEM
 */
static int observe_activate(struct observer *observer)
{
    if (atomic_load_explicit(&observer->active, memory_order_relaxed)) {
        return 0;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        uint64_t flags = __atomic_load_n(&observer->live->domains[d].flags, __ATOMIC_RELAXED);
        struct fit *fit = observer->domains[d].fit;

        if ((flags & APAPI_LIVE_MEASURED) && !fit) {
            fit = malloc(sizeof(*fit));
            if (!fit) {
                errno = ENOMEM;
                return -1;
            }
            fit_clear(fit);
            observer->domains[d].fit = fit;
        }
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
    if (observe_activate(observer)) {
        return -1;
    }
    if (observer->program_count == OBSERVE_PROGRAMS_MAX || observer->room.threads == 0) {
        observer->losses.programs++;
        errno = ENOSPC;
        return -1;
    }
    pthread_mutex_lock(&observer->lock);
    if (observer->program_count == 0) {
        observe_look(observer); /* until now there was none */
    }
    program->next = observer->programs;
    observer->programs = program;
    observer->program_count++;
    pthread_mutex_unlock(&observer->lock);
    return 0;
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
        observed_look(observer, program, &now);
    }
    while (*place != program) {
        place = &(*place)->next;
    }
    *place = program->next;
    observer->program_count--;
    observed_count(observer, program);
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

/* --- what the shell of the step and its programs say in messages ------------------------------ */

static void shell_energies(const struct observer *observer, double energies_j[APAPI_DOMAINS])
{
    uint64_t now_ns = clock_monotonic_ns();

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot slot;
        bool known = apapi_domain_adds_up(d) &&
                     apapi_live_read(&observer->live->domains[d], &slot) &&
                     slot.flags & APAPI_LIVE_MEASURED;

        energies_j[d] = known ? apapi_live_energy_at_j(&slot, now_ns) : NAN;
    }
}

int observe_shell_begin(struct observer *observer, const char *name)
{
    struct observe_shell *shell = &observer->shell[observer->depth];
    size_t outer = observer->depth > 0 ? shell[-1].node : NODES_UNMARKED;
    struct nodes_one *one;
    char clean[PAGE_NAME_SIZE];

    if (observer->depth == OBSERVE_DEPTH) {
        errno = E2BIG;
        return -1;
    }
    if (observe_activate(observer)) {
        return -1;
    }
    page_clean_name(clean, name);
    pthread_mutex_lock(&observer->lock);
    observe_look_sometimes(observer);
    shell->node = nodes_find(&observer->nodes, outer, clean);
    one = &observer->nodes.list[shell->node];
    one->count++;
    one->programs = one->threads = 1;
    observer->depth++;
    pthread_mutex_unlock(&observer->lock);
    shell->begin_ns = clock_monotonic_ns();
    shell_energies(observer, shell->begin_j);
    return 0;
}

/* The step's energy when the region began: by the mean power, if no figure was known then. */
static double shell_begin_j(const struct observer *observer, struct observe_shell *shell,
                            int domain, double now_j)
{
    double *begin_j = &shell->begin_j[domain];

    if (isnan(*begin_j)) {
        uint64_t start_ns = observer->live->head.start_ns;
        double part = ((double)shell->begin_ns - (double)start_ns) /
                      (double)(clock_monotonic_ns() - start_ns);

        *begin_j = now_j * fmin(1, fmax(0, part));
    }
    return *begin_j;
}

/* @return 1 + index of the innermost region of this name; 0: there is none. */
static size_t shell_find(const struct observer *observer, const char *name)
{
    char clean[PAGE_NAME_SIZE];
    size_t depth = observer->depth;

    page_clean_name(clean, name);
    while (depth > 0 &&
           strcmp(observer->nodes.list[observer->shell[depth - 1].node].name, clean) != 0) {
        depth--;
    }
    return depth;
}

int observe_shell_read(struct observer *observer, const char *name, double *energy_j)
{
    size_t depth = shell_find(observer, name);
    double now_j[APAPI_DOMAINS];

    if (depth == 0) {
        observer->losses.misuses++;
        errno = ENOENT;
        return -1;
    }
    shell_energies(observer, now_j);
    *energy_j = NAN;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double more_j =
            now_j[d] - shell_begin_j(observer, &observer->shell[depth - 1], d, now_j[d]);

        if (!isnan(more_j)) {
            *energy_j = (isnan(*energy_j) ? 0 : *energy_j) + more_j;
        }
    }
    return 0;
}

/* Regions that began within it end with it. */
int observe_shell_end(struct observer *observer, const char *name, double *energy_j)
{
    if (observe_shell_read(observer, name, energy_j)) {
        return -1;
    }
    pthread_mutex_lock(&observer->lock);
    observe_look_sometimes(observer);
    observer->depth = shell_find(observer, name) - 1;
    pthread_mutex_unlock(&observer->lock);
    return 0;
}

int observe_fom(struct observer *observer, struct observe_foms *given, const char *name,
                double value, const char *unit)
{
    struct apapi_fom fom = {.value = 0};
    size_t i = 0;

    text_clean(fom.name, sizeof fom.name, name);
    text_clean(fom.unit, sizeof fom.unit, unit);
    if (!isfinite(value) || *fom.name == '\0') {
        errno = EINVAL;
        return -1;
    }
    while (i < observer->fom_count && strcmp(observer->foms[i].name, fom.name) != 0) {
        i++;
    }
    if (i == APAPI_FOMS_MAX) {
        errno = ENOSPC;
        return -1;
    }
    if (i == observer->fom_count) {
        observer->foms[observer->fom_count++] = fom;
    }
    observer->foms[i].value += value - (given->given[i] ? given->values[i] : 0);
    observer->foms[i].programs += !given->given[i];
    given->given[i] = true;
    given->values[i] = value;
    return 0;
}
