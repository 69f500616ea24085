/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_PAGE_H
#define REGIONS_PAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/region_result.h"
#include "base/clock.h"

/*
 * Two pages of shared memory between a program and the step's sampler. Both are sealed memfds:
 * neither side can shorten them, or punch holes into them (before Linux 5.1, it can punch holes).
 *
 * A program page says which region each thread of a program is in, and how long it was in each.
 * The program writes the page, and may write anything: the sampler reads it by the functions below
 * only, and only where the page has memory already, which is the program's memory. A result page
 * says what power the program's regions draw; the sampler writes it.
 *
 * Numbers are in the byte order of the machine; there are no pointers. Times are ticks of the clock
 * that the head names.
 *
 * A node is a region within another one. Node 0 is the code of a thread outside of all regions.
 * Node PAGE_REST stands for all regions without a node. A node never changes once `node_count`
 * includes it. The own time of a node is the time in the node without that in its inner regions.
 *
 * Only its thread writes a slot. The whole slot has memory before thread_count includes it. After
 * the thread has ended, another thread gets the slot and adds to the times in it: the times never
 * decrease.
 *
 * The texts of a figure of merit never change once `fom_count` includes it.
 */

#define PAGE_MAGIC "APAPIREG" /* the first 8 bytes, without a NUL */
#define PAGE_RESULT_MAGIC "APAPIRES"
#define PAGE_VERSION 4
#define PAGE_NODES 256
#define PAGE_REST (PAGE_NODES - 1)
#define PAGE_THREADS 1024 /* at one time; the times of further threads are not kept */
#define PAGE_NAME_SIZE 120
#define PAGE_DOMAINS 8
#define PAGE_NO_NODE UINT32_MAX /* page_slot.current: no thread has the slot */

enum page_clock {
    PAGE_CLOCK_MONOTONIC, /* CLOCK_MONOTONIC [ns] */
    PAGE_CLOCK_CPU,       /* the processor's counter, the same on all processors */
    PAGE_CLOCKS
};

struct page_head {
    char magic[8];
    uint32_t version;
    uint32_t size; /* of the page [bytes] */
    uint32_t pid;
    uint32_t clock; /* enum page_clock */
    uint32_t unused;
    uint32_t ended;        /* 1: the program has ended; the figures are final */
    uint64_t start_ticks;  /* time of the program's first call */
    uint64_t start_ns;     /* the time of start_ticks on CLOCK_MONOTONIC */
    uint32_t node_count;   /* nodes in use, from 0 on, without PAGE_REST; only grows */
    uint32_t thread_count; /* slots that threads have used, from 0 on; only grows */
    uint64_t names_lost;   /* calls with a name that could not be kept */
    uint64_t threads_lost; /* threads that got no slot */
    uint64_t misuses;
    uint64_t fom_count; /* figures of merit in use, from 0 on; only grows */
    unsigned char spare[4008];
};

struct page_node {
    uint32_t parent; /* a node with a smaller number */
    uint32_t flags;  /* always 0 */
    char name[PAGE_NAME_SIZE];
};

struct page_fom {
    double value; /* NaN: none. The last one that the program gave */
    char name[APAPI_FOM_NAME_SIZE];
    char unit[APAPI_FOM_UNIT_SIZE];
};

struct page_slot {
    uint64_t sequence; /* odd: `entered`, `current` and an own time are being written */
    uint64_t entered;  /* since when `current` is the innermost region [ticks] */
    uint32_t current;  /* node, or PAGE_NO_NODE */
    uint32_t thread;   /* the thread's id in the system */
    uint64_t spare[5];
    uint64_t own[PAGE_NODES];    /* own time of the node up to `entered` [ticks] */
    uint64_t counts[PAGE_NODES]; /* how often the node was entered */
};

struct page_program {
    struct page_head head;
    struct page_node nodes[PAGE_NODES];
    struct page_fom foms[APAPI_FOMS_MAX];
    struct page_slot slots[PAGE_THREADS];
};

/** The power that one thread in a node adds to the power of the machine. */
struct page_result {
    uint64_t sequence;            /* odd: being written; 0: nothing is known */
    double power_w[PAGE_DOMAINS]; /* by enum apapi_domain; NaN: not known */
};

struct page_results {
    char magic[8]; /* PAGE_RESULT_MAGIC */
    uint32_t version;
    uint32_t size; /* of the page [bytes] */
    unsigned char spare[112];
    struct page_result nodes[PAGE_NODES];
};

/** A node as it may be shown. */
struct page_node_copy {
    uint32_t parent;           /* less than the node's own number, except for 0 */
    char name[PAGE_NAME_SIZE]; /* valid UTF-8 without control characters and without "/" */
};

/** A thread's slot at one moment. */
struct page_slot_copy {
    uint32_t current;         /* node, or PAGE_NO_NODE */
    uint64_t own[PAGE_NODES]; /* with the time since `entered` [ticks]; set for the first
                                 node_count nodes and for PAGE_REST */
};

/** @return NULL: a program page of this version; other: what is wrong with the page. */
const char *page_problem(const struct page_program *page);

/** @return whether this is a result page of this version. */
bool page_results_valid(const struct page_results *page);

/** Write a name to `shown` in the form of page_node_copy: "a/b" becomes "a\x2Fb", a long name keeps
 * its beginning and end with a hash between them. Only 255 bytes of `name` are used. */
void page_show_name(char shown[PAGE_NAME_SIZE], const char *name);

/** @return number of nodes that may be read, 1 to PAGE_REST; PAGE_REST may always be read, too. */
uint32_t page_node_count(const struct page_program *page);

/** @return number of slots that may be read, at most PAGE_THREADS. */
uint32_t page_thread_count(const struct page_program *page);

/**
 * Copy a node.
 * @param node  less than page_node_count(), or PAGE_REST
 * @return false: no valid node
 */
bool page_node(const struct page_program *page, uint32_t node, struct page_node_copy *copy);

/**
 * Copy a thread's slot while the thread may write it.
 * @param slot        less than page_thread_count()
 * @param node_count  result of page_node_count(), taken before `now`
 * @param now         time on the page's clock [ticks]
 * @return false: the thread was stopped while it wrote; an earlier copy is still right
 *
 * The own times of one thread never decrease from one copy to the next, if the program is honest.
 */
bool page_slot(const struct page_program *page, uint32_t slot, uint32_t node_count, uint64_t now,
               struct page_slot_copy *copy);

/** @return number of figures of merit that may be read, at most APAPI_FOMS_MAX. */
size_t page_fom_count(const struct page_program *page);

/** Copy a figure of merit, with clean texts. @return false: it has no finite value, or no name */
bool page_fom(const struct page_program *page, size_t number, struct apapi_fom *copy);

/** @return how often a thread has entered a node. */
uint64_t page_slot_count(const struct page_program *page, uint32_t slot, uint32_t node);

/** Write the fixed parts of a new result page. Its other bytes are 0: nothing is known. */
void page_results_init(struct page_results *page);

/** Copy a row of a result page, which shared_record_write() writes. @return false: nothing is
 * known, or the row was being written at each try. */
bool page_result_read(const struct page_result *row, struct page_result *copy);

/* --- the clock ------------------------------------------------------------------------------ */

/** @return the clock that costs least and is the same on all processors. Reads one file. */
enum page_clock ticks_choose(void);

/** @return the time on a clock that ticks_choose() can return. */
static inline uint64_t ticks_now(enum page_clock clock)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock == PAGE_CLOCK_CPU, 1)) {
        return __builtin_ia32_rdtsc(); /* <x86intrin.h> has 60,000 lines */
    }
#elif defined(__aarch64__)
    if (__builtin_expect(clock == PAGE_CLOCK_CPU, 1)) {
        uint64_t ticks;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    (void)clock;
    return clock_monotonic_ns();
}

/** The same instant on two clocks. */
struct ticks_moment {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC */
};

/** @return now. */
struct ticks_moment ticks_moment_now(enum page_clock clock);

/** @return length of a tick [ns], from two moments; more exact if they are farther apart. */
double ticks_length_ns(enum page_clock clock, struct ticks_moment first, struct ticks_moment last);

#endif
