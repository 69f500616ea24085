/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_MERGE_PARTS_H
#define APAPI_SUM_MERGE_PARTS_H
#include <sys/types.h>

#include "apapi/record.h"
#include "sum/merge_node.h"

/*
 * Records are added up as they come. Of each node only what the report says of single nodes is
 * kept, so that a step of 10 000 nodes takes no more than a few MiB.
 */

/** All nodes, found by name. */
struct merge_nodes {
    struct merge_node **slots; /* a hash table; NULL: free */
    size_t room;               /* of slots, a power of two */
    size_t count[MERGE_AWAITED + 1];
};

/** One domain on all nodes of a step. */
struct merge_domain {
    size_t nodes; /* on so many it was measured */
    double energy_j;
    struct apapi_summary power_w; /* p95: NaN with more than one node */
    double uncertainty_j;         /* sum of the nodes' own */
    uint64_t bin_ns; /* min and max are of means over that long of what all nodes drew together
                        [ns]; 0: they are the nodes' own, added up: bounds of the step's */
};

/** All domains that add up. */
struct merge_total {
    struct merge_domain sum; /* nodes: of the domain that has fewest; min, max: NaN without bin_ns;
                                uncertainty_j: NaN if a domain's is not known */
    bool partial;            /* something is missing on some of the nodes */
};

/** What has been added up of a domain. */
struct merge_sum {
    struct merge_domain own; /* without bin_ns */
    size_t timelines;        /* nodes that have one */
    struct apapi_timeline_sum timeline;
    int64_t last_start_ns, first_end_ns; /* while they are all there [ns since 1970] */
};

/** One event on all nodes of the step. */
struct merge_event {
    struct apapi_event event;
    uint32_t hash;
    size_t nodes; /* on so many it was counted */
    double total;
    double weighted; /* mean x covered time, added up */
    double covered_s;
    double min;
    double max;
};

struct merge_events {
    struct merge_event *rows;
    size_t count;
    size_t capacity;
    size_t next; /* where the next one is likely found: all nodes have the same order */
    bool full;   /* there are more, which are not counted */
};

/** In the order in which they are told. */
enum merge_note_kind {
    MERGE_NOTE_COMPONENT,
    MERGE_NOTE_ABSENT,
    MERGE_NOTE_INCOMPLETE,
    MERGE_NOTE_STUCK,
    MERGE_NOTE_UNWRITTEN,
    MERGE_NOTE_KINDS
};

/** The same thing said of one or several nodes. */
struct merge_note {
    enum merge_note_kind kind;
    const char *subject; /* "": the nodes themselves */
    const char *verdict; /* static storage */
    const char *reason;
    char *texts;      /* where subject and reason are */
    uint64_t outages; /* with their length on all nodes together; 0: the verdict says it all */
    uint64_t outage_ns;
    size_t index; /* in the record of the first node */
    const struct merge_node *first;
    const char **names; /* of the nodes, borrowed from them */
    size_t named, room;
    size_t nodes; /* including those that are not named */
};

struct merge_notes {
    struct merge_note *notes;
    size_t count;
    size_t capacity;
    size_t last;  /* the one found last: most likely also the next */
    size_t named; /* of all notes */
    bool full;    /* there are more, which are not counted */
};

/** Least and greatest; NaN: none so far. */
struct merge_span {
    double least;
    double most;
};

#define MERGE_COMPONENTS_MAX 64

struct merge_component {
    char name[APAPI_COMPONENT_SIZE];
    char source[64];
    size_t nodes; /* on so many it was measured from there */
};

struct apapi_merge {
    struct merge_nodes nodes;
    struct apapi_record only;   /* of the first node, until there is a second */
    struct apapi_identity id;   /* what all records agree on; tasks, cores and gpus are sums */
    struct apapi_ending ending; /* of all tasks; unknown where it is so of a node */
    int64_t start_unix_ns, end_unix_ns; /* the first start, the last end; 0 without records */
    uint64_t cpu_ns;                    /* of all samplers */
    uint32_t expected;                  /* nodes of the step, as the records say */
    double elapsed_s;                   /* the longest; NaN without records */
    uint64_t window_ns;                 /* the shortest time that has a power; 0: not known */
    const struct merge_node *latest;
    uint64_t late_ns; /* of the latest */
    struct merge_span covered_pct, samples;
    struct apapi_incidents incidents;
    uint64_t missed;
    struct merge_component components[MERGE_COMPONENTS_MAX]; /* measured ones, each once */
    size_t component_count;
    struct merge_sum sums[APAPI_DOMAINS];
    struct merge_events events;
    struct merge_notes notes;
    bool no_memory; /* something is missing in it */
};

/**
 * All nodes that are not awaited, those with a record first, in the order of their index.
 * @param nodes  result, borrowed from `merge`; the array is freed with free(); set on success only
 * @return how many have a record; -1 with ENOMEM.
 */
ssize_t merge_nodes(const struct apapi_merge *merge, const struct merge_node ***nodes);

/** Whose measurement it is, when it was and how it ended: keep what all records have in common. */
void merge_common_add(struct apapi_merge *merge, const struct apapi_record *record);

/** Add what a record says of the domains. */
void merge_sums_add(struct merge_sum sums[APAPI_DOMAINS], const struct apapi_measurement *m);

/** A domain of all nodes. Nothing measured: all NaN. */
void merge_domain(const struct apapi_merge *merge, enum apapi_domain domain,
                  struct merge_domain *result);

/** All domains that add up, of all nodes. Nothing measured: all NaN. */
void merge_total(const struct apapi_merge *merge, struct merge_total *total);

/** Nodes of the step, with or without a record, as far as it is known. */
size_t merge_expected(const struct apapi_merge *merge);

/**
 * Extremes of all domains that add up, of all nodes together.
 * @param power_w  min and max are set on success only
 * @return the width of the bins [ns]; 0: not known.
 */
uint64_t merge_total_extremes(const struct apapi_merge *merge, struct apapi_summary *power_w);

/** Add a record's events. 0; -1 with ENOMEM. */
int merge_events_add(struct merge_events *events, const struct apapi_measurement *m);

void merge_events_clear(struct merge_events *events);

/** Note what is not as it should be, and in the node why. 0; -1 with ENOMEM. */
int merge_notes_add(struct merge_notes *notes, const struct apapi_record *record,
                    struct merge_node *node);

/** Note that a node has no record, and in the node why. 0; -1 with ENOMEM. */
int merge_notes_absent(struct merge_notes *notes, struct merge_node *node, const char *reason);

/**
 * All notes by kind, those of a kind in the order of the nodes and of their records.
 * @return to be freed with free(), the notes are borrowed; NULL with ENOMEM.
 */
const struct merge_note **merge_notes_sorted(const struct merge_notes *notes);

void merge_notes_clear(struct merge_notes *notes);

#endif
