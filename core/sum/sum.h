/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_SUM_H
#define APAPI_SUM_SUM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"
#include "apapi/record.h"
#include "base/names.h"

/*
 * The way from records to a figure. A store keeps a few hundred bytes of each record, and its
 * curves of power over time. The caller chooses the records of a sum: those of a step, a job, a
 * node or a day of a job. Each moment of a node counts once in a sum, with the power of the record
 * that knows most of that moment. A record without a curve is taken to have its mean power all the
 * time; the uncertainty includes how wrong that may be.
 */

#define SUM_NO_CURVE UINT32_MAX
#define SUM_KNOWN_ALL 1000

/** The figures of one domain of a piece. */
struct sum_domain {
    double energy_j;
    double uncertainty_j; /* of energy_j; NaN: unknown */
    double whole_j;       /* energy, if the unknown time had the same power as the known time */
    float swing_w;        /* greatest power less the least; 0: not known */
    float covered;        /* as the record says, 0..1; NaN, 0: not known */
    uint32_t curve;       /* where the curve is in store->curves; SUM_NO_CURVE */
    uint16_t known;       /* part of the time that is known, 0..SUM_KNOWN_ALL */
    uint8_t domain;
    bool drawn; /* the record has a curve, which is not kept if it has no energy */
};

/** A record, or the part of a record in a time. Texts are numbers in store->texts. */
struct sum_piece {
    int64_t start_ns; /* UTC since 1970 [ns], >= 0; start_ns + elapsed_ns <= INT64_MAX */
    uint64_t elapsed_ns;
    uint64_t before_ns; /* time of the record before the piece */
    uint64_t whole_ns;  /* time of the whole record; elapsed_ns is that of the piece */
    uint64_t monotonic_ns;
    uint64_t late_ns;   /* how long the step ran before the piece */
    uint64_t digest;    /* set by the caller, see record_twin_compare(); 0: not known */
    uint64_t window_ns; /* the shortest time that has a known power; 0: not known */
    uint64_t gpus;      /* GPUs that its GPU energy is of, see record_gpus(); unknown: all bits */
    uint32_t cluster, node, step, boot;
    uint32_t reason;   /* why the record is incomplete; POOL_NONE: it is complete */
    uint32_t nodelist; /* of its step, a text of store->nodelists; POOL_NONE: not known */
    uint32_t job, nodes, cores, node_cores; /* APAPI_UNKNOWN */
    uint32_t job_nodes;                     /* as the job's batch step says; APAPI_UNKNOWN */
    uint32_t restarts;                      /* of the job before this run; APAPI_UNKNOWN */
    uint32_t code, signal;                  /* how its tasks ended; APAPI_UNKNOWN */
    uint32_t domain_at;                     /* index of its first domain in store->domains */
    uint32_t mark;                          /* for the caller's use */
    float covered;                          /* 0..1; NaN: not known */
    float max_w;                            /* of its domains that add up; NaN: unknown */
    uint8_t domain_count;
    uint8_t unknown_domains; /* bit d: the domain has meters, but no known energy */
    bool delayed;
    bool exclusive; /* its share is the whole node */
    bool shareless; /* shares are wanted, and the record has none */
    bool has_idle;  /* shares are wanted, and its share includes idle power, which was not known */
};

/** The common part of sums. At the start, all of it is zero except the settings. */
struct sum_store {
    bool shares;      /* setting: energies are the shares of steps in their nodes' energy */
    bool mixed;       /* setting: a sum has records of many jobs on one node. There are no runs;
                         the elapsed time is that with a record */
    bool lists;       /* setting: keep the lists of nodes, as far as there is room */
    size_t curve_max; /* setting: most bytes of all curves; 0: no limit. With more, no curve is
                         kept, so that no figure depends on the order of the records */
    bool curveless;   /* no curve is kept: there were too many, or the caller wants none */
    struct namelist asked; /* nodes whose records were read, see sum_ask(); empty: all nodes */
    struct pool texts, nodelists;
    struct sum_piece *pieces;
    size_t piece_count, piece_room;
    struct sum_domain *domains;
    size_t domain_count, domain_room;
    float *curves; /* packed, see sum_put_curve() */
    size_t curve_count, curve_room;
};

/** A time [ns since 1970]. A span that ends before it begins is empty. */
struct span {
    int64_t start_ns, end_ns;
};

/**
 * Add a record, as the store's last piece.
 * @param part  of the record that is added; NULL: all of it
 * @return 0; -1 with errno ENOMEM.
 */
int sum_add(struct sum_store *store, const struct apapi_record *record, const struct span *part);

/**
 * Note that only records of these nodes are added: no other node counts as missing in a sum.
 * @param nodes  a host list; NULL: all
 * @return 0; -1 with errno ENOMEM.
 */
int sum_ask(struct sum_store *store, const char *nodes);

/** Free what the store has, and set it to zeros. */
void sum_free(struct sum_store *store);

/** A piece while it is added up. Texts are valid until the store gets another record. */
struct sum_entry {
    const struct sum_piece *piece;
    const char *cluster, *node, *step;
    const char *boot;    /* "": not known */
    uint32_t job, nodes; /* of the step; after sum_align(), of its run; APAPI_UNKNOWN */
    uint32_t restarts;   /* of the job before this run; APAPI_UNKNOWN; see sum_align() */
    int64_t start_ns;    /* UTC since 1970 [ns], >= 0; with elapsed_ns at most INT64_MAX */
    int64_t end_ns;
    int64_t jumped_ns; /* result: how far the node's clock has jumped since its first record */
    int64_t apart_ns;  /* result: how far the node's clock is ahead of the other nodes' */
    int64_t until_ns;  /* see sum_find_ends() */
    uint32_t number;   /* number of the node's boot, in sum_align() */
    const struct sum_domain *domain; /* while a domain is added up; NULL: not known */
    bool used;
};

/** The pieces of a sum, each once. Of a record that came twice, only one piece is kept. */
struct sum_entries {
    struct sum_entry *list;
    size_t count;
};

/** @return the numbers of all pieces, for free(). NULL with errno ENOMEM. */
uint32_t *sum_numbers(const struct sum_store *store);

/**
 * @param numbers  of `count` pieces; NULL: the first `count` pieces
 * @param entries  result, sorted by step, node and start; free its list with free()
 * @return 0; -1 with errno ENOMEM.
 */
int sum_gather(const struct sum_store *store, const uint32_t *numbers, size_t count,
               struct sum_entries *entries);

/**
 * Add up the entries. Sets their place in time and their run, and sorts them by node and time.
 * @param total  result; set on success only
 * @return 0; -1 with errno ENOMEM.
 */
int sum_total(const struct sum_store *store, struct sum_entries *entries,
              struct apapi_job_total *total);

/**
 * Put entries where they belong in time, find their runs, and add these up. sum_total() does it.
 * Clocks jump, and clocks of two nodes differ. The time since a node's boot has neither problem. So
 * the start of records is moved, so that
 * - records of one boot of a node are as far apart as their times since the boot,
 * - records of different boots of a node do not overlap,
 * - a step begins on all its nodes within TIMING_APART_NS.
 * Records that do not know their boot stay as they are. Batch steps and records that know their run
 * tell the runs; without them, a step that comes again on its node. Other records are of the last
 * run that had begun when they ended. Waiting between two runs does not count.
 * @param entries  sets `restarts`, `nodes` and the results; sorts them by node and time
 * @param total    sets runs, at least one, job_nodes, elapsed_ns and node_s
 * @return 0; -1 with errno ENOMEM: some records may have been moved
 */
int sum_align(const struct sum_store *store, struct sum_entries *entries,
              struct apapi_job_total *total);

/** Note before sum_total() that these are all entries of a job: nodes without a step count, too. */
void sum_of_job(struct sum_entries *entries);

/** What entries are sorted by. Names of nodes and steps have the order n2, n10. */
enum sum_key {
    SUM_KEYS_END,
    SUM_NODE,
    SUM_STEP,
    SUM_CLUSTER,
    SUM_BOOT,       /* "", not known, first */
    SUM_JOB,        /* of the entry */
    SUM_RECORD_JOB, /* of its record, also if the jobs are mixed */
    SUM_RUN,
    SUM_BATCH,     /* batch steps first */
    SUM_KNOWN_RUN, /* those that know their run first */
    SUM_START,
    SUM_END,      /* the latest first */
    SUM_UPTIME,   /* time since the node's boot */
    SUM_COMPLETE, /* complete ones first */
    SUM_TWIN      /* of the same record, the one that counts first */
};

/** A list of keys, the most important first. */
#define SUM_KEYS(...) ((const enum sum_key[]){__VA_ARGS__, SUM_KEYS_END})

/** Sort entries. `list` may be NULL if there are none. */
void sum_sort(struct sum_entry *list, size_t count, const enum sum_key *keys);

/** @return how many of the first entries are like the first one in all keys; 0: count is 0. */
size_t sum_alike(const struct sum_entry *list, size_t count, const enum sum_key *keys);

/** Set until_ns: the end of the step on all nodes, in the same run. Sorts as sum_total(). */
void sum_find_ends(struct sum_entries *entries);

/**
 * Power over time. A moment of a node counts once, with the record that knows most of it. Between
 * its steps and after the last one, a node adds nothing. While a step runs, each domain that any
 * record of the node has must be known. The node's power is unknown if one of them is not, before a
 * late record begins, and from the end of an incomplete record to its step's end on other nodes.
 */
struct sum_power_request {
    const char *node; /* NULL: the sum over all nodes */
    int domain;       /* APAPI_DOMAIN_NONE: all domains that add up */
    int64_t start_ns, end_ns;
    size_t columns; /* number of equal parts of this time */
};

/**
 * @param entries  sorted by node and start, after sum_find_ends()
 * @param power_w  result: mean power of the columns [W]; NaN: nothing ran, or the power of a node
 *                 that ran is not known
 * @return 0; -1 with errno ENOMEM.
 */
int sum_power(const struct sum_store *store, const struct sum_entries *entries,
              const struct sum_power_request *request, double *power_w);

/** A step with missing records, in one run of its job. */
struct sum_gap {
    const char *step;
    uint32_t restarts;                 /* of the job; 0: none, or not known */
    uint32_t nodes;                    /* of the step */
    size_t count;                      /* of the missing records */
    bool named;                        /* `missing` is known */
    struct namelist recorded, missing; /* sorted names */
};

/** Receives a gap, valid during the call. @return 0; -1 with errno: stop. */
typedef int (*sum_gap_f)(const struct sum_gap *gap, void *context);

/**
 * Visit the steps of one job that have fewer records than nodes. See also sum_ask().
 * @param names  find out which nodes are missing
 * @return 0; -1 with errno ENOMEM, or that of `visit`.
 */
int sum_each_gap(const struct sum_store *store, const struct sum_entries *entries, bool names,
                 sum_gap_f visit, void *context);

/** Get the names of the nodes, sorted and unique. @return 0; -1 with errno ENOMEM. */
int sum_nodes(const struct sum_entries *entries, struct namelist *nodes);

/** See apapi/job.h. */
struct apapi_job {
    struct sum_store store;
    struct sum_entries entries; /* of the last total */
};

/** @return the entries of one node, which are together: those from `first` on. */
static inline struct sum_entries sum_node_at(const struct sum_entries *entries, size_t first)
{
    return (struct sum_entries){
        entries->list + first,
        sum_alike(entries->list + first, entries->count - first, SUM_KEYS(SUM_NODE))};
}

/* --- within core/sum ------------------------------------------------------------------------ */

/** The energy of a node; each moment counts once. */
struct sum_node {
    double energy_j[APAPI_DOMAINS];      /* 0 where nothing is known */
    double uncertainty_j[APAPI_DOMAINS]; /* of that energy; NaN: unknown */
    double whole_j[APAPI_DOMAINS];       /* energy, if all time that has a record were known */
    uint64_t covered_ns[APAPI_DOMAINS];  /* how long the energy is known */
    uint64_t recorded_ns[APAPI_DOMAINS]; /* how long there is a record with the domain */
    uint64_t total_ns;        /* how long all domains that add up and have a record are known */
    uint32_t unknown_domains; /* of any piece */
};

/** @return length of the union of spans [ns]. Sorts the spans. */
double spans_length_ns(struct span *spans, size_t count);

/** The time and the domains of a node that are added up. */
struct sum_extent {
    struct span time;
    uint32_t domains; /* bits */
    bool curves;      /* take only what curves know */
};

/**
 * @param node   entries of one node, sorted by start
 * @param total  result; set on success only
 * @return 0; -1 with errno ENOMEM.
 */
int sum_moments(const struct sum_store *store, const struct sum_entries *node,
                const struct sum_extent *extent, struct sum_node *total);

/** @return the set of domains of a piece. */
uint32_t sum_domains_of(const struct sum_store *store, const struct sum_piece *piece);

/**
 * Keep a curve. If all curves together take more than store->curve_max, none is kept.
 * @param energy_j  of the curve's domain [J]
 * @param failed    set to true if memory is lacking
 * @return where the curve is in store->curves; SUM_NO_CURVE: it is not kept
 */
uint32_t sum_put_curve(struct sum_store *store, const struct apapi_timeline *timeline,
                       double energy_j, bool *failed);

/** @return size of a record's curves in a store that has room for them [bytes] */
size_t sum_curves_size(const struct apapi_record *record);

/**
 * A record that is cut within a bin, or that has no bins, is taken to have the same power on both
 * sides of the cut. In truth it may have had its greatest power on one side, its least on the
 * other.
 * @param bin_ns  0: the record has no bins
 * @return how far the energy of both sides may be wrong [J]
 */
double sum_cut_j(double swing_w, uint64_t bin_ns, uint64_t before_ns, uint64_t after_ns);

#define TIMING_APART_NS INT64_C(600000000000) /* all nodes of a step begin within this time */
#define TIMING_JUMP_NS INT64_C(1000000000)    /* a shorter jump of a clock is not reported */
/** If a job's number comes again after so long without a record, it is another job. */
#define TIMING_SAME_JOB_NS INT64_C(2592000000000000) /* 30 days */

#endif
