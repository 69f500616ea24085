/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_LIVE_H
#define APAPI_LIVE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "apapi/error.h"
#include "apapi/event.h"

APAPI_BEGIN_C

/*
 * The live page of a step on one node: what has been measured so far, in shared memory, while the
 * step runs. One process writes it after each of its readings. Any number of other processes read
 * it; they do not wait for each other, and the writer does not notice them.
 *
 * A page is a file of a memory file system, <live_dir>/<node>/<uid>/<job>.<step>. Its layout is
 * this header. The page belongs to root; the user of the step may read it, other users may not, and
 * do not see its name. The tasks of the step find its path in APAPI_LIVE_PAGE. The page is removed
 * at the end of the step; a process that has mapped it keeps the last figures. A node where Slurm's
 * energy plugin runs has a page of the node, too, <live_dir>/<node>/node, for root alone: job 0,
 * step "node", no events. Its totals go on until the next boot; Slurm is told those of domains[0].
 *
 * Each figure has a cache line of its own. Reading a figure takes some nanoseconds, and no system
 * call or lock.
 *
 * Numbers are in the byte order of the machine. Times are CLOCK_MONOTONIC, except for those with
 * "unix" in their name. Unknown values are NaN, "", or APAPI_LIVE_UNKNOWN. Within a version of
 * the layout no offset changes; `spare` is 0 and may get a meaning. Texts end with a NUL. A reader
 * of pages that it does not trust copies them with strnlen() or "%.*s".
 */

#define APAPI_LIVE_MAGIC "APAPILIV" /* the first 8 bytes, without a NUL */
#define APAPI_LIVE_VERSION 1
#define APAPI_LIVE_EVENTS 256 /* most events; further events of a step are in its domains only */
#define APAPI_LIVE_DOMAINS 8
#define APAPI_LIVE_UNKNOWN UINT32_MAX
#define APAPI_LIVE_ENVIRONMENT "APAPI_LIVE_PAGE"
#define APAPI_LIVE_DIR "/run/apapi"
#define APAPI_LIVE_REGIONS ".regions" /* suffix of a page's path: the socket for its regions */

/** State of the step. */
enum apapi_live_state {
    APAPI_LIVE_STARTING, /* no reading yet */
    APAPI_LIVE_RUNNING,
    APAPI_LIVE_ENDED /* the figures are final */
};

/** Bits of apapi_live_slot.flags. */
enum apapi_live_flag {
    APAPI_LIVE_MEASURED = 1,  /* there is a meter; without this bit the slot has no meaning */
    APAPI_LIVE_ESTIMATED = 2, /* not measured by a meter */
    APAPI_LIVE_FAILED = 4     /* the latest reading failed; the figures are of the reading before */
};

/** A figure: energy and power of a domain, or total and rate of an event. */
struct apapi_live_slot {
    uint64_t sequence;    /* odd: the slot is being written */
    uint64_t time_ns;     /* of the latest good reading [ns]; 0: none yet. A reading that finds an
                             energy counter unchanged is not a good one: no device uses 0 W */
    double total;         /* from the first to the latest good reading [J, or the event's unit]. NaN
                             before the second one, and for gauges other than energy and power */
    double rate;          /* between the latest two good readings: [W]; other counters [unit/s];
                             a gauge: its value */
    uint64_t readings;    /* good readings, including the first */
    uint64_t interval_ns; /* time between two readings [ns] */
    uint64_t flags;       /* enum apapi_live_flag */
    double uncertainty_j; /* of an energy in `total` [J]; NaN, or 0 (older writers): not known */
};

/** The event of the slot with the same number. Complete when `event_count` includes it. */
struct apapi_live_event {
    char name[APAPI_NAME_SIZE]; /* component:::event */
    char unit[APAPI_UNIT_SIZE]; /* of `total` */
    uint32_t kind;              /* enum apapi_kind */
    uint32_t domain;            /* enum apapi_domain */
    uint32_t accumulates;       /* 1: a counter; 0: a gauge */
    uint32_t slices;            /* MIG slices that the step has of the GPU; 0: all, or not known */
    uint32_t slices_all;        /* MIG slices of the whole GPU; 0: not known */
    uint32_t spare[7];
};

/** The step that the page belongs to. */
struct apapi_live_head {
    char magic[8];
    uint32_t version;
    uint32_t size;        /* of the page [bytes] */
    uint32_t state;       /* enum apapi_live_state; changes during the step */
    uint32_t event_count; /* grows while slow sources open */
    uint32_t job;
    uint32_t array_job, array_task;
    uint32_t het_job, het_offset;
    uint32_t uid;
    uint32_t tasks;        /* tasks of the step on this node */
    uint32_t writer;       /* process id of the writer */
    int64_t start_unix_ns; /* start of the measurement, UTC since 1970 [ns]; 0: not yet */
    uint64_t start_ns;     /* the start on CLOCK_MONOTONIC; written before `state` is RUNNING */
    uint64_t end_ns;       /* its end [ns]; 0: not yet; written before `state` is ENDED */
    char step[64];         /* "0", "batch", "extern", "interactive" */
    char cluster[64];
    char node[256];
    char user[64];
    char job_name[128];
    double budget_j;      /* the least energy budget of the whole step [J]; 0: none. Changes */
    double budget_used_j; /* energy of all nodes of the step, as srun last said [J]. Changes */
    unsigned char spare[352];
};

/** A live page. */
struct apapi_live_page {
    struct apapi_live_head head;
    struct apapi_live_slot domains[APAPI_LIVE_DOMAINS]; /* by enum apapi_domain; domains[0] has no
                                                           meaning on the page of a step */
    struct apapi_live_slot events[APAPI_LIVE_EVENTS];
    struct apapi_live_event names[APAPI_LIVE_EVENTS];
};

typedef uint64_t __attribute__((may_alias)) apapi_live_word;

/**
 * Copy a slot in a consistent state.
 * @param copy  result; set on success only
 * @return false: the slot was being written in each of a thousand tries, because its writer was
 *         stopped or killed at that moment
 * Thread-safety: any thread, also in a signal handler. Does not allocate or block.
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

/** @return number of page->names and page->events in use, at most APAPI_LIVE_EVENTS. */
static inline uint32_t apapi_live_event_count(const struct apapi_live_page *page)
{
    uint32_t count = __atomic_load_n(&page->head.event_count, __ATOMIC_ACQUIRE);

    return count < APAPI_LIVE_EVENTS ? count : APAPI_LIVE_EVENTS;
}

/**
 * The energy of a domain, an energy counter or a power gauge, extrapolated to a moment with the
 * latest rate, for two intervals at most.
 * @param slot    a copy
 * @param now_ns  the moment, CLOCK_MONOTONIC [ns]
 * @return [J]; NaN: not known, as before the second reading
 */
static inline double apapi_live_energy_at_j(const struct apapi_live_slot *slot, uint64_t now_ns)
{
    uint64_t since_ns = now_ns > slot->time_ns ? now_ns - slot->time_ns : 0;
    uint64_t longest_ns = 2 * slot->interval_ns;

    return slot->total + slot->rate * (double)(since_ns < longest_ns ? since_ns : longest_ns) / 1e9;
}

/**
 * Map a page for reading.
 * @param path  NULL: the page of this process's step, from the environment variable APAPI_LIVE_PAGE
 * @return the page; give it back with apapi_live_close(). NULL with errno ENOENT (no such page, or
 *         the step is not measured), EACCES (the page of another user), EPROTO (not a live page, or
 *         a page that belongs neither to root nor to the caller), ENOTSUP (a page of another
 *         version), ESTALE (the page's writer was killed)
 * Thread-safety: any thread; with `path` NULL as getenv(3).
 */
APAPI_API const struct apapi_live_page *apapi_live_open(const char *path, struct apapi_error *err);

/** Unmap a page. NULL is allowed. errno is preserved. */
APAPI_API void apapi_live_close(const struct apapi_live_page *page);

/** The result of apapi_live_scan(). */
struct apapi_live_counts {
    size_t pages;   /* passed to look() */
    size_t foreign; /* pages of other users, which are not readable */
    size_t dead;    /* pages of a writer that was killed */
    size_t broken;  /* files that are not a live page, or one of another version */
};

/** `page` is valid only during the call. @return 0: continue the scan; any other number: end it. */
typedef int (*apapi_live_f)(const struct apapi_live_page *page, void *context);

/**
 * Call `look` for the pages of all steps that run on this machine, in the order of node, job and
 * step. Numbers are compared by value.
 * @param dir      NULL: APAPI_LIVE_DIR
 * @param context  for look()
 * @param counts   result, set in any case; NULL: not needed
 * @return 0, also if `dir` does not exist; the result of look() if that is not 0; -1 with errno of
 *         opendir(3) or readdir(3)
 * Thread-safety: any thread. Allocates.
 */
APAPI_API int apapi_live_scan(const char *dir, apapi_live_f look, void *context,
                              struct apapi_live_counts *counts, struct apapi_error *err);

APAPI_END_C
#endif
