/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/observe/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "regions/message.h"
#include "regions/observe/observer.h"

/* --- nodes ---------------------------------------------------------------------------------- */

size_t nodes_find(struct nodes *nodes, size_t parent, const char *name)
{
    size_t i = NODES_FIRST;

    if (parent == NODES_REST) {
        return NODES_REST;
    }
    while (i < nodes->count &&
           (nodes->list[i].parent != parent || strcmp(nodes->list[i].name, name) != 0)) {
        i++;
    }
    if (i == NODES_MAX) {
        nodes->lost++;
        return NODES_REST;
    }
    if (i == nodes->count) {
        nodes->list[i].parent = (uint32_t)parent;
        snprintf(nodes->list[i].name, sizeof nodes->list[i].name, "%s", name);
        nodes->count++;
    }
    return i;
}

/* The path is written from its end, so that the innermost names are always in it. */
void nodes_path(const struct nodes *nodes, size_t node, char path[APAPI_REGION_PATH_SIZE])
{
    static const char cut[] = "...";
    size_t at = APAPI_REGION_PATH_SIZE - 1;

    path[at] = '\0';
    for (; node >= NODES_FIRST; node = nodes->list[node].parent) {
        const char *name = nodes->list[node].name;
        size_t size = strlen(name), slash = path[at] != '\0';

        if (size + slash + sizeof(cut) > at) {
            at -= sizeof(cut) - 1 + slash;
            memcpy(path + at, ".../", sizeof(cut) - 1 + slash);
            break;
        }
        at -= size + slash;
        memcpy(path + at, name, size);
        if (slash) {
            path[at + size] = '/';
        }
    }
    memmove(path, path + at, APAPI_REGION_PATH_SIZE - at);
}

/* --- bands ---------------------------------------------------------------------------------- */

#define BANDS_FIRST_NS UINT64_C(50000000) /* width of a bin at the start */

static void bands_begin(struct bands *bands, uint64_t origin_ns)
{
    memset(bands, 0, sizeof(*bands));
    bands->origin_ns = origin_ns;
    bands->bin_ns = BANDS_FIRST_NS;
}

static void bands_join(struct bands *bands)
{
    const size_t half = APAPI_REGION_BINS / 2;

    for (size_t bin = 0; bin < half; bin++) {
        for (size_t column = 0; column < FIT_COLUMNS; column++) {
            bands->time_s[bin][column] =
                bands->time_s[2 * bin][column] + bands->time_s[2 * bin + 1][column];
        }
    }
    memset(bands->time_s[half], 0, half * sizeof(bands->time_s[0]));
    bands->bin_ns *= 2;
}

/* Set the span of the times that are added from now on. No earlier span ends after `to_ns`. */
static void bands_span(struct bands *bands, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t from = from_ns > bands->origin_ns ? from_ns - bands->origin_ns : 0;
    uint64_t to = to_ns > bands->origin_ns ? to_ns - bands->origin_ns : 0;

    bands->first = bands->end = 0;
    if (to <= from || bands->bin_ns == 0) {
        return;
    }
    while ((to - 1) / bands->bin_ns >= APAPI_REGION_BINS) {
        bands_join(bands);
    }
    bands->first = bands->end = from / bands->bin_ns;
    for (uint64_t at = from; at < to; bands->end++) {
        uint64_t end = (bands->end + 1) * bands->bin_ns;

        end = end < to ? end : to;
        bands->part[bands->end] = (float)(end - at) / (float)(to - from);
        at = end;
    }
}

static void bands_add(struct bands *bands, size_t column, double time_s)
{
    for (size_t bin = bands->first; bin < bands->end; bin++) {
        bands->time_s[bin][column] += (float)time_s * bands->part[bin];
    }
}

/* Add a column to another one, for all time so far. */
static void bands_move(struct bands *bands, size_t from, size_t to)
{
    for (size_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        bands->time_s[bin][to] += bands->time_s[bin][from];
        bands->time_s[bin][from] = 0;
    }
}

/* --- programs ------------------------------------------------------------------------------- */

#define SLACK 1.1    /* factor on the time that can have passed */
#define SLACK_S 0.01 /* added to this time for each thread */
#define PASS_S 1e-9  /* no pass is shorter */

/*
 * @return the end of the file's memory at `offset`. Reading where the file has no memory would
 * charge new memory to the reader. The kernel walks all memory up to the next hole.
 */
static size_t program_filled_to(int file, size_t offset)
{
    off_t hole = lseek(file, (off_t)offset, SEEK_HOLE);

    return hole > 0 ? (size_t)hole : 0;
}

/* @return the program's page, mapped; NULL with errno and `err` */
static void *program_map(int file, struct apapi_error *err)
{
    const size_t size = sizeof(struct page_program);
    void *page = NULL;
    const char *problem;
    struct statfs kind;
    struct stat status;
    int error = EPROTO;

    /* reading a file that was made shorter, or lacks memory, would end the reader (SIGBUS) */
    if (!region_is_sealed(file)) {
        error = EPERM;
        problem = "is not sealed";
    } else if (fstatfs(file, &kind) || kind.f_type != TMPFS_MAGIC || fstat(file, &status)) {
        error = EPERM;
        problem = "is in no usual memory";
    } else if (status.st_size != (off_t)size) {
        problem = "does not have the size of a page of regions";
    } else if (program_filled_to(file, 0) < sizeof(struct page_head)) {
        problem = "is no page of regions";
    } else {
        page = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
        if (page == MAP_FAILED) {
            apapi_fail(err, errno, "its page cannot be mapped: %s", strerror(errno));
            return NULL;
        }
        madvise(page, size, MADV_DONTFORK);
        problem = page_problem(page);
    }
    if (!problem) {
        return page;
    }
    if (page) {
        munmap(page, size);
    }
    apapi_fail(err, error, "its page %s", problem);
    return NULL;
}

void observed_begin(struct observed *program, const struct page_program *page)
{
    memset(program, 0, sizeof(*program));
    program->page = page;
    program->clock = page->head.clock == PAGE_CLOCK_CPU ? PAGE_CLOCK_CPU : PAGE_CLOCK_MONOTONIC;
    program->known = 1; /* node 0, the unmarked code */
    program->node[PAGE_REST] = NODES_REST;
}

struct observed *observed_create(int file, struct apapi_error *err)
{
    struct observed *program = calloc(1, sizeof(*program));
    void *page = program ? program_map(file, err) : NULL;

    if (!page) {
        if (!program) {
            apapi_fail(err, ENOMEM, "no memory");
        }
        free(program);
        return NULL;
    }
    observed_begin(program, page);
    program->map = page;
    program->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (program->file < 0) {
        apapi_fail(err, errno, "no descriptor: %s", strerror(errno));
        observed_destroy(program);
        return NULL;
    }
    return program;
}

void observed_destroy(struct observed *program)
{
    int saved = errno;

    if (program->map) {
        munmap(program->map, sizeof(*program->page));
        close(program->file);
    }
    if (program->results) {
        munmap(program->results, sizeof(*program->results));
    }
    free(program);
    errno = saved;
}

/* @return whether a part has memory. @param filled_to  end of the memory that is known so far */
static bool program_has(const struct observed *program, const void *from, size_t size,
                        size_t *filled_to)
{
    size_t offset = (size_t)((const char *)from - (const char *)program->page);

    if (program->map && *filled_to < offset + size) {
        *filled_to = program_filled_to(program->file, offset);
    }
    return !program->map || *filled_to >= offset + size;
}

/* Take a program's new nodes and threads, as far as there is room for them. */
static void program_grow(struct observer *observer, struct observed *program)
{
    const struct page_program *page = program->page;
    struct observed_room *room = &observer->room;
    uint32_t count = page_node_count(page), threads = page_thread_count(page);
    size_t filled_to = 0;

    for (; program->known < count && !program->cut && room->nodes > 0 && room->news > 0 &&
           program_has(program, &page->nodes[program->known], sizeof *page->nodes, &filled_to);
         program->known++, room->nodes--, room->news--) {
        uint16_t *node = &program->node[program->known];
        struct page_node_copy copy;

        *node = NODES_REST;
        if (page_node(page, program->known, &copy)) {
            *node = (uint16_t)nodes_find(&observer->nodes, program->node[copy.parent], copy.name);
        }
    }
    program->cut = program->cut || (program->known < count && room->nodes == 0);
    filled_to = 0;
    for (; program->threads < threads && room->threads > 0 &&
           program_has(program, &page->slots[program->threads], sizeof *page->slots, &filled_to);
         program->threads++) {
        room->threads--;
    }
    if (program->lacked < threads - program->threads) {
        program->lacked = threads - program->threads;
    }
}

/* Add up own ticks and passes of all threads, by node. */
static void program_sum(const struct observed *program, uint64_t now, uint64_t sums[PAGE_NODES],
                        uint64_t passes[PAGE_NODES])
{
    uint32_t count = program->cut ? page_node_count(program->page) : program->known;
    struct page_slot_copy copy;

    memset(sums, 0, sizeof(*sums) * PAGE_NODES);
    memset(passes, 0, sizeof(*passes) * PAGE_NODES);
    for (uint32_t i = 0; i < program->threads; i++) {
        if (!page_slot(program->page, i, count, now, &copy)) {
            continue;
        }
        for (uint32_t node = 0; node < count; node++) {
            sums[node < program->known ? node : PAGE_REST] += copy.own[node];
            passes[node < program->known ? node : PAGE_REST] +=
                page_slot_count(program->page, i, node);
        }
        sums[PAGE_REST] += copy.own[PAGE_REST];
    }
}

void observed_look(struct observer *observer, struct observed *program,
                   const struct observe_moment *now)
{
    bool by_cpu = program->clock == PAGE_CLOCK_CPU;
    double tick_s = (by_cpu ? now->tick_ns : 1) / NS_PER_S, sum_s = 0, most_s, part = 1;
    uint64_t sums[PAGE_NODES], passes[PAGE_NODES];
    double own_s[PAGE_NODES];

    program_grow(observer, program);
    program_sum(program, by_cpu ? now->ticks : now->ns, sums, passes);
    for (uint32_t node = 0; node < PAGE_NODES; node++) {
        uint64_t *seen = &program->seen[node];
        bool used = node < program->known || node == PAGE_REST;

        /* times only grow; a thread that could not be read is counted in the next look */
        own_s[node] = used && sums[node] > *seen ? (double)(sums[node] - *seen) * tick_s : 0;
        *seen = used && sums[node] > *seen ? sums[node] : *seen;
        sum_s += own_s[node];
    }
    program->owed_s = program->looked ? program->owed_s + now->elapsed_s : now->passed_s;
    most_s = program->threads * (program->owed_s * SLACK + SLACK_S);
    program->looked = true;
    if (program->cut || program->known == page_node_count(program->page)) {
        program->owed_s = 0; /* all times so far are counted */
    }
    part = sum_s > most_s ? most_s / sum_s : 1;
    for (uint32_t node = 0; node < PAGE_NODES; node++) {
        if (own_s[node] > 0) {
            observer->news_s[program->node[node]] += own_s[node] * part;
        }
        if (passes[node] > program->passes[node]) {
            observer->news_passes[program->node[node]] +=
                fmin((double)(passes[node] - program->passes[node]), most_s / PASS_S);
            program->passes[node] = passes[node];
        }
    }
    observer->threads_s += sum_s * part;
}

uint64_t foms_add_program(struct fom_sums *foms, const struct observed *program)
{
    const struct page_program *page = program->page;
    size_t count = page_fom_count(page), filled_to = 0;
    uint64_t lost = 0;

    for (size_t i = 0;
         i < count && program_has(program, &page->foms[i], sizeof *page->foms, &filled_to); i++) {
        struct apapi_fom fom;

        lost += page_fom(page, i, &fom) && !foms_add(foms, &fom);
    }
    return lost;
}

static uint32_t program_more(uint32_t claimed, uint32_t seen)
{
    return claimed > seen ? claimed - seen : 0;
}

void observed_count(struct observer *observer, const struct observed *program)
{
    const struct page_head *head = &program->page->head;
    struct apapi_region_losses *losses = &observer->losses;
    struct nodes_one *list = observer->nodes.list;
    uint64_t counts[PAGE_NODES] = {0};
    uint32_t threads[PAGE_NODES] = {0};

    for (uint32_t i = 0; i < program->threads; i++) { /* in the order of memory */
        for (uint32_t node = 1; node < PAGE_NODES; node++) {
            bool used = node < program->known || node == PAGE_REST;
            uint64_t times = used ? page_slot_count(program->page, i, node) : 0;

            counts[node] += times;
            threads[node] += times > 0;
        }
    }
    for (uint32_t node = 1; node < PAGE_NODES; node++) {
        struct nodes_one *one = &list[program->node[node]];

        one->count += counts[node];
        one->threads += threads[node];
        one->programs += threads[node] > 0;
    }
    list[NODES_UNMARKED].programs++;
    list[NODES_UNMARKED].threads += program->threads;
    losses->names += foms_add_program(&observer->foms, program);
    losses->names += __atomic_load_n(&head->names_lost, __ATOMIC_RELAXED);
    losses->names += program_more(page_node_count(program->page), program->known);
    losses->threads += __atomic_load_n(&head->threads_lost, __ATOMIC_RELAXED);
    losses->threads += program->lacked;
    losses->misuses += __atomic_load_n(&head->misuses, __ATOMIC_RELAXED);
}

/* --- the observer --------------------------------------------------------------------------- */

#define PAUSE_NS UINT64_C(10000) /* for each program: about ten times the time of a look at it */

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

#define TIMES_MORE 2 /* least factor between two regions' times: columns change rarely */

static void observe_add_time(struct observer *observer, size_t column, double time_s)
{
    observer->times_s[column] += time_s;
    bands_add(&observer->bands, column, time_s);
}

/* A new region gets a column of its own, as long as there are free columns. */
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
 * Give a region of the common column a column of its own, in place of a region with much less time,
 * which joins the common column with its past. Nothing is allocated.
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

/* @param ns  a moment shortly before now; 0: now. The last look is the earliest that is taken. */
static struct observe_moment observe_at(const struct observer *observer, uint64_t ns)
{
    const struct ticks_moment now = {ticks_now(PAGE_CLOCK_CPU), clock_monotonic_ns()};
    const double tick_ns = ticks_length_ns(PAGE_CLOCK_CPU, observer->first, now);
    const uint64_t start_ns = observer->live->head.start_ns, looked_ns = observer->looked_ns;

    ns = ns == 0 || ns > now.ns ? now.ns : ns > looked_ns ? ns : looked_ns;
    return (struct observe_moment){
        .ns = ns,
        .passed_s = ns > start_ns ? (double)(ns - start_ns) / NS_PER_S : 0,
        .ticks = now.ticks - (uint64_t)((double)(now.ns - ns) / tick_ns),
        .tick_ns = tick_ns,
        .elapsed_s = ns > looked_ns ? (double)(ns - looked_ns) / NS_PER_S : 0};
}

/* Add the time since the last look to all sums. Reads all pages. @param ns  as observe_at() */
static void observe_look(struct observer *observer, uint64_t ns)
{
    const struct observe_moment now = observe_at(observer, ns);
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

/* Call observe_look(), unless the last look is too recent for this number of programs. */
static void observe_look_sometimes(struct observer *observer)
{
    if (clock_monotonic_ns() - observer->looked_ns >= observer->program_count * PAUSE_NS) {
        observe_look(observer, 0);
    }
}

/* @return time of the latest new reading that has an energy, of all domains [ns]; 0: none. */
static uint64_t observe_read_ns(const struct observer *observer)
{
    uint64_t latest_ns = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_live_slot *slot = &observer->live->domains[d];

        if (observer->domains[d].fit && !isnan(slot->total) &&
            slot->time_ns != observer->domains[d].time_ns && slot->time_ns > latest_ns) {
            latest_ns = slot->time_ns;
        }
    }
    return latest_ns;
}

/* The calling thread is the live page's writer. It may have been delayed since the reading. */
void observe_reading(const struct apapi_live_page *live, void *context)
{
    struct observer *observer = context;

    if (!atomic_load_explicit(&observer->active, memory_order_acquire)) {
        return;
    }
    pthread_mutex_lock(&observer->lock);
    observe_look(observer, observe_read_ns(observer));
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
 * Start the sums. The time before the first program came is a row without any program.
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
    observe_look(observer, 0);
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
        observe_look(observer, 0); /* until now there was no program */
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
        observe_look(observer, 0); /* from now on there is no program */
    } else {
        const struct observe_moment now = observe_at(observer, 0);

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

static void shell_totals(const struct observer *observer, struct observe_energy totals[])
{
    uint64_t now_ns = clock_monotonic_ns();

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot slot;

        totals[d] = (struct observe_energy){.energy_j = NAN};
        if (apapi_domain_adds_up(d) && apapi_live_read(&observer->live->domains[d], &slot) &&
            slot.flags & APAPI_LIVE_MEASURED) {
            totals[d].energy_j = apapi_live_energy_at_j(&slot, now_ns);
            totals[d].since_s = fmax(0, (double)now_ns - (double)slot.time_ns) / 1e9;
            totals[d].within_j = slot.uncertainty_j > 0 ? slot.uncertainty_j : NAN;
        }
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
    page_show_name(clean, name);
    pthread_mutex_lock(&observer->lock);
    observe_look_sometimes(observer);
    shell->node = nodes_find(&observer->nodes, outer, clean);
    one = &observer->nodes.list[shell->node];
    one->count++;
    one->programs = one->threads = 1;
    observer->depth++;
    pthread_mutex_unlock(&observer->lock);
    shell->begin_ns = clock_monotonic_ns();
    shell_totals(observer, shell->begin);
    return 0;
}

/* @return 1 + index of the innermost region of this name; 0: there is none. */
static size_t shell_find(const struct observer *observer, const char *name)
{
    char clean[PAGE_NAME_SIZE];
    size_t depth = observer->depth;

    page_show_name(clean, name);
    while (depth > 0 &&
           strcmp(observer->nodes.list[observer->shell[depth - 1].node].name, clean) != 0) {
        depth--;
    }
    return depth;
}

/* Between the latest reading and each end of a region, power may be 0 to several times the mean. */
int observe_shell_read(struct observer *observer, const char *name, struct observe_energy *energy)
{
    size_t depth = shell_find(observer, name);
    struct observe_shell *shell = &observer->shell[depth > 0 ? depth - 1 : 0];
    struct observe_energy now[APAPI_DOMAINS];
    double begin_ns = (double)shell->begin_ns, now_ns = (double)clock_monotonic_ns();
    double start_ns = fmin((double)observer->live->head.start_ns, begin_ns);

    if (depth == 0) {
        observer->losses.misuses++;
        errno = ENOENT;
        return -1;
    }
    *energy = (struct observe_energy){NAN, 0, 0};
    shell_totals(observer, now);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct observe_energy *begin = &shell->begin[d];

        if (isnan(begin->energy_j)) { /* no figure was known: computed with the mean power */
            begin->energy_j = now[d].energy_j * (begin_ns - start_ns) / (now_ns - start_ns);
            begin->since_s = (begin_ns - start_ns) / 1e9;
        }
        if (!isnan(now[d].energy_j)) {
            double more_j = now[d].energy_j - begin->energy_j;
            double unsure = (begin->since_s + now[d].since_s) * 1e9 / (now_ns - begin_ns);

            energy->energy_j = (isnan(energy->energy_j) ? 0 : energy->energy_j) + more_j;
            energy->within_j += now[d].within_j + 2 * more_j * unsure;
        }
    }
    return 0;
}

/* Regions that began within this one end with it. */
int observe_shell_end(struct observer *observer, const char *name, struct observe_energy *energy)
{
    if (observe_shell_read(observer, name, energy)) {
        return -1;
    }
    pthread_mutex_lock(&observer->lock);
    observe_look_sometimes(observer);
    observer->depth = shell_find(observer, name) - 1;
    pthread_mutex_unlock(&observer->lock);
    return 0;
}

int observe_fom(struct observer *observer, const char *name, double value, const char *unit)
{
    struct fom_sums *foms = &observer->shell_foms;
    struct apapi_fom fom = {.value = value, .programs = 1};
    size_t i = 0;

    text_clean(fom.name, sizeof fom.name, name);
    text_clean(fom.unit, sizeof fom.unit, unit);
    if (!isfinite(value) || *fom.name == '\0') {
        errno = EINVAL;
        return -1;
    }
    while (i < foms->count && strcmp(foms->list[i].name, fom.name) != 0) {
        i++;
    }
    if (i == APAPI_FOMS_MAX) {
        errno = ENOSPC;
        return -1;
    }
    foms->list[i] = fom;
    foms->count += i == foms->count;
    return 0;
}
