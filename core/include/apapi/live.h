/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIVE_H
#define APAPI_LIVE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "apapi/error.h"
#include "apapi/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The live page of a step on one node: what has been measured so far, in shared memory, while the
 * step runs. One process writes it, after each of its readings; any number of others look at it,
 * and none of them waits for another or is seen by it.
 *
 * A file of a memory file system, <live_dir>/<node>/<uid>/<job>.<step>, whose layout is this
 * header. Root owns it; the step's user may read it, others may not, nor do they see its name. The
 * tasks of the step find its name in APAPI_LIVE_PAGE. It goes when the step has ended: who has
 * mapped it keeps the last figures.
 *
 * Each figure has a cache line of its own, so that a program that reads one around its code
 * touches nothing else: some nanoseconds, no system call, no lock.
 *
 * Numbers are in the byte order of the machine, times CLOCK_MONOTONIC unless they say "unix". What
 * is not known is NaN, a text "", a number APAPI_LIVE_UNKNOWN. Within a version of the layout
 * nothing moves; what is spare is 0 and may come to mean something. Texts end with a NUL; whoever
 * reads pages that he does not trust takes them with strnlen() or "%.*s".
 */

#define APAPI_LIVE_MAGIC "APAPILIV" /* the first 8 bytes, without a NUL */
#define APAPI_LIVE_VERSION 1
#define APAPI_LIVE_EVENTS 256 /* room for so many; the rest of a step's is in its domains only */
#define APAPI_LIVE_DOMAINS 8
#define APAPI_LIVE_UNKNOWN UINT32_MAX
#define APAPI_LIVE_ENVIRONMENT "APAPI_LIVE_PAGE"
#define APAPI_LIVE_DIR "/run/apapi"

/** How far the step is. */
enum apapi_live_state {
    APAPI_LIVE_STARTING, /* no reading yet */
    APAPI_LIVE_RUNNING,
    APAPI_LIVE_ENDED /* the figures are the last ones */
};

/** What is to be known of a figure: bits of `flags`. */
enum apapi_live_flag {
    APAPI_LIVE_MEASURED = 1,  /* there is a meter; without it the slot means nothing */
    APAPI_LIVE_ESTIMATED = 2, /* by no meter */
    APAPI_LIVE_FAILED = 4     /* the latest reading of it failed: the figures are those before */
};

/** A figure: energy and power of a domain, or total and present value of an event. */
struct apapi_live_slot {
    uint64_t sequence;    /* odd: being written */
    uint64_t time_ns;     /* of the latest good reading; 0: none yet. One that finds an energy
                             counter where it was is none: no part draws nothing */
    double total;         /* from the first good reading to then: [J], or in the event's unit. NaN
                             before the second one, and for gauges of neither energy nor power */
    double rate;          /* between the latest two good readings: [W], for other counters
                             [unit/s]; a gauge's value */
    uint64_t readings;    /* good ones, the first included */
    uint64_t interval_ns; /* how far they should be apart */
    uint64_t flags;       /* enum apapi_live_flag */
    uint64_t spare;
};

/** What the event of the same number is. Complete once `event_count` counts it. */
struct apapi_live_event {
    char name[APAPI_NAME_SIZE]; /* component:::event */
    char unit[APAPI_UNIT_SIZE]; /* of `total` */
    uint32_t kind;              /* enum apapi_kind */
    uint32_t domain;            /* enum apapi_domain */
    uint32_t accumulates;       /* 1: a counter; 0: a gauge */
    uint32_t spare[9];
};

/** Whose page it is. */
struct apapi_live_head {
    char magic[8];
    uint32_t version;
    uint32_t size;        /* of the page [bytes] */
    uint32_t state;       /* enum apapi_live_state; moves */
    uint32_t event_count; /* grows, where a source is slow to open */
    uint32_t job;
    uint32_t array_job, array_task;
    uint32_t het_job, het_offset;
    uint32_t uid;
    uint32_t tasks;        /* on this node */
    uint32_t writer;       /* its process */
    int64_t start_unix_ns; /* when the measurement began, UTC since 1970; 0: not yet */
    uint64_t start_ns;     /* the same; 0: not yet; written before `state` says RUNNING */
    uint64_t end_ns;       /* 0: not yet; written before `state` says ENDED */
    char step[64];         /* "0", "batch", "extern", "interactive" */
    char cluster[64];
    char node[256];
    char user[64];
    char job_name[128];
    unsigned char spare[368];
};

/** The whole of it. */
struct apapi_live_page {
    struct apapi_live_head head;
    struct apapi_live_slot domains[APAPI_LIVE_DOMAINS]; /* by enum apapi_domain; the first is
                                                           nothing's */
    struct apapi_live_slot events[APAPI_LIVE_EVENTS];
    struct apapi_live_event names[APAPI_LIVE_EVENTS];
};

typedef uint64_t __attribute__((may_alias)) apapi_live_word;

/**
 * Copy a slot as it was at one moment.
 * @return false if it is being written for as long as a thousand tries take (its writer was
 *         stopped or killed just then): `copy` is not set.
 * Thread-safety: any thread, also in a signal handler.
 */
static inline bool apapi_live_read(const struct apapi_live_slot *slot, struct apapi_live_slot *copy)
{
    const apapi_live_word *from = (const apapi_live_word *)(const void *)slot;
    uint64_t words[sizeof(*slot) / sizeof(uint64_t)];

    for (int tries = 0; tries < 1000; tries++) {
        uint64_t before = __atomic_load_n(from, __ATOMIC_ACQUIRE);

        for (size_t i = 1; i < sizeof(words) / sizeof(words[0]); i++) {
            words[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE); /* each before the last one */
        }
        words[0] = __atomic_load_n(from, __ATOMIC_RELAXED);
        if (words[0] == before && before % 2 == 0) {
            memcpy(copy, words, sizeof(*copy));
            return true;
        }
    }
    return false;
}

/** @return enum apapi_live_state. */
static inline uint32_t apapi_live_state(const struct apapi_live_page *page)
{
    return __atomic_load_n(&page->head.state, __ATOMIC_ACQUIRE);
}

/** @return how many of page->names and page->events are there, at most APAPI_LIVE_EVENTS. */
static inline uint32_t apapi_live_event_count(const struct apapi_live_page *page)
{
    uint32_t count = __atomic_load_n(&page->head.event_count, __ATOMIC_ACQUIRE);

    return count < APAPI_LIVE_EVENTS ? count : APAPI_LIVE_EVENTS;
}

/**
 * What the energy of a domain, a counter of energy or a gauge of power probably is at this moment:
 * the rate is taken to go on, for two intervals at most. Between the first reading and the second
 * one, 0 J.
 * @param slot    a copy
 * @param now_ns  CLOCK_MONOTONIC
 * @return [J]; NaN: unknown.
 */
static inline double apapi_live_energy_at_j(const struct apapi_live_slot *slot, uint64_t now_ns)
{
    uint64_t since_ns = now_ns > slot->time_ns ? now_ns - slot->time_ns : 0;
    uint64_t longest_ns = 2 * slot->interval_ns;

    if (slot->readings == 1 && since_ns <= longest_ns) {
        return 0;
    }
    return slot->total + slot->rate * (double)(since_ns < longest_ns ? since_ns : longest_ns) / 1e9;
}

/**
 * Map a page for reading.
 * @param path  NULL: that of the step which this process runs in, from APAPI_LIVE_PAGE
 * @return the page, to be given back by apapi_live_close(). NULL with errno ENOENT (no such page,
 *         or the step is not measured), EACCES (another user's), EPROTO (not a live page, or
 *         neither root's nor the caller's own), ENOTSUP (of another version), ESTALE (its writer
 *         was killed).
 * Thread-safety: any thread, but for the environment with `path` NULL.
 */
APAPI_API const struct apapi_live_page *apapi_live_open(const char *path, struct apapi_error *err);

/** Unmap. NULL is allowed. errno is preserved. */
APAPI_API void apapi_live_close(const struct apapi_live_page *page);

/** What apapi_live_scan() found. */
struct apapi_live_counts {
    size_t pages;   /* handed over */
    size_t foreign; /* of others, which this user may not read */
    size_t dead;    /* left by a writer that was killed */
    size_t broken;  /* no live page, or of another version */
};

/** @return 0 to go on; else the scan ends. The page lives during the call only. */
typedef int (*apapi_live_f)(const struct apapi_live_page *page, void *context);

/**
 * Hand over the pages of all steps that run on this machine, in the order of node, job and step
 * (numbers by value).
 * @param dir  NULL: APAPI_LIVE_DIR
 * @param counts  set in any case; NULL: nobody wants to know
 * @return 0, also where there is no such folder; -1 with errno of reading it, or what `look`
 *         returned.
 * Thread-safety: any thread.
 */
APAPI_API int apapi_live_scan(const char *dir, apapi_live_f look, void *context,
                              struct apapi_live_counts *counts, struct apapi_error *err);

#ifdef __cplusplus
}
#endif
#endif
