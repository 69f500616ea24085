/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SHARE_PAGE_H
#define NODE_SHARE_PAGE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/event.h"
#include "apapi/share_result.h"
#include "node/steps.h"

/*
 * <live_dir>/<node>/shares: the energy of the node that each step has been given so far. The node
 * sampler writes the page after each of its readings, and continues from it after a restart. It
 * belongs to root; others cannot read it. Times are CLOCK_MONOTONIC [ns]. Unknown values are NaN.
 */

#define SHARE_PAGE_MAGIC "APAPISHR"
#define SHARE_PAGE_VERSION 6
#define SHARE_PAGE_ROWS 256 /* most steps at the same time; the energy of more is unattributed */
#define SHARE_PAGE_STEP 32
#define SHARE_PAGE_FRESH_NS UINT64_C(100000000) /* a page is fresh up to this age */
#define SHARE_PAGE_CLAIMS 512 /* most steps that end between two readings; more lose claims */

enum share_row_flag {
    SHARE_ROW_USED = 1,
    SHARE_ROW_RUNNING = 2, /* the step's control group was there at the last reading */
    SHARE_ROW_COUNTED = 4, /* the step's CPU time is known */
    SHARE_ROW_SLICES = 8,  /* the step has slices of a GPU, or a GPU together with other steps */
    SHARE_ROW_ENDED = 16   /* the step's record is made: the step gets no more energy */
};

/** A step: a record under a sequence lock (base/shared_page.h). */
struct share_row {
    uint64_t sequence; /* odd: being written */
    uint64_t inode;    /* of the step's control group; differs if the step runs again */
    uint32_t job, flags;
    char step[SHARE_PAGE_STEP]; /* "0", "batch" */
    uint64_t begin_ns;          /* of the step, or of the first interval in which it ran */
    uint64_t time_ns;           /* the figures reach up to this reading */
    uint64_t cpu_ns;            /* CPU time at time_ns */
    uint64_t gpus;              /* a bit for each GPU of the step */
    uint8_t slices[NODE_GPUS];  /* slices (MIG) of each GPU; 0: whole, or not known */
    double cores;
    double energy_j[APAPI_DOMAINS], idle_j[APAPI_DOMAINS]; /* given to the step; idle_j is a part
                                                              of energy_j */
    double power_w[APAPI_DOMAINS]; /* power given to the step in the last interval */
    double open_s[APAPI_DOMAINS], open_cores_s[APAPI_DOMAINS]; /* while idle power is not known:
                                                                  its energy parts times time [s] */
    double error_j[APAPI_DOMAINS]; /* error of energy_j from estimated idle power */
};

/** Method, times and rates of the figures. */
struct share_head {
    char magic[8];
    uint32_t version, size;
    char method[APAPI_SHARE_WORD_SIZE], idle[APAPI_SHARE_WORD_SIZE];
    uint64_t writer;                /* process id of the node sampler */
    uint64_t time_ns;               /* of the last division */
    uint64_t interval_ns;           /* the interval divided last, up to time_ns */
    uint64_t claims;                /* number of claims made so far */
    uint8_t gpu_slices[NODE_GPUS];  /* of each GPU; 0: not known */
    double rate[APAPI_DOMAINS];     /* dynamic energy for each unit of the method's weight [J] */
    double idle_w[APAPI_DOMAINS];   /* idle power of the node */
    double least_w[APAPI_DOMAINS];  /* least power that the node has drawn */
    double energy_j[APAPI_DOMAINS]; /* divided among steps in the last interval; NaN: no meter */
};

/*
 * The share in the record of a step that has ended: up to the last reading, the node sampler has
 * found it; after that, it follows from CPU time and the last known rate. The node sampler gives
 * the step exactly this share, so that all records and the node's own record add up.
 */
struct share_claim {
    uint64_t number; /* of the claim, from 1; written last */
    uint64_t inode;
    uint32_t job, spare;
    char step[SHARE_PAGE_STEP];
    double cpu_s; /* CPU time used since the last reading */
    double energy_j[APAPI_DOMAINS], idle_j[APAPI_DOMAINS];
};

struct share_page {
    struct share_head head;
    struct share_claim claims[SHARE_PAGE_CLAIMS]; /* claim N is in place N modulo their number */
    struct share_row rows[SHARE_PAGE_ROWS];
};

/** Make the head of a new page. */
void share_page_init(struct share_page *page);

/** @return whether it is a page of this version. */
bool share_page_is_valid(const struct share_page *page);

/**
 * @param number  of a claim, from 1
 * @return false: it is not complete, or was overwritten
 */
bool share_page_claimed(const struct share_page *page, uint64_t number, struct share_claim *claim);

/** The place of the page, and the step whose row is meant. */
struct share_key {
    const char *live_dir, *node;
    uint32_t job;
    const char *step;
};

/** Head and row of a step in the page of a node. */
struct share_found {
    struct share_head head;
    struct share_row row; /* flags 0: the step has no row */
};

/**
 * Find the latest row of a step in the page of a node.
 * @return 0; -1 with errno ENOENT: the step has no row, or the node no page, ENOTSUP: the page is
 * of another version. Without a page of this version `head.size` is 0
 */
int share_page_look(const struct share_key *key, struct share_found *found);

/** The share of a step at its end. */
struct share_end {
    struct share_found found;     /* energies up to the end */
    bool orphaned;                /* the node sampler that wrote the page has ended */
    uint64_t tail_ns;             /* since the last reading */
    double cpu_s;                 /* CPU time used in tail_ns [s] */
    double tail_j[APAPI_DOMAINS]; /* energy in tail_ns, a part of found.row.energy_j */
};

/** Longest time for which share_end_refresh() waits [ns]. */
#define SHARE_END_WAIT_NS UINT64_C(200000000)

/**
 * Have the node sampler read the meters, unless it has just done so, and wait until the page shows
 * the reading. If there is no answer, share_end_look() extrapolates from the last reading.
 */
void share_end_refresh(const struct share_key *key);

/**
 * Find all energy that a step is given, while its control group is still there: up to the last
 * reading from the page, after it from the CPU time that the step has used. Does not wait.
 * @param end  result; `found.head.size` 0: as share_page_look(), also errno
 * @return 0; -1: the step is not known, or began after the node sampler had ended
 */
int share_end_look(const struct share_key *key, struct share_end *end);

/** Tell the node sampler that the step's record has this share. */
void share_end_claim(const struct share_key *key, const struct share_end *end);

#endif
