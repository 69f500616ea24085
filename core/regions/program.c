/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/program.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "regions/intern.h"
#include "regions/link.h"
#include "regions/rank.h"
#include "regions/tree.h"

struct program program;
static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;
static bool program_wanted; /* without a live page, too */

/* A file above the limit would be a signal to the program. */
static bool program_may_have_file(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= sizeof(struct page_program);
}

/* @return a memfd of the page's size; -1: none. */
static int program_file(void)
{
    int file = program_may_have_file()
                   ? memfd_create("apapi-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                   : -1;

    if (file >= 0 && ftruncate(file, sizeof(struct page_program))) {
        close(file);
        return -1;
    }
    return file;
}

static void program_fill(struct page_head *head)
{
    memcpy(head->magic, PAGE_MAGIC, sizeof head->magic);
    head->version = PAGE_VERSION;
    head->size = sizeof(struct page_program);
    head->pid = (uint32_t)getpid();
    head->clock = program.clock;
    head->rank = rank_of_process();
    head->start_ticks = program.start.ticks;
    head->start_ns = program.start.ns;
    head->node_count = 1;
}

/* The page is kept without a sampler that knows it, too: for the output of this process. */
static bool program_open(void)
{
    int file = program.live ? program_file() : -1;
    void *page = mmap(NULL, sizeof(struct page_program), PROT_READ | PROT_WRITE,
                      file >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, file, 0);

    if (page != MAP_FAILED) {
        program.page = page;
        program.clock = ticks_choose();
        program.start = ticks_moment_now(program.clock);
        program_fill(&program.page->head);
        link_open(file >= 0 && region_seal(file) == 0 ? file : -1);
    }
    if (file >= 0) {
        close(file);
    }
    return page != MAP_FAILED;
}

bool program_start(void)
{
    enum program_state state = __atomic_load_n(&program.state, __ATOMIC_ACQUIRE);

    if (state != PROGRAM_NEW) {
        return state == PROGRAM_ON;
    }
    pthread_mutex_lock(&program_lock);
    state = program.state;
    if (state == PROGRAM_NEW) {
        program.live = apapi_live_open(NULL, NULL);
        state = (program.live || program_wanted) && program_open() ? PROGRAM_ON : PROGRAM_OFF;
        __atomic_store_n(&program.state, state, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&program_lock);
    return state == PROGRAM_ON;
}

void program_want(void)
{
    pthread_mutex_lock(&program_lock);
    program_wanted = true;
    if (program.state == PROGRAM_OFF) {
        __atomic_store_n(&program.state, PROGRAM_NEW, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&program_lock);
}

void program_count(uint64_t *number)
{
    __atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

void program_finish(void)
{
    __atomic_store_n(&program.page->head.ended, 1, __ATOMIC_RELEASE);
}

/* The page is the parent's. */
void program_forget(void)
{
    pthread_mutex_init(&program_lock, NULL);
    intern_unlock();
    tree_unlock();
    if (program.state == PROGRAM_ON) {
        munmap(program.page, sizeof *program.page);
        apapi_live_close(program.live);
        link_close();
        tree_clear();
        program.state = PROGRAM_NEW;
    }
}
