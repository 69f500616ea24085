/* SPDX-License-Identifier: BSD-3-Clause */
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

/* From the end: the innermost names are there in any case. */
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

void bands_begin(struct bands *bands, uint64_t origin_ns)
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

void bands_span(struct bands *bands, uint64_t from_ns, uint64_t to_ns)
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

void bands_add(struct bands *bands, size_t column, double time_s)
{
    for (size_t bin = bands->first; bin < bands->end; bin++) {
        bands->time_s[bin][column] += (float)time_s * bands->part[bin];
    }
}

void bands_move(struct bands *bands, size_t from, size_t to)
{
    for (size_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        bands->time_s[bin][to] += bands->time_s[bin][from];
        bands->time_s[bin][from] = 0;
    }
}

void bands_sum(const struct bands *bands, const double power_w[FIT_COLUMNS],
               double sum_j[APAPI_REGION_BINS])
{
    for (size_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        sum_j[bin] = 0;
        for (size_t column = 0; column < FIT_COLUMNS; column++) {
            sum_j[bin] += power_w[column] * (double)bands->time_s[bin][column];
        }
    }
}

void bands_share(const struct bands *bands, size_t column, double power_w,
                 const double sum_j[APAPI_REGION_BINS], struct apapi_region_result *region)
{
    region->bins = 0;
    region->bin_ns = bands->bin_ns;
    for (uint32_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        double own_j = power_w * (double)bands->time_s[bin][column];
        double pct = sum_j[bin] > 0 ? fmin(round(100 * own_j / sum_j[bin]), 100) : 0;

        region->share_pct[bin] = (uint8_t)pct;
        region->bins = pct > 0 ? bin + 1 : region->bins;
    }
}

/* --- programs ------------------------------------------------------------------------------- */

#define SLACK 1.1    /* of the time that can have passed */
#define SLACK_S 0.01 /* of a thread */
#define PASS_S 1e-9  /* no pass is shorter */

/*
 * Up to where the file has memory from `offset` on: to read where there is none would take it from
 * the reader. The kernel looks at all that there is, up to the next hole.
 */
static size_t program_filled_to(int file, size_t offset)
{
    off_t hole = lseek(file, (off_t)offset, SEEK_HOLE);

    return hole > 0 ? (size_t)hole : 0;
}

/* @return its page, mapped; NULL with errno and `err` */
static void *program_map(int file, struct apapi_error *err)
{
    const size_t size = sizeof(struct page_program);
    void *page = NULL;
    const char *problem;
    struct statfs kind;
    struct stat status;
    int error = EPROTO;

    /* a file that can become shorter, or whose memory may be missing, would end the reader */
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
    program->known = 1; /* unmarked */
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

/* @param filled_to  what is known from the parts before this one, without a gap */
static bool program_has(const struct observed *program, const void *from, size_t size,
                        size_t *filled_to)
{
    size_t offset = (size_t)((const char *)from - (const char *)program->page);

    if (program->map && *filled_to < offset + size) {
        *filled_to = program_filled_to(program->file, offset);
    }
    return !program->map || *filled_to >= offset + size;
}

/* Nodes and threads that have come, as far as there is room for them. */
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
}

/* Own ticks and passes of all threads. */
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

        /* times only grow; a thread that could not be read is in the next look */
        own_s[node] = used && sums[node] > *seen ? (double)(sums[node] - *seen) * tick_s : 0;
        *seen = used && sums[node] > *seen ? sums[node] : *seen;
        sum_s += own_s[node];
    }
    program->owed_s = program->looked ? program->owed_s + now->elapsed_s : now->passed_s;
    most_s = program->threads * (program->owed_s * SLACK + SLACK_S);
    program->looked = true;
    if (program->cut || program->known == page_node_count(program->page)) {
        program->owed_s = 0; /* what has been there so far is counted */
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

    for (uint32_t i = 0; i < program->threads; i++) { /* as they lie in memory */
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
    losses->names += __atomic_load_n(&head->names_lost, __ATOMIC_RELAXED);
    losses->names += program_more(page_node_count(program->page), program->known);
    losses->threads += __atomic_load_n(&head->threads_lost, __ATOMIC_RELAXED);
    losses->threads += program_more(page_thread_count(program->page), program->threads);
    losses->misuses += __atomic_load_n(&head->misuses, __ATOMIC_RELAXED);
}
