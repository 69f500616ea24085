/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JOB_JOB_H
#define APAPI_JOB_JOB_H
#include <stdio.h>

#include "apapi/job.h"
#include "apapi/record.h"
#include "cli/command.h"
#include "cli/query.h"
#include "sum/sum.h"

/* One job or step with all its records in memory. */

#define SHOW_RECORDS_MAX 10000 /* of a user */
#define SHOW_CURVE 64          /* columns of the power curve */

/** A node of the job. */
struct show_node {
    const char *name;
    struct apapi_job_total used;
};

/** A step on all its nodes. */
struct show_step {
    const char *step, *name;
    uint32_t tasks;             /* on its nodes; APAPI_UNKNOWN */
    struct apapi_ending ending; /* of the job's last run */
    struct apapi_job_total used;
};

/** The records of one user, with the job's own number, or that only say that they are part of it.
 */
struct show_share {
    bool own;
    uint32_t uid;
    size_t count, left_out; /* records that are there, that had no room */
};

struct show {
    uint32_t job; /* that is asked for, by its number; 0: any */
    char id[32];  /* its name */
    struct apapi_record *records;
    size_t count, room;
    size_t left_out; /* without room */
    struct show_share *shares;
    size_t share_count, share_room;
    bool heterogeneous; /* has records of several components */
    struct sum_store store;
    struct sum_entries entries; /* records that count, sorted by node, then by start */
    struct apapi_job_total total;
    struct show_node *nodes;
    size_t node_count;
    struct show_step *steps;
    size_t step_count;
    double curve_w[SHOW_CURVE]; /* as show_power() of all nodes and domains */
};

/**
 * Add a copy of a record; an apapi_scan_f, whose context is a struct show. Records of a user beyond
 * SHOW_RECORDS_MAX are left out; those that only claim to be part of the job are counted apart.
 * @param line  its text; NULL: it comes from a database and owns nothing
 * @return 0; -1 with errno ENOMEM.
 */
int show_add(const struct apapi_record *record, const char *line, size_t size, void *show);

/**
 * Keep the records of the one job that was asked for, and calculate all else. They begin where they
 * belong then, see sum/sum.h. Messages on standard error say what is left out, and why there is
 * none.
 * @return 0; the exit status of the command.
 */
int show_choose(struct show *show, const struct query *query);

/** @return the record of an entry. */
static inline struct apapi_record *show_record(const struct show *show,
                                               const struct sum_entry *entry)
{
    return &show->records[entry->piece - show->store.pieces]; /* they have the same numbers */
}

/** @return one of those that count, by its number in their order. */
static inline const struct apapi_record *show_record_at(const struct show *show, size_t number)
{
    return show_record(show, &show->entries.list[number]);
}

void show_free(struct show *show);

/** Report what is unusual, one line each. */
void show_find_unusual(const struct show *show, struct remarks *remarks);

/** Add up the regions of a step's records; step NULL: of all. 0; -1 with errno ENOMEM. */
int show_regions(const struct show *show, const char *step, size_t max,
                 struct apapi_regions *regions);

/** Report how reliable the records are, one line each. */
void show_say_trust(const struct show *show, struct remarks *remarks);

/** @return a copy of the nodes for free(), the highest energy first, unknown ones last; NULL. */
struct show_node *show_order_nodes(const struct show *show);

/** The table shown at the end of a job; free `text`. 0; -1 with errno ENOMEM. */
int show_table(const struct show *show, char **text);

/** The power of the job, or of a node, over its time. @see sum_power() */
int show_power(const struct show *show, const char *node, int domain, double *power_w,
               size_t columns);

#endif
