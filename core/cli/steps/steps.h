/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STEPS_VIEW_H
#define APAPI_STEPS_VIEW_H
#include <stdio.h>

#include "apapi/live.h"
#include "apapi/record.h"
#include "cli/query.h"

/* A snapshot of the steps that run on this machine. */

#define TOP_TOTAL APAPI_DOMAIN_NONE        /* index of the sum of the domains that add up */
#define TOP_STALE_NS UINT64_C(10000000000) /* older is stale, but for three intervals [ns] */

/** Figures of a domain, from live pages. */
struct top_figure {
    bool measured;
    bool estimated;
    bool failed;          /* the latest reading of the meter, or of one of several, failed */
    bool stale;           /* not read for so long that the value may have changed */
    double now;           /* [W], [unit/s], or a gauge's value; NaN: unknown */
    double total;         /* [J], or in the event's unit; NaN: unknown */
    double uncertainty_j; /* of `total`, if that is an energy; NaN: unknown */
    double age_s;         /* time since the latest good reading [s]; NaN: none */
};

/** A step on a node. */
struct top_step {
    struct apapi_identity id;
    char name[64]; /* "17_3.0" */
    enum apapi_live_state state;
    int64_t start_unix_ns; /* 0: not known */
    double elapsed_s;      /* NaN: the step has not started */
    struct top_figure domains[APAPI_DOMAINS];
    char (*gpu_meters)[APAPI_NAME_SIZE]; /* names of events that tell which GPUs are the step's */
    size_t gpu_meter_count;
};

/** The meters of a node. Each meter counts once, even if several steps show it. */
struct top_node {
    char name[APAPI_TEXT_SIZE];
    size_t steps;
    struct top_figure domains[APAPI_DOMAINS];
};

struct top_view {
    int64_t unix_ns;  /* time of the snapshot */
    uint64_t mono_ns; /* time of the snapshot, by CLOCK_MONOTONIC */
    struct top_step *steps;
    size_t count, room;
    struct top_node *nodes;
    size_t node_count;
    struct apapi_live_counts counts;
};

enum top_sort { TOP_BY_JOB, TOP_BY_POWER, TOP_BY_ENERGY, TOP_BY_TIME };

/** Add a page to the view: a function for apapi_live_scan(). @return 0; -1 with errno ENOMEM. */
int top_add(struct top_view *view, const struct apapi_live_page *page);

/** @return whether the query wants the page's step. */
bool top_wants(const struct query *query, const struct apapi_live_page *page);

/**
 * Add up the nodes, and sort the steps. Call it after all pages were added. Sorted by power, energy
 * or time, the greatest value is first, unknown ones last. @return 0; -1 with errno ENOMEM.
 */
int top_work_out(struct top_view *view, enum top_sort sort);

/** Free what the view owns, and empty it. */
void top_clear(struct top_view *view);

#endif
