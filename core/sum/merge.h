/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_MERGE_H
#define APAPI_SUM_MERGE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/record.h"
#include "measure/domain.h"
#include "sum/members.h"
#include "sum/sum.h"

/*
 * A step on all its nodes: the sum of the records, and all other contents of the step's report.
 * Records are added up as they arrive, and little is kept of each record: a step of 10 000 nodes
 * takes no more than a few MiB.
 */

enum merge_state { MERGE_RECORDED, MERGE_ABSENT, MERGE_AWAITED };

/** A node of the step. */
struct merge_node {
    enum merge_state state;
    uint32_t index; /* within the step; APAPI_UNKNOWN: not known, or no record */
    uint32_t piece; /* number of its record's piece in the store; POOL_NONE: no record */
    uint32_t note;  /* number of the note that says why no complete record exists; POOL_NONE */
    double total_j, uncertainty_j; /* NaN: not known */
    double covered;                /* share of the time, 0..1; NaN: not known */
    char name[];
};

/** All nodes. */
struct merge_nodes {
    struct pool names;
    struct merge_node **list; /* by number of the name in `names` */
    size_t room;
    size_t count[MERGE_AWAITED + 1];
};

/** The keys of rows. Their number is limited: no report shows more than a few hundred rows. */
struct merge_rows {
    struct pool keys;
    size_t room;
    bool full; /* there were more rows, which are left out */
};

/** A component with one of its sources. */
struct merge_component {
    struct apapi_component_result first; /* as the first node has it, without its events */
    size_t nodes;                        /* on which it was measured with this source */
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

/** One threshold on all nodes that crossed it. */
struct merge_crossing {
    struct apapi_crossing first; /* the earliest; its count is that of all nodes */
    int64_t last_unix_ns;
    size_t nodes;
    const struct merge_node *first_node;
};

/** The kinds of notes, in the order of the report. */
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
    const char *verdict;                /* static storage */
    uint32_t subject_text, reason_text; /* in store.texts */
    const char *subject, *reason;       /* set by merge_notes_sorted(); "": the nodes; no reason */
    uint64_t outages; /* on all nodes together, with their total length; 0: not shown */
    uint64_t outage_ns;
    size_t index; /* position in the record of the first node */
    const struct merge_node *first;
    char **names; /* of the nodes, borrowed */
    size_t named, room;
    size_t nodes; /* including nodes that are not named */
};

/** Minimum and maximum; NaN: none so far. */
struct merge_span {
    double least;
    double most;
};

/** Powers and coverage of a domain. They can be combined only for records of one step. */
struct merge_domain_sum {
    size_t nodes;
    struct apapi_summary power_w; /* min, max: sums of the nodes'; mean, p95: the last node's */
    double rest_j;
    double covered_ns; /* how much of due_ns is covered; NaN: not known of all nodes */
    double due_ns;     /* the nodes' times from their requests to start, added up */
    size_t timelines;  /* nodes that have one */
    struct apapi_timeline_sum timeline;
};

struct apapi_merge {
    struct sum_store store; /* without curves */
    struct namelist lines;  /* lines of the records, kept by the reader of the records */
    struct merge_nodes nodes;
    struct apapi_identity id;   /* what all records agree on; tasks, cores and gpus are sums */
    struct apapi_ending ending; /* of all tasks; unknown if one node's is unknown */
    int64_t start_unix_ns, end_unix_ns; /* first start and last end; 0 without records */
    uint64_t cpu_ns;                    /* of all samplers */
    uint32_t expected;                  /* nodes of the step according to the records */
    uint64_t elapsed_ns;                /* the longest; 0 without records */
    uint64_t window_ns;                 /* the shortest time that has a known power; 0: unknown */
    const struct merge_node *latest;    /* node with the greatest late_ns */
    uint64_t late_ns;                   /* of the latest node */
    struct merge_span covered, samples; /* covered: share of the time, 0..1 */
    struct apapi_incidents incidents;
    uint64_t missed;
    struct merge_domain_sum domains[APAPI_DOMAINS];
    struct merge_rows component_rows, event_rows, crossing_rows, note_rows;
    struct merge_component *components; /* all measured ones; the lists are in order of arrival */
    struct merge_event *events;
    struct merge_crossing *crossings;
    struct merge_note *notes;
    size_t named; /* number of names in all notes */
    struct region_sums regions;
    struct share_sum share;
    bool no_memory; /* memory was lacking: something was not added */
};

/** One domain on all nodes of a step. */
struct merge_domain {
    size_t nodes; /* on which it was measured */
    double energy_j;
    struct apapi_summary power_w; /* mean: energy by time; p95: NaN with more than one node; min
                                     and max: NaN where the mean contradicts them */
    double uncertainty_j;         /* sum of the nodes' own */
    uint64_t bin_ns; /* min and max are mean powers, over at least this time, of all nodes together
                        that were measured then [ns]; 0: min and max are sums of the nodes' own
                        extremes, which are bounds of the step's power while all nodes run */
    double covered;  /* part of these nodes' time that energy_j covers, 0..1; NaN: not known */
    double rest_j;   /* estimate for the other part of the time; NaN: one node has none */
    size_t unknown;  /* nodes that have meters for the domain, but no known energy */
};

/** The figures of a step. */
struct merge_result {
    struct merge_domain domains[APAPI_DOMAINS]; /* all NaN if nothing was measured */
    struct merge_domain total; /* of the domains that add up. nodes: of the domain with the fewest;
                                  min, max: NaN without bin_ns; uncertainty_j: NaN if that of one
                                  domain is not known; covered: the least one of a domain */
    uint32_t missing;          /* bits of the domains that are not known on all nodes */
    double busy_s; /* time in which at least one node was measured [s]; NaN: none was. Mean powers
                      are energies divided by this time */
    const struct merge_node **nodes; /* those with a record by index, then those without */
    size_t recorded, present;        /* number of those with a record, and of all in `nodes` */
    size_t expected;                 /* nodes of the step with or without a record, if known */
};

/** Add the crossings of a record, whose node was added before. @return 0; -1 with errno ENOMEM. */
int merge_add_crossings(struct apapi_merge *merge, const struct apapi_record *record);

/**
 * Compute the figures of the step.
 * @param result  valid until the next record; free `nodes` with free(). Set on success only
 * @return 0; -1 with errno ENOMEM.
 */
int merge_work_out(const struct apapi_merge *merge, struct merge_result *result);

/**
 * All notes sorted by kind, then by node and position in the record.
 * @return free it with free(), the texts are borrowed; NULL with ENOMEM.
 */
struct merge_note *merge_notes_sorted(const struct apapi_merge *merge);

#endif
