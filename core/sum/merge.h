/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_MERGE_H
#define APAPI_SUM_MERGE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/record.h"
#include "measure/domain.h"
#include "sum/members.h"
#include "sum/timing.h"

enum merge_state { MERGE_RECORDED, MERGE_ABSENT, MERGE_AWAITED };

/** The energy and power of a node in a domain. */
struct merge_node_domain {
    float uncertainty_j; /* NaN: not known */
    float covered;       /* share of the time, 0..1; 0, NaN: not known */
    uint8_t domain;
    double energy_j;
};

/** A node of the step. */
struct merge_node {
    enum merge_state state;
    uint32_t index; /* within the step; APAPI_UNKNOWN: not known, or no record */
    double total_j, uncertainty_j; /* NaN: not known */
    double covered; /* share of the time, 0..1; NaN: not known */
    bool incomplete;
    uint8_t domain_count;
    uint32_t unknown_domains;          /* as in struct apapi_measurement */
    struct merge_node_domain *domains; /* those whose energy is known, by number; owned */
    const char *reason; /* why there is no record, or an incomplete one; NULL: not known */
    char name[];
};

/*
 * Records are added up as they arrive. Of each node, only what the report shows of single nodes is
 * kept: a step of 10 000 nodes takes no more than a few MiB.
 */

/** All nodes. */
struct merge_nodes {
    struct pool names;
    struct merge_node **list; /* numbered as their names */
    size_t room;
    size_t count[MERGE_AWAITED + 1];
};

/** One domain on all nodes of a step. */
struct merge_domain {
    size_t nodes; /* on which it was measured */
    double energy_j;
    struct apapi_summary power_w; /* mean: energy by time; p95: NaN with more than one node; min
                                     and max: NaN where the mean contradicts them */
    double uncertainty_j;         /* sum of the nodes' own */
    uint64_t bin_ns; /* min and max are of means over at least that long of what the nodes that
                        were measured then drew together [ns]; 0: they are the nodes' own, added
                        up: bounds of the step's while all nodes run */
    double covered;  /* part of these nodes' time that energy_j is of, 0..1; NaN: not known */
    double rest_j;   /* estimate for the other part; NaN: not asked for on one of them */
    size_t unknown;  /* nodes that have meters for it, and no energy that is known */
};

/** The sum of the domains that add up. */
struct merge_total {
    struct merge_domain sum; /* nodes: of the domain with the fewest; min, max: NaN without bin_ns;
                                uncertainty_j: NaN if one domain's is not known; covered: the
                                least of a domain */
    uint32_t missing;        /* bits of the domains that are not known on all nodes */
};

/** The sum of one domain so far. */
struct merge_sum {
    struct merge_domain own; /* without bin_ns */
    double whole_j;          /* as if no time of a record were unknown */
    double covered_ns;       /* how much of due_ns is covered; NaN: not known of all nodes */
    double due_ns;           /* the nodes' times from their requests to start, added up */
    size_t timelines;        /* nodes that have one */
    struct apapi_timeline_sum timeline;
};

/** One event on all nodes of the step. */
struct merge_event {
    struct apapi_event event;
    size_t nodes; /* on which it was counted */
    double total;
    double weighted; /* sum of mean x covered time */
    double covered_s;
    double min;
    double max;
};

struct merge_events {
    struct pool keys;
    struct merge_event *rows; /* numbered as their keys */
    size_t count, capacity;
    bool full; /* there were more, which are not counted */
};

/** In the order of the report. */
enum merge_note_kind {
    MERGE_NOTE_COMPONENT,
    MERGE_NOTE_ABSENT,
    MERGE_NOTE_INCOMPLETE,
    MERGE_NOTE_STUCK,
    MERGE_NOTE_UNWRITTEN,
    MERGE_NOTE_CROSSING, /* no problem: a threshold of the user */
    MERGE_NOTE_KINDS
};

/** The same problem, or crossing of a threshold, on one or several nodes. */
struct merge_note {
    enum merge_note_kind kind;
    const char *subject; /* "": the nodes themselves */
    const char *verdict; /* static storage */
    const char *reason;
    char *texts;      /* memory of subject and reason */
    uint64_t outages; /* on all nodes together, with their total length; 0: not shown */
    uint64_t outage_ns;
    size_t index; /* in the record of the first node */
    const struct merge_node *first;
    const char **names; /* of the nodes, borrowed */
    size_t named, room;
    size_t nodes; /* including nodes that are not named */
};

struct merge_notes {
    struct merge_note *notes;
    size_t count;
    size_t capacity;
    size_t last;  /* last note found: probably also the next */
    size_t named; /* of all notes */
    bool full;    /* there were more, which are not counted */
};

/** One threshold on all nodes that crossed it. */
struct merge_crossing {
    struct apapi_crossing first; /* the earliest; its count is that of all nodes */
    int64_t last_unix_ns;
    size_t nodes;
    const struct merge_node *first_node;
};

struct merge_crossings {
    struct merge_crossing *rows; /* in the order of the records */
    size_t count, capacity;
};

/** Minimum and maximum; NaN: none so far. */
struct merge_span {
    double least;
    double most;
};

#define MERGE_COMPONENTS_MAX 64

struct merge_component {
    char name[APAPI_COMPONENT_SIZE];
    char source[64];
    size_t nodes; /* on which it was measured with this source */
};

struct apapi_merge {
    struct merge_nodes nodes;
    struct apapi_record only;   /* of the first node, until there is a second one */
    struct apapi_identity id;   /* what all records agree on; tasks, cores and gpus are sums */
    struct apapi_ending ending; /* of all tasks; unknown if one node's is unknown */
    int64_t start_unix_ns, end_unix_ns; /* first start and last end; 0 without records */
    uint64_t cpu_ns;                    /* of all samplers */
    uint32_t expected;                  /* nodes of the step according to the records */
    uint64_t elapsed_ns;                /* the longest; 0 without records */
    uint64_t window_ns;                 /* the shortest time that has a power; 0: not known */
    const struct merge_node *latest;
    uint64_t late_ns; /* of the latest node */
    struct merge_span covered_pct, samples;
    struct apapi_incidents incidents;
    uint64_t missed;
    struct merge_component components[MERGE_COMPONENTS_MAX]; /* all measured ones */
    size_t component_count;
    struct merge_sum sums[APAPI_DOMAINS];
    struct busy busy[2]; /* of nodes that measured a domain that does not add up, that does */
    struct merge_events events;
    struct merge_notes notes;
    struct merge_crossings crossings;
    struct region_sums regions;
    struct share_sum share;
    bool no_memory; /* it is incomplete */
};

/**
 * All nodes that are not awaited: those with a record first, sorted by index.
 * @param nodes  result, borrowed from `merge`; free the array with free(); set on success only
 * @return number of nodes with a record; -1 with ENOMEM.
 */
ssize_t merge_nodes(const struct apapi_merge *merge, const struct merge_node ***nodes);

/** Add what a record says of the domains. @return 0; -1 with errno ENOMEM. */
int merge_sums_add(struct apapi_merge *merge, const struct apapi_measurement *m);

/**
 * @return the time by which the step's energy is divided for its mean power: that in which at least
 *         one node was measured [s]; NaN: none was.
 */
double merge_busy_s(const struct apapi_merge *merge);

/** The sum of a domain over all nodes. All NaN if nothing was measured. */
void merge_domain(const struct apapi_merge *merge, enum apapi_domain domain,
                  struct merge_domain *result);

/** The sum of the domains that add up over all nodes. All NaN if nothing was measured. */
void merge_total(const struct apapi_merge *merge, struct merge_total *total);

/** Number of nodes of the step with or without a record, as far as known. */
size_t merge_expected(const struct apapi_merge *merge);

/**
 * Extremes of the sum of the domains that add up over all nodes.
 * @param power_w  mean, or NaN; min and max are set on success only, NaN where the mean contradicts
 * @return the least width of the windows [ns]; 0: not known.
 */
uint64_t merge_total_extremes(const struct apapi_merge *merge, struct apapi_summary *power_w);

/**
 * All notes sorted by kind, then by node and position in the record.
 * @return free it with free(), the notes are borrowed; NULL with ENOMEM.
 */
const struct merge_note **merge_notes_sorted(const struct merge_notes *notes);

#endif
