/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_NODE_READINGS_PAGE_H
#define SOURCES_NODE_READINGS_PAGE_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/interval.h"
#include "apapi/source.h"

/*
 * <live_dir>/<node>/readings: what the meters of a node showed when the node sampler read them
 * last. Of root, readable by root alone. The node sampler writes; the samplers of the steps read,
 * so that one process alone reads the hardware. They ask for a reading (channel/ask.h) and wait
 * until there is one that began after that. Times are CLOCK_MONOTONIC [ns].
 *
 * It has components whose raw values are the same whoever reads them, and those of GPUs not: each
 * step sees its own.
 */

#define READINGS_PAGE "readings" /* the name of the file */
#define READINGS_MAGIC "APAPIRDG"
#define READINGS_VERSION 3
#define READINGS_COMPONENTS 16 /* at most; others are not in it */
#define READINGS_EVENTS 512    /* of all components */

struct readings_event {
    struct apapi_event event; /* as its source describes it */
    float seen_w;             /* the highest power read since the page began */
    uint64_t seen;            /* of how many readings; few of them say little */
};

/** One value, see struct apapi_reading. */
struct readings_value {
    uint64_t raw, error;
};

/** A component. `sequence` is odd while its times and values are being written. */
struct readings_component {
    char name[APAPI_COMPONENT_SIZE];
    char source[32];       /* by which it is read */
    char detail[64];       /* what is read, for people */
    uint32_t first, count; /* of its events */
    uint32_t slow;         /* it has a worker of its own */
    uint32_t gone;         /* it is not read any more */
    uint32_t sequence;     /* whoever waits for a reading waits for this to change */
    uint32_t spare;
    uint64_t begin_ns, end_ns; /* of the latest reading; 0: none yet */
};

struct readings_page {
    char magic[8];
    uint32_t version, size;
    uint64_t life;            /* another one for each node sampler; 0: there is none */
    uint64_t component_count; /* written after the component */
    struct readings_component components[READINGS_COMPONENTS];
    struct readings_event events[READINGS_EVENTS];
    struct readings_value values[READINGS_EVENTS];
};

/* For the node sampler. One thread at a time. */

/** Begin: nothing is in it. Readings of the node sampler before are forgotten. */
void readings_page_begin(struct readings_page *page, uint64_t life);

/** It is not written any more; waiting readers are woken. */
void readings_page_end(struct readings_page *page);

/**
 * Add a component of an open reader.
 * @return its number; -1 with errno ENOSPC: it has no place, EINVAL: its name is too long
 */
int readings_page_add(struct readings_page *page, const char *name,
                      const struct apapi_reader *reader);

/** Take a component away: its events are others now. */
void readings_page_withdraw(struct readings_page *page, int number);

/** Write a reading, of all events of the component, and wake those who wait. */
void readings_page_write(struct readings_page *page, int number,
                         const struct apapi_reading *readings, uint64_t begin_ns, uint64_t end_ns);

/* For those who read. Nothing in the page is relied on. */

/** @return which node sampler writes it; 0: none. */
uint64_t readings_page_life(const struct readings_page *page);

/** @return whether it is a page of this version that a node sampler writes. */
bool readings_page_is_valid(const struct readings_page *page);

/** @return the number of a component that has readings; -1: it is not there. */
int readings_page_find(const struct readings_page *page, const char *name);

/** Copy an event of a component. @return false: that is no event. */
bool readings_page_event(const struct readings_page *page, int number, size_t index,
                         struct apapi_event *event);

/** The awaited reading. */
struct readings_wanted {
    int number;           /* the component */
    uint64_t life;        /* the page's, when it was opened */
    size_t count;         /* of events */
    uint64_t since_ns;    /* the reading begins at this time or later */
    uint64_t deadline_ns; /* and is there by this time */
};

/**
 * Wait for a reading. Neither allocates nor locks.
 * @param readings   result: wanted->count of them
 * @param times_ns   result: its begin and its end
 * @return 0, or ETIMEDOUT; ESTALE: another node sampler writes the page, or none, or the component
 * is gone
 */
int readings_page_await(const struct readings_page *page, const struct readings_wanted *wanted,
                        struct apapi_reading *readings, uint64_t times_ns[2]);

#endif
