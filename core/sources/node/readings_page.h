/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_NODE_READINGS_PAGE_H
#define SOURCES_NODE_READINGS_PAGE_H
#include "apapi/interval.h"
#include "apapi/source.h"

/*
 * <live_dir>/<node>/readings: the node sampler's latest readings of a node's meters. The file
 * belongs to root, and root alone can read it. The node sampler writes it (node/readings.c); the
 * samplers of the steps read it (node_source.c), so that one process alone reads the hardware. They
 * ask for a reading (channel/ask.h) and wait for one that began after they asked. Times are
 * CLOCK_MONOTONIC [ns].
 *
 * The page has only components whose raw values are the same for all processes, and no GPUs, as
 * each step sees its own GPUs.
 */

#define READINGS_PAGE "readings" /* the name of the file */
#define READINGS_MAGIC "APAPIRDG"
#define READINGS_VERSION 3
#define READINGS_COMPONENTS 16 /* at most; further ones are not on the page */
#define READINGS_EVENTS 512    /* of all components */

struct readings_event {
    struct apapi_event event; /* as its source describes it */
    float seen_w;             /* the highest power read since the page began */
    uint64_t seen;            /* number of these readings; a few say little */
};

/** One value, see struct apapi_reading. */
struct readings_value {
    uint64_t raw, error;
};

_Static_assert(sizeof(struct readings_value) == 2 * sizeof(uint64_t), "values are copied by words");

/** A component. `sequence` is odd while its times and values are being written. */
struct readings_component {
    char name[APAPI_COMPONENT_SIZE];
    char source[32];       /* the source that reads it */
    char detail[64];       /* description of the source, for people */
    uint32_t first, count; /* first index and number of its events */
    uint32_t slow;         /* a worker of its own reads it */
    uint32_t gone;         /* it is not read any more */
    uint32_t sequence;     /* steps that wait for a reading wait for a change of this */
    uint32_t spare;
    uint64_t begin_ns, end_ns; /* of the latest reading; 0: none yet */
};

struct readings_page {
    char magic[8];
    uint32_t version, size;
    uint64_t life;            /* another number for each node sampler; 0: none runs */
    uint64_t component_count; /* written after the component */
    struct readings_component components[READINGS_COMPONENTS];
    struct readings_event events[READINGS_EVENTS];
    struct readings_value values[READINGS_EVENTS];
};

/** The longest wait of a step for a reading of a quick meter [ns]. Tests change it. */
extern _Atomic uint64_t node_source_wait_ns;

#endif
