/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_PROGRAM_H
#define OBSERVE_PROGRAM_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"
#include "regions/observe/nodes.h"
#include "regions/page.h"

/*
 * A program of the step, by the page that it shares. Whatever the program writes into it, or does
 * with the file: what is read stays within the page, within the memory that the program has put
 * there, and within the time that has passed.
 */

#define OBSERVED_THREADS_MAX 4096 /* of all programs of a step */
#define OBSERVED_NODES_MAX 65536  /* the same */
#define OBSERVED_NEWS_MAX 4096    /* nodes that come in one look */

/** What the programs of a step may still have. Each page takes from it as it grows. */
struct observed_room {
    uint32_t threads, nodes, news;
};

struct observed {
    struct observed *next;
    const struct page_program *page;
    void *map; /* the same, to be unmapped; NULL: it is the caller's */
    int file;  /* of it, if it is mapped */
    enum page_clock clock;
    struct page_results *results; /* NULL: none */
    uint32_t threads;             /* slots that are read */
    uint32_t known;               /* nodes that have a place in `nodes` */
    bool cut;                     /* it has more nodes than there is room for: they are the rest */
    uint16_t node[PAGE_NODES];
    uint64_t seen[PAGE_NODES]; /* own ticks of all threads together */
    bool looked;
    double owed_s; /* time that has passed since all of its nodes were counted */
};

/** A moment on the clocks that programs use. */
struct observe_moment {
    uint64_t ns;      /* CLOCK_MONOTONIC */
    uint64_t ticks;   /* PAGE_CLOCK_CPU */
    double tick_ns;   /* length of one of these */
    double elapsed_s; /* since the moment before */
    double passed_s;  /* since the step began */
};

/**
 * Map a page.
 * @param file  of a stranger; stays open
 * @return the program, free it with observed_destroy(). NULL with errno and `err`:
 *         EPERM  its size could change, or it is no memory of the usual kind
 *         EPROTO  not a page of regions
 */
struct observed *observed_create(int file, struct apapi_error *err);

/** The same of a page that has been checked and stays mapped, in the caller's memory. */
void observed_begin(struct observed *program, const struct page_program *page);

void observed_destroy(struct observed *program);

/**
 * Add the time that its threads have spent in each node since the last look.
 * @param times_s  by node of `nodes`
 * @return the sum of these [s]
 * Does not allocate or wait. Makes two system calls if there are new threads and nodes, none else.
 */
double observed_look(struct observed *program, const struct observe_moment *now,
                     struct observed_room *room, struct nodes *nodes, double times_s[NODES_MAX]);

/**
 * What is known only at its end, after the last look: how often each node was entered, by how many
 * threads.
 */
void observed_count(const struct observed *program, struct nodes *nodes,
                    struct apapi_region_losses *losses);

#endif
