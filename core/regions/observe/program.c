/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/observe/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/duration.h"
#include "regions/message.h"

#define SLACK 1.1    /* of the time that can have passed */
#define SLACK_S 0.01 /* of a thread */

/* Up to where the file has memory from `offset` on: to read where there is none would take it from
 * the reader. The kernel looks at all that there is, up to the next hole. */
static size_t program_filled_to(int file, size_t offset)
{
    off_t hole = lseek(file, (off_t)offset, SEEK_HOLE);

    return hole > 0 ? (size_t)hole : 0;
}

/* A file that can become shorter, or whose memory may be missing, would end the reader. */
static int program_check_file(int file, struct apapi_error *err)
{
    struct statfs kind;
    struct stat status;

    if (!region_is_sealed(file)) {
        return apapi_fail(err, EPERM, "its page is not sealed");
    }
    if (fstatfs(file, &kind) || kind.f_type != TMPFS_MAGIC || fstat(file, &status)) {
        return apapi_fail(err, EPERM, "its page is in no usual memory");
    }
    if (status.st_size != (off_t)sizeof(struct page_program)) {
        return apapi_fail(err, EPROTO, "its page does not have the size of a page of regions");
    }
    return program_filled_to(file, 0) >= sizeof(struct page_head)
               ? 0
               : apapi_fail(err, EPROTO, "its page is no page of regions");
}

static void *program_map(int file, struct apapi_error *err)
{
    const size_t size = sizeof(struct page_program);
    void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    const char *problem;

    if (page == MAP_FAILED) {
        apapi_fail(err, errno, "its page cannot be mapped: %s", strerror(errno));
        return NULL;
    }
    madvise(page, size, MADV_DONTFORK);
    problem = page_problem(page, size);
    if (problem) {
        munmap(page, size);
        apapi_fail(err, EPROTO, "its page %s", problem);
        return NULL;
    }
    return page;
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
    void *page;

    if (!program) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    page = program_check_file(file, err) == 0 ? program_map(file, err) : NULL;
    if (!page) {
        free(program);
        return NULL;
    }
    observed_begin(program, page);
    program->map = page;
    program->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (program->file < 0) {
        apapi_fail(err, errno, "no descriptor: %s", strerror(errno));
        munmap(page, sizeof(struct page_program));
        free(program);
        return NULL;
    }
    return program;
}

void observed_destroy(struct observed *program)
{
    if (!program) {
        return;
    }
    if (program->map) {
        munmap(program->map, sizeof(*program->page));
        close(program->file);
    }
    if (program->results) {
        munmap(program->results, sizeof(*program->results));
    }
    free(program);
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

static void program_learn(struct observed *program, struct observed_room *room, struct nodes *nodes)
{
    const struct page_program *page = program->page;
    uint32_t count = page_node_count(page);
    size_t filled_to = 0;

    for (; program->known < count && !program->cut && room->nodes > 0 && room->news > 0 &&
           program_has(program, &page->nodes[program->known], sizeof *page->nodes, &filled_to);
         program->known++, room->nodes--, room->news--) {
        struct page_node_copy copy;
        bool valid = page_node(page, program->known, &copy);

        program->node[program->known] =
            valid ? (uint16_t)nodes_find(nodes, program->node[copy.parent], copy.name) : NODES_REST;
    }
    program->cut = program->cut || (program->known < count && room->nodes == 0);
}

static void program_admit(struct observed *program, struct observed_room *room)
{
    const struct page_program *page = program->page;
    uint32_t count = page_thread_count(page);
    size_t filled_to = 0;

    for (; program->threads < count && room->threads > 0 &&
           program_has(program, &page->slots[program->threads], sizeof *page->slots, &filled_to);
         program->threads++) {
        room->threads--;
    }
}

/* Own ticks of all threads. */
static void program_sum(const struct observed *program, uint64_t now, uint64_t sums[PAGE_NODES])
{
    uint32_t count = program->cut ? page_node_count(program->page) : program->known;
    struct page_slot_copy copy;

    memset(sums, 0, sizeof(*sums) * PAGE_NODES);
    for (uint32_t i = 0; i < program->threads; i++) {
        if (!page_slot(program->page, i, count, now, &copy)) {
            continue;
        }
        for (uint32_t node = 0; node < count; node++) {
            sums[node < program->known ? node : PAGE_REST] += copy.own[node];
        }
        sums[PAGE_REST] += copy.own[PAGE_REST];
    }
}

/* Times only grow. A thread that could not be read is in the next look. */
static uint64_t program_grow(uint64_t *seen, uint64_t sum)
{
    uint64_t more = sum > *seen ? sum - *seen : 0;

    *seen = sum > *seen ? sum : *seen;
    return more;
}

double observed_look(struct observed *program, const struct observe_moment *now,
                     struct observed_room *room, struct nodes *nodes, double times_s[NODES_MAX])
{
    bool by_cpu = program->clock == PAGE_CLOCK_CPU;
    double tick_s = (by_cpu ? now->tick_ns : 1) / NS_PER_S, sum_s = 0, most_s, part = 1;
    uint64_t sums[PAGE_NODES];
    double own_s[PAGE_NODES];

    program_learn(program, room, nodes);
    program_admit(program, room);
    program_sum(program, by_cpu ? now->ticks : now->ns, sums);
    for (uint32_t node = 0; node < PAGE_NODES; node++) {
        bool used = node < program->known || node == PAGE_REST;

        own_s[node] = used ? (double)program_grow(&program->seen[node], sums[node]) * tick_s : 0;
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
            times_s[program->node[node]] += own_s[node] * part;
        }
    }
    return sum_s * part;
}

static uint32_t program_more(uint32_t claimed, uint32_t seen)
{
    return claimed > seen ? claimed - seen : 0;
}

/* How often each node was entered, and by how many threads. */
struct entries {
    uint64_t count[PAGE_NODES];
    uint32_t threads[PAGE_NODES];
};

/* One thread after the other, as they lie in memory. */
static void program_entries(const struct observed *program, struct entries *entries)
{
    memset(entries, 0, sizeof *entries);
    for (uint32_t i = 0; i < program->threads; i++) {
        for (uint32_t node = 1; node < PAGE_NODES; node++) {
            bool used = node < program->known || node == PAGE_REST;
            uint64_t times = used ? page_slot_count(program->page, i, node) : 0;

            entries->count[node] += times;
            entries->threads[node] += times > 0;
        }
    }
}

void observed_count(const struct observed *program, struct nodes *nodes,
                    struct apapi_region_losses *losses)
{
    const struct page_head *head = &program->page->head;
    struct entries entries;

    program_entries(program, &entries);
    for (uint32_t node = 1; node < PAGE_NODES; node++) {
        struct nodes_one *one = &nodes->list[program->node[node]];

        one->count += entries.count[node];
        one->threads += entries.threads[node];
        one->programs += entries.threads[node] > 0;
    }
    nodes->list[NODES_UNMARKED].programs++;
    nodes->list[NODES_UNMARKED].threads += program->threads;
    losses->names += __atomic_load_n(&head->names_lost, __ATOMIC_RELAXED);
    losses->names += program_more(page_node_count(program->page), program->known);
    losses->threads += __atomic_load_n(&head->threads_lost, __ATOMIC_RELAXED);
    losses->threads += program_more(page_thread_count(program->page), program->threads);
    losses->misuses += __atomic_load_n(&head->misuses, __ATOMIC_RELAXED);
}
