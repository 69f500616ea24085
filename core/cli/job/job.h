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

#define SHOW_RECORDS_MAX 10000 /* of one user */
#define SHOW_CURVE 64          /* columns of the power curve */

/** A node of the job, or a step on all its nodes. */
struct show_part {
    const char *name;
    struct apapi_job_total used;
    /* of a step: */
    const char *program;
    uint32_t tasks;             /* number of tasks on its nodes; APAPI_UNKNOWN */
    struct apapi_ending ending; /* endings of its tasks in the job's last run */
};

/** Counts of one user's records that have the job's own number, or that only claim to be its parts.
 */
struct show_share {
    bool own;
    uint32_t uid;
    size_t count, left_out; /* records that are kept, and that had no room */
};

struct show {
    uint32_t job; /* number of the job that is asked for */
    char id[32];  /* name of the job, as "17_3" */
    struct apapi_record *records;
    size_t count, room;
    size_t left_out; /* number of records without room */
    struct show_share *shares;
    size_t share_count, share_room;
    struct sum_store store;
    struct sum_entries entries; /* the records that count, sorted by node, then by start */
    struct apapi_job_total total;
    struct show_part *nodes, *steps;
    size_t node_count, step_count;
    double curve_w[SHOW_CURVE]; /* result of show_power() for all nodes and domains */
};

/**
 * Add a copy of a record: an apapi_scan_f whose context is a struct show. Records of a user beyond
 * SHOW_RECORDS_MAX are left out; records that only claim to be part of the job are counted apart.
 * @return 0; -1 with errno ENOMEM.
 */
int show_add(const struct apapi_record *record, const char *line, size_t size, void *show);

/**
 * Keep the records of the one job that was asked for, and calculate all else. Each record gets its
 * corrected start, see sum/sum.h. Messages on standard error say which records were left out, and
 * why none is left.
 * @return 0; the exit status of the command.
 */
int show_choose(struct show *show, const struct query *query);

/** @return the record of an entry. */
static inline struct apapi_record *show_record(const struct show *show,
                                               const struct sum_entry *entry)
{
    return &show->records[entry->piece - show->store.pieces]; /* both have the same numbers */
}

/** @return one of the records that count, by its number in their order. */
static inline const struct apapi_record *show_record_at(const struct show *show, size_t number)
{
    return show_record(show, &show->entries.list[number]);
}

void show_free(struct show *show);

/** Add a remark for each thing that is unusual. */
void show_find_unusual(const struct show *show, struct remarks *remarks);

/** Add up the regions of one step's records; NULL: of all. @return 0; -1 with errno ENOMEM. */
int show_regions(const struct show *show, const char *step, size_t max,
                 struct apapi_regions *regions);

/** Add remarks on how reliable the records are. */
void show_say_trust(const struct show *show, struct remarks *remarks);

/** @return a copy of the nodes for free(), highest energy first, unknown ones last; NULL. */
struct show_part *show_order_nodes(const struct show *show);

/** Format the table shown at the end of a job; free `text`. @return 0; -1 with errno ENOMEM. */
int show_table(const struct show *show, char **text);

/** Calculate the power of the job, or of a node, over the job's time. @see sum_power() */
int show_power(const struct show *show, const char *node, int domain, double *power_w,
               size_t columns);

#endif
