/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes in the page that a program shares with the sampler, while that reads it. */
#include <stddef.h>

#include "fuzz/fuzz.h"
#include "regions/observe/observer.h"

#define THREADS 6 /* more of the same take long */
#define SLOTS 4   /* that are written to; more are only read */
#define SPAN (offsetof(struct page_program, slots) + SLOTS * sizeof(struct page_slot))

static struct page_program page;
static struct observer observer;

/* A word at a place. */
struct write {
    uint32_t place;
    uint64_t value;
} __attribute__((packed));

static void fuzz_regions_valid(void)
{
    memcpy(page.head.magic, PAGE_MAGIC, sizeof page.head.magic);
    page.head.version = PAGE_VERSION;
    page.head.size = sizeof page;
    page.head.node_count = 4;
    page.head.thread_count = 2;
    memcpy(page.nodes[1].name, "a", 2);
    memcpy(page.nodes[2].name, "b", 2);
    page.nodes[2].parent = 1;
}

static void fuzz_regions_look(struct observed *program, uint64_t now_ns)
{
    const struct observe_moment now = {now_ns, now_ns * 3, 1 / 3.0, 0.1, (double)now_ns / 1e9};

    if (page.head.thread_count > THREADS) {
        page.head.thread_count = THREADS;
    }
    observer.room.news = OBSERVED_NEWS_MAX;
    observer.threads_s = 0;
    observed_look(&observer, program, &now);
    REQUIRE(observer.threads_s >= 0);
    REQUIRE(observer.nodes.count <= NODES_MAX);
    for (size_t i = 0; i < observer.nodes.count; i++) {
        char path[APAPI_REGION_PATH_SIZE];

        REQUIRE(observer.news_s[i] >= 0);
        if (observer.news_s[i] > 0) {
            nodes_path(&observer.nodes, i, path);
            REQUIRE(strlen(path) < sizeof path);
            observer.news_s[i] = 0;
        }
    }
}

static void fuzz(char *text, size_t size)
{
    struct observed program;
    struct write write;

    fuzz_regions_valid();
    observer.nodes.count = NODES_FIRST;
    observer.room = (struct observed_room){OBSERVED_THREADS_MAX, OBSERVED_NODES_MAX, 0};
    observed_begin(&program, &page);
    for (size_t i = 0; i + sizeof write <= size; i += sizeof write) {
        memcpy(&write, text + i, sizeof write);
        memcpy((char *)&page + write.place % (SPAN - sizeof write.value), &write.value,
               sizeof write.value);
        if (write.place >> 29 == 0) {
            fuzz_regions_look(&program, (i + 1) * 1000000);
        }
    }
    if (page_problem(&page) == NULL) {
        fuzz_regions_look(&program, 1000000000);
        observed_count(&observer, &program);
        REQUIRE(observer.room.threads + program.threads == OBSERVED_THREADS_MAX);
        REQUIRE(observer.room.nodes + program.known - 1 == OBSERVED_NODES_MAX);
    }
    memset(&page, 0, SPAN); /* the next input begins with a valid page again */
}
