/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_READING_H
#define NODE_READING_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/event.h"

#define NODE_GPUS 64 /* most GPUs of a node; what others draw is in its domain only */

/** What the node drew between two readings of its meters. Times are CLOCK_MONOTONIC [ns]. */
struct node_reading {
    uint64_t begin_ns, end_ns;
    int64_t end_unix_ns;            /* the end in UTC since 1970 [ns] */
    double energy_j[APAPI_DOMAINS]; /* [J]; NaN: not known */
    unsigned gpus;                  /* of gpu_energy_j that have a meter */
    double gpu_energy_j[NODE_GPUS]; /* by the GPU's index [J]; NaN: not known */
    unsigned resets;                /* counters that began again */
    bool gap; /* it covers time in which nothing was read: no sampler ran, or readings failed */
};

#endif
