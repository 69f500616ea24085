/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many programs with regions in one step.
 *
 *   crowd honest PROGRAMS SECONDS  each program is a process with one thread and three regions
 *   crowd grow PAGES SECONDS       pages without memory claim more threads and regions after they
 *                                  are known; half of them close, then the program ends
 *   crowd full PAGES SECONDS       one page, all of it with memory, is made known PAGES times
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/region.h"
#include "regions/message.h"
#include "regions/page.h"

#define CLOSED_S 0.25 /* time from the close of half of the pages to the end */

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static struct page_program *crowd_page(int *file)
{
    struct page_program *page;

    *file = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*file < 0 || ftruncate(*file, sizeof *page)) {
        die("memfd");
    }
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (page == MAP_FAILED || region_seal(*file)) {
        die("page");
    }
    memcpy(page->head.magic, PAGE_MAGIC, sizeof page->head.magic);
    page->head.version = PAGE_VERSION;
    page->head.size = sizeof *page;
    page->head.clock = PAGE_CLOCK_MONOTONIC;
    page->head.node_count = 1;
    page->head.thread_count = 1;
    return page;
}

static int crowd_register(int file)
{
    struct region_message message;
    int channel;

    region_message_init(&message, REGION_REGISTER, NULL);
    while ((channel = region_connect(getenv("APAPI_LIVE_PAGE"))) < 0) {
        usleep(10000);
    }
    if (region_send(channel, &message, file)) {
        die("register");
    }
    close(file);
    return channel;
}

static void crowd_grow(struct page_program *page)
{
    for (uint32_t node = 1; node < PAGE_REST; node++) {
        snprintf(page->nodes[node].name, PAGE_NAME_SIZE, "r%u", node);
    }
    __atomic_store_n(&page->head.node_count, PAGE_REST, __ATOMIC_RELEASE);
    __atomic_store_n(&page->head.thread_count, PAGE_THREADS, __ATOMIC_RELEASE);
}

static void grow(size_t count, double time_s)
{
    struct page_program **pages = calloc(count, sizeof *pages);
    int *channels = calloc(count, sizeof *channels), file;

    for (size_t i = 0; pages && channels && i < count; i++) {
        pages[i] = crowd_page(&file);
        channels[i] = crowd_register(file);
    }
    usleep(300000);
    for (size_t i = 0; i < count; i++) {
        crowd_grow(pages[i]);
    }
    usleep((useconds_t)(time_s * 1e6));
    for (size_t i = 0; i < count / 2; i++) {
        close(channels[i]);
    }
    usleep((useconds_t)(CLOSED_S * 1e6));
    _exit(EXIT_SUCCESS);
}

static void full(size_t count, double time_s)
{
    int file;
    struct page_program *page = crowd_page(&file);

    for (uint32_t thread = 0; thread < PAGE_THREADS; thread++) {
        memset(page->slots[thread].counts, 1, sizeof page->slots[thread].counts);
        page->slots[thread].current = PAGE_NO_NODE;
    }
    for (size_t i = 0; i < count; i++) {
        crowd_register(dup(file));
    }
    usleep((useconds_t)(time_s * 1e6));
    crowd_grow(page);
    _exit(EXIT_SUCCESS);
}

static _Noreturn void honest_program(double time_s)
{
    static const char *const names[] = {"read", "solve", "write"};

    apapi_region_begin("main");
    for (size_t i = 0; i < 3; i++) {
        apapi_region_begin(names[i]);
        usleep((useconds_t)(time_s / 3 * 1e6));
        apapi_region_end(names[i]);
    }
    apapi_region_end("main");
    exit(EXIT_SUCCESS);
}

static void honest(size_t count, double time_s)
{
    for (size_t i = 0; i < count; i++) {
        pid_t child = fork();

        if (child == 0) {
            honest_program(time_s);
        }
        if (child < 0) {
            die("fork");
        }
    }
    while (wait(NULL) > 0) {
    }
}

static const struct {
    const char *name;
    void (*run)(size_t count, double time_s);
} ways[] = {{"honest", honest}, {"grow", grow}, {"full", full}};

int main(int argc, char **argv)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    for (size_t i = 0; argc == 4 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run(strtoul(argv[2], NULL, 10), strtod(argv[3], NULL));
            return 0;
        }
    }
    fputs("usage: crowd honest|grow|full COUNT SECONDS\n", stderr);
    return 2;
}
