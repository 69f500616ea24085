/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_JOB_PIECE_H
#define APAPI_SUM_JOB_PIECE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"
#include "sum/timing.h"

/** One record of a job: node, time, and the energy in that time. */
struct piece {
    char *node;
    char step[32];
    char boot[APAPI_BOOT_SIZE];
    struct timing timing;     /* as in the record; its texts are those of the piece */
    int64_t start_ns, end_ns; /* where they belong, unix time, >= 0, start <= end */
    bool complete;
    uint32_t cores, node_cores;          /* 0: unknown */
    double energy_j[APAPI_DOMAINS];      /* NaN: unknown */
    double known[APAPI_DOMAINS];         /* share of the time, 0..1 */
    uint32_t unknown_domains;            /* as in struct apapi_measurement */
    double scale[APAPI_DOMAINS];         /* energy by that of the timeline */
    double uncertainty_j[APAPI_DOMAINS]; /* NaN: unknown */
    double swing_w[APAPI_DOMAINS];       /* how far its power leaves the mean; 0: not known */
    uint64_t window_ns;                  /* the shortest time that has a power; 0: not known */
    struct apapi_timeline *timelines[APAPI_DOMAINS]; /* NULL: the power is taken for constant */
    bool used; /* while a domain is added up: a part of the piece is in its energy */
};

/** What a node has used; each moment counts once. */
struct node_total {
    double energy_j[APAPI_DOMAINS];      /* 0 where nothing is known */
    double uncertainty_j[APAPI_DOMAINS]; /* of that energy; NaN: unknown */
    uint64_t covered_ns[APAPI_DOMAINS];  /* how long that energy is known */
    uint64_t recorded_ns[APAPI_DOMAINS]; /* how long there is a record with the domain */
    uint64_t total_ns;        /* how long all domains that add up and have a record are known */
    uint32_t unknown_domains; /* of any piece */
};

/**
 * @param pieces  of one node, sorted by start
 * @param total   result; set on success only
 * @return 0; -1 with errno ENOMEM. Takes time proportional to count x log(count).
 */
int node_add_up(struct piece *const *pieces, size_t count, struct node_total *total);

#endif
