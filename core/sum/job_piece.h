/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_JOB_PIECE_H
#define APAPI_SUM_JOB_PIECE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"

/** One record of a job: where and when, and the energy over that time. */
struct piece {
    char *node;
    char step[32];
    int64_t start_ns, end_ns; /* unix time, from 0 on, the end not before the start */
    bool complete;
    double energy_j[APAPI_DOMAINS];                  /* NaN: unknown */
    double known[APAPI_DOMAINS];                     /* share of the time, 0..1 */
    double scale[APAPI_DOMAINS];                     /* energy by that of the timeline */
    struct apapi_timeline *timelines[APAPI_DOMAINS]; /* NULL: the power is taken for constant */
};

/** What a node has used, each moment once. */
struct node_total {
    double energy_j[APAPI_DOMAINS];      /* 0 where nothing is known */
    uint64_t covered_ns[APAPI_DOMAINS];  /* how long that energy is known */
    uint64_t recorded_ns[APAPI_DOMAINS]; /* how long there is a record with the domain */
    uint64_t total_ns; /* how long all domains that add up and have a record are known */
};

/**
 * @param pieces  of one node, sorted by their start
 * @param total   result; set on success only
 * @return 0; -1 with errno ENOMEM. Takes time in proportion to count x log(count).
 */
int node_add_up(struct piece *const *pieces, size_t count, struct node_total *total);

#endif
