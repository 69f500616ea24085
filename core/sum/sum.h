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
 * The way from records to a figure. A store keeps of each record a few hundred bytes and its
 * curves. A sum is of any of them: those of a step, a job, a node, a day of a job, as its caller
 * chooses. Each moment of a node counts once in it, by the record that knows most of that moment
 * and by its power over time. A record without a curve is taken to have its mean power all the
 * time, and the uncertainty has what that may be wrong.
 */

#define SUM_NO_CURVE UINT32_MAX
#define SUM_KNOWN_ALL 1000

/** A piece's figures of a domain. */
struct sum_domain {
    double energy_j;
    double uncertainty_j; /* of energy_j; NaN: unknown */
    double whole_j;       /* as if no time of its record were unknown, but like the rest */
    float swing_w;        /* how far its power leaves the mean; 0: not known */
    float covered;        /* as its record says, 0..1; NaN, 0: not known */
    uint32_t curve;       /* where it is in the store; SUM_NO_CURVE */
    uint16_t known;       /* part of the time, 0..SUM_KNOWN_ALL */
    uint8_t domain;
    bool drawn; /* its record has a curve; without energy, that is not kept */
};

/** A record, or its part in a time. Numbers of texts are those of store->texts. */
struct sum_piece {
    int64_t start_ns; /* UTC since 1970 [ns], >= 0; `elapsed_ns` later is not beyond INT64_MAX */
    uint64_t elapsed_ns;
    uint64_t before_ns; /* of the record before the piece */
    uint64_t whole_ns;  /* of the record; elapsed_ns may be of a part */
    uint64_t monotonic_ns;
    uint64_t late_ns;   /* its step ran for so long before it */
    uint64_t digest;    /* the caller's, see record_twin_compare(); 0 */
    uint64_t window_ns; /* the shortest time that has a power; 0: not known */
    uint64_t gpus;      /* of its energy of GPUs, see record_gpus(); not known: all bits */
    uint32_t cluster, node, step, boot;
    uint32_t reason;   /* why it is incomplete; POOL_NONE: it is complete */
    uint32_t nodelist; /* of its step, a text of store->nodelists; POOL_NONE: not known */
    uint32_t job, nodes, cores, node_cores; /* APAPI_UNKNOWN */
    uint32_t job_nodes;                     /* by the job's batch step; APAPI_UNKNOWN */
    uint32_t restarts;                      /* of the job before this run; APAPI_UNKNOWN */
    uint32_t code, signal;                  /* how its tasks ended; APAPI_UNKNOWN */
    uint32_t domain_at;                     /* in store->domains */
    uint32_t mark;                          /* the caller's */
    float covered;                          /* 0..1; NaN */
    float max_w;                            /* of its domains that add up; NaN: unknown */
    uint8_t domain_count;
    uint8_t unknown_domains; /* bit d: it has meters, and is not known */
    bool delayed;
    bool exclusive; /* its share is all of the node */
    bool shareless; /* shares are wanted, and it has none */
    bool has_idle;  /* they are, and its share has idle power in it, as that was not known */
};

/** The common part of sums. All zero but for the settings at the start. */
struct sum_store {
    bool shares;      /* setting: energies are what steps were given of their nodes' */
    bool mixed;       /* setting: sums have records of many jobs */
    bool lists;       /* setting: keep the lists of nodes, as far as there is room */
    size_t curve_max; /* setting: bytes of all curves; 0: no limit. Beyond it there are none, so
                         that no figure depends on the order of the records */
    bool curveless;   /* there were too many */
    struct namelist asked; /* of nodes: only their records were read, see sum_ask(); empty: all */
    struct pool texts, nodelists;
    struct sum_piece *pieces;
    size_t piece_count, piece_room;
    struct sum_domain *domains;
    size_t domain_count, domain_room;
    float *curves; /* packed */
    size_t curve_count, curve_room;
};

/** A part of a record in time. */
struct sum_part {
    int64_t start_ns;
    uint64_t elapsed_ns;
};

/**
 * Add a record, as the store's last piece.
 * @param part  of it; NULL: the whole
 * @return 0; -1 with errno ENOMEM.
 */
int sum_add(struct sum_store *store, const struct apapi_record *record,
            const struct sum_part *part);

/**
 * Only records of these nodes are added: the sums are theirs, and no other node is missing.
 * @param nodes  a host list; NULL: all
 * @return 0; -1 with errno ENOMEM.
 */
int sum_ask(struct sum_store *store, const char *nodes);

/** Free what it has. It is empty then, with the same settings, for all nodes. */
void sum_free(struct sum_store *store);

/** A piece while it is added up. Texts are valid until the store gets another record. */
struct sum_entry {
    const struct sum_piece *piece;
    const char *cluster, *node, *step;
    const char *boot;    /* "": not known */
    uint32_t job, nodes; /* of the step, by timings_sum() of its run; APAPI_UNKNOWN: not known */
    uint32_t restarts;   /* of the job before this run; APAPI_UNKNOWN; see timings_find_runs() */
    int64_t start_ns;    /* UTC since 1970 [ns], >= 0; `elapsed_ns` later is not beyond INT64_MAX */
    int64_t end_ns;
    int64_t jumped_ns; /* result: how far the node's clock has jumped since its first record */
    int64_t apart_ns;  /* result: how far the node's clock is ahead of the other nodes' */
    int64_t until_ns;  /* see sum_find_ends() */
    uint32_t number;   /* of its node's boot, while they are aligned */
    const struct sum_domain *domain; /* while a domain is added up; NULL: not known */
    bool used;
};

/** The pieces of a sum, each once; of a record that came twice the one to keep. */
struct sum_entries {
    struct sum_entry *list;
    size_t count;
};

/** @return a copy of numbers of pieces; NULL stands for the first ones. NULL with errno ENOMEM. */
uint32_t *sum_numbers(const uint32_t *numbers, size_t count);

/** Sort by step, node and start, and keep one of each record. @return how many there are */
size_t sum_unique(const struct sum_store *store, uint32_t *numbers, size_t count);

/**
 * @param numbers  of pieces; NULL: the first ones
 * @param entries  result, sorted by step, node and start; free its list with free()
 * @return 0; -1 with errno ENOMEM.
 */
int sum_gather(const struct sum_store *store, const uint32_t *numbers, size_t count,
               struct sum_entries *entries);

/**
 * Add up. The entries get their place in time and their run, and are sorted by node and time then.
 * @param total  result; set on success only
 * @return 0; -1 with errno ENOMEM.
 */
int sum_total(const struct sum_store *store, struct sum_entries *entries,
              struct apapi_job_total *total);

/** These are all of a job: its nodes count, also those that no step had. Before sum_total(). */
void sum_of_job(struct sum_entries *entries);

/** Set until_ns: the end of the step on all nodes, in the same run. Sorts as sum_total(). */
void sum_find_ends(struct sum_entries *entries);

/**
 * Power over time. A moment of a node counts once, from the record that knows most of it. Between
 * its steps and after the last one a node adds nothing. While a step runs, everything that is ever
 * known of the node must be known: its power is unknown if one of its domains is, before a late
 * record begins, and from the end of an incomplete record to the end of its step on other nodes.
 */
struct sum_power_request {
    const char *node; /* NULL: the sum over all */
    int domain;       /* APAPI_DOMAIN_NONE: all that add up */
    int64_t start_ns, end_ns;
    size_t columns; /* equal parts of that time */
};

/**
 * @param entries  each node's together and by start, after sum_find_ends()
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

/** Which gaps are wanted, and by whom. */
struct sum_gap_visitor {
    const struct namelist *asked; /* only these nodes are missing, sorted; NULL or empty: all */
    bool names;                   /* find out which they are */
    sum_gap_f visit;
    void *context;
};

/**
 * Visit the steps of one job that have fewer records than nodes.
 * @return 0; -1 with errno ENOMEM, or that of `visit`.
 */
int sum_each_gap(const struct sum_store *store, const struct sum_entries *entries,
                 const struct sum_gap_visitor *visitor);

/** The names of the nodes, sorted and unique. @return 0; -1 with errno ENOMEM. */
int sum_nodes(const struct sum_entries *entries, struct namelist *nodes);

/** See apapi/job.h. */
struct apapi_job {
    struct sum_store store;
    struct sum_entries entries; /* of the last total */
};

/** @return whether its time is too short for a power. */
static inline bool job_total_is_brief(const struct apapi_job_total *total)
{
    return total->busy_ns < total->window_ns;
}

/** @return the entries of one node, which are together: those from `first` on. */
static inline struct sum_entries sum_node_at(const struct sum_entries *entries, size_t first)
{
    struct sum_entries node = {entries->list + first, 1};

    while (first + node.count < entries->count &&
           node.list[node.count].piece->node == node.list->piece->node) {
        node.count++;
    }
    return node;
}

/* --- within core/sum ------------------------------------------------------------------------ */

/** The energy of a node; each moment counts once. */
struct sum_node {
    double energy_j[APAPI_DOMAINS];      /* 0 where nothing is known */
    double uncertainty_j[APAPI_DOMAINS]; /* of that energy; NaN: unknown */
    double whole_j[APAPI_DOMAINS];       /* as if no time that has a record were unknown */
    uint64_t covered_ns[APAPI_DOMAINS];  /* how long that energy is known */
    uint64_t recorded_ns[APAPI_DOMAINS]; /* how long there is a record with the domain */
    uint64_t total_ns;        /* how long all domains that add up and have a record are known */
    uint32_t unknown_domains; /* of any piece */
};

/** A time [ns since 1970]; one that ends before it begins is none. */
struct span {
    int64_t start_ns, end_ns;
};

/** @return how long their union is */
double spans_length_ns(struct span *spans, size_t count);

/** The time and the domains of a node that are added up. */
struct sum_extent {
    struct span time;
    uint32_t domains; /* bits */
    bool curves;      /* only what they know */
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
 * Keep a curve. If all of them take more than the store may have, none is kept.
 * @param energy_j  of its domain [J]
 * @param failed    set to true if memory is lacking
 * @return where it is; SUM_NO_CURVE
 */
uint32_t sum_put_curve(struct sum_store *store, const struct apapi_timeline *timeline,
                       double energy_j, bool *failed);

/** @return what a sum that has room keeps of a record's curves [bytes] */
size_t sum_curves_size(const struct apapi_record *record);

/**
 * A record that is cut within a bin, or that has none, is taken to have its mean power on both
 * sides of the cut. It may have had any of its powers on the shorter one.
 * @param bin_ns  0: it has no bins
 * @return how far the energy of both sides may be wrong [J]
 */
double sum_cut_j(double swing_w, uint64_t bin_ns, uint64_t before_ns, uint64_t after_ns);

/*
 * When the records of a job began, and in which run of it. Clocks jump, and those of two nodes
 * differ; the time since a node's boot does neither.
 */

#define TIMING_APART_NS INT64_C(600000000000) /* a node of a step begins within this time */
#define TIMING_JUMP_NS INT64_C(1000000000)    /* a jump of a clock that is worth a word */
/** A job's number that comes again after this time, without a record, is another job's. */
#define TIMING_SAME_JOB_NS INT64_C(2592000000000000) /* 30 days */

/**
 * Move the start of records, so that
 * - those of a boot of a node are as far from each other as by the time since the boot,
 * - those of different boots of a node do not overlap,
 * - a step begins on all its nodes within TIMING_APART_NS.
 * Records that do not know their boot stay as they are.
 * @param of_some_nodes  records of others were not read: the number of a step's nodes is forgotten
 * @return 0; -1 with errno ENOMEM: some may have been moved
 */
int timings_align(struct sum_entry *timings, size_t count, bool of_some_nodes);

/**
 * Set `restarts`. Batch steps and records that know their run tell the runs. The others are of the
 * last run that had begun when they ended. Sorts the timings.
 */
void timings_find_runs(struct sum_entry *timings, size_t count);

/**
 * Add up the runs, at least one, after timings_find_runs(): sets runs, job_nodes, elapsed_ns and
 * node_s, and `nodes`. What the job waited between its runs is no time of it. Sorts the timings.
 */
void timings_sum(struct sum_entry *timings, size_t count, struct apapi_job_total *total);

#endif
