/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JOB_JOB_VIEW_H
#define APAPI_JOB_JOB_VIEW_H
#include <stdio.h>

#include "apapi/job.h"
#include "apapi/record.h"

/* One job or step, all of whose records are in memory. */

#define SHOW_RECORDS_MAX 10000
#define SHOW_CURVE 64 /* columns of the curve of power */

/** A node of the job, each moment counted once. */
struct show_node {
    const char *name;
    double energy_j, power_w; /* NaN: unknown */
    double known_s;
    int64_t end_ns; /* of its last record */
};

/** A step on all its nodes. */
struct show_step {
    const char *step, *name;
    int64_t start_ns, end_ns;
    size_t nodes;                /* with a record */
    uint32_t tasks, cores, gpus; /* on these nodes; APAPI_UNKNOWN */
    struct apapi_ending ending;  /* of the job's last run */
    double energy_j, power_w;    /* NaN: unknown */
};

struct show {
    struct apapi_record *records; /* sorted by node, then by start */
    size_t count, room;
    size_t left_out;    /* had no room */
    bool heterogeneous; /* the records of several components */
    int64_t *ends_ns;   /* of the step of each record, on all nodes and in that run of the job */
    struct apapi_job_total total;
    struct show_node *nodes;
    size_t node_count;
    struct show_step *steps;
    size_t step_count;
    double curve_w[SHOW_CURVE]; /* as show_power() of all nodes and domains */
};

/**
 * Take over a copy of a record.
 * @param line  it; NULL: it comes from a database and owns nothing
 * @return 0; -1 with errno ENOMEM.
 */
int show_add(struct show *show, const struct apapi_record *record, const char *line, size_t size);

/**
 * Leave out records whose own job is another user's, and that only say that they are part of `job`.
 * @return how many they were.
 */
size_t show_drop_strangers(struct show *show, uint32_t job);

/**
 * See whether the records are of one job. The components of a heterogeneous one are: their steps
 * are
 * "+1.0" then.
 */
bool show_join(struct show *show);

/** Give the records without a cluster that of the first one that has one. */
void show_name_cluster(struct show *show);

/** Sort, and work out all that follows. 0; -1 with errno ENOMEM. */
int show_work_out(struct show *show);

void show_free(struct show *show);

/** Say what is odd, a line each. @return how many lines. */
typedef void (*show_say_f)(const char *text, void *context);
size_t show_find_unusual(const struct show *show, show_say_f say, void *context);

/** A step that lacks records, in one run of its job. */
struct show_gap {
    const char *step;
    uint32_t restarts;    /* of the job; 0: none, or not known */
    uint32_t nodes;       /* of the step */
    size_t lacking;       /* so many of them have no record */
    const char *nodelist; /* these, "n[3,5]"; "": not known */
};
typedef void (*show_gap_f)(const struct show_gap *gap, void *context);

/** Visit them all, their texts live during the call. 0; -1 with errno ENOMEM. */
int show_find_gaps(const struct show *show, show_gap_f visit, void *context);

/** How far the records can be trusted. */
struct show_trust {
    size_t complete, recovered, delayed, verified; /* records */
    double covered;                                /* share, of the worst; NaN: unknown */
    double uncertainty; /* of energy, of the worst; not finite: unknown */
    double cpu_s;       /* of all */
};
struct show_trust show_trust(const struct show *show);

/** Say it, a line each. */
void show_say_trust(const struct show *show, show_say_f say, void *context);

/** For qsort() of pointers to nodes: the highest energy first, unknown ones last. */
int show_compare_nodes(const void *left, const void *right);

/** The table that the end of a job shows; `text` is to be freed. 0; -1 with errno ENOMEM. */
int show_table(const struct show *show, const char *job_id, char **text);

/**
 * As apapi_timeline_between_j(), but bins are rounded when they are written: the domain's energy
 * is what counts.
 */
double show_between_j(const struct apapi_domain_result *domain, uint64_t from_ns, uint64_t to_ns,
                      uint64_t *known_ns);

/** Nodes of the widest step, or that have a record. */
size_t show_node_total(const struct show *show);

/** Print it; all return 0, or -1 with errno ENOMEM. */
int show_print_text(const struct show *show, const char *job_id);
int show_print_json(const struct show *show, const char *job_id);

/** Draw the curve, with blocks where the locale is UTF-8. */
void show_print_curve(const struct show *show);

#endif
