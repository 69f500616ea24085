/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_JOB_PIECE_H
#define APAPI_SUM_JOB_PIECE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"

/** One record of a job: node, time, and the energy in that time. */
struct piece {
    char *node;
    char step[32];
    int64_t start_ns, end_ns; /* unix time, >= 0, start <= end */
    bool complete;
    double energy_j[APAPI_DOMAINS];                  /* NaN: unknown */
    double known[APAPI_DOMAINS];                     /* known share of the time, 0..1 */
    double scale[APAPI_DOMAINS];                     /* energy divided by that of the timeline */
    struct apapi_timeline *timelines[APAPI_DOMAINS]; /* NULL: constant power is assumed */
};

/** What a node has used; each moment counts once. */
struct node_total {
    double energy_j[APAPI_DOMAINS];      /* 0 if nothing is known */
    uint64_t covered_ns[APAPI_DOMAINS];  /* time in which that energy is known */
    uint64_t recorded_ns[APAPI_DOMAINS]; /* time with a record of the domain */
    uint64_t total_ns; /* time in which all recorded domains that add up are known */
};

/**
 * @param pieces  of one node, sorted by start
 * @param total   result; set on success only
 * @return 0; -1 with errno ENOMEM. Takes time proportional to count x log(count).
 */
int node_add_up(struct piece *const *pieces, size_t count, struct node_total *total);

#endif
