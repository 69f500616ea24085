/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SHARE_PAGE_H
#define NODE_SHARE_PAGE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/share_result.h"

/*
 * <live_dir>/<node>/shares: what each step has been given of the node's energy so far. The node
 * sampler writes it after each of its readings, and goes on from it when it is started again. Of
 * root, readable by root alone. Times are CLOCK_MONOTONIC. What is not known is NaN.
 */

#define SHARE_PAGE_MAGIC "APAPISHR"
#define SHARE_PAGE_VERSION 1
#define SHARE_PAGE_ROWS 256 /* most steps at the same time; others are unattributed */
#define SHARE_PAGE_STEP 32

enum share_row_flag {
    SHARE_ROW_USED = 1,
    SHARE_ROW_RUNNING = 2, /* its control group was there at the last reading */
    SHARE_ROW_COUNTED = 4, /* its CPU time is known */
    SHARE_ROW_SLICES = 8   /* it has a GPU together with others */
};

/** A step. */
struct share_row {
    uint64_t sequence; /* odd: being written */
    uint64_t inode;    /* of its control group: another one if the step runs again */
    uint32_t job, flags;
    char step[SHARE_PAGE_STEP]; /* "0", "batch" */
    uint64_t begin_ns;          /* of the first interval in which it ran */
    uint64_t time_ns;           /* the figures reach up to this reading */
    uint64_t cpu_ns;            /* CPU time then */
    uint64_t gpus;              /* bits of its GPUs */
    double cores;
    double energy_j[APAPI_DOMAINS], idle_j[APAPI_DOMAINS]; /* given to it; the latter is part of
                                                              the former */
    double power_w[APAPI_DOMAINS];                         /* given to it in the last interval */
};

/** How the figures came about. */
struct share_head {
    char magic[8];
    uint32_t version, size;
    char method[APAPI_SHARE_WORD_SIZE], idle[APAPI_SHARE_WORD_SIZE];
    uint64_t time_ns;               /* of the last division */
    uint64_t interval_ns;           /* before that one */
    double idle_w[APAPI_DOMAINS];   /* idle power of the node */
    double energy_j[APAPI_DOMAINS]; /* of domains that this node measures; others NaN */
};

struct share_page {
    struct share_head head;
    struct share_row rows[SHARE_PAGE_ROWS];
};

/** Make the head of a new page. */
void share_page_init(struct share_page *page);

/** @return whether it is a page of this version. */
bool share_page_is_valid(const struct share_page *page);

/** Replace a row; readers see the old or the new one. `from->sequence` has no meaning. */
void share_row_write(struct share_row *row, const struct share_row *from);

/** @return false: it was being written in each of a thousand tries. */
bool share_row_read(const struct share_row *row, struct share_row *copy);

/** What the page of a node says of a step. */
struct share_found {
    struct share_head head;
    struct share_row row;
};

/**
 * Find the latest row of a step in the page of a node.
 * @return 0; -1 with errno ENOENT: the node has no page, or the step no row
 */
int share_page_look(const char *live_dir, const char *node, uint32_t job, const char *step,
                    struct share_found *found);

#endif
