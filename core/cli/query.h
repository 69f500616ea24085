/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_QUERY_H
#define APAPI_CLI_QUERY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "base/option_table.h"
#include "config/config.h"
#include "record/files.h"

#define WHEN_FORMS                                                                                 \
    "as 2026-11-21[T11:20[:30]][Z], 11/21, 11:20, today, yesterday, now-1hour, 90m or 7d"

/**
 * Parse a point in time: all forms of sacct(1); a day or a time, local unless it ends with "Z"; how
 * long ago it was, in s, m, h, d or w.
 * @param now_ns   the current time [ns since 1970]
 * @param unix_ns  result, set on success only
 * @return 0; -1 with errno EINVAL.
 */
int when_parse(const char *text, int64_t now_ns, int64_t *unix_ns, struct apapi_error *err);

/** One word of a list of jobs. */
struct job_request {
    uint32_t job;  /* number of a job, array or heterogeneous job */
    char kind;     /* '\0', '_' array, '+' heterogeneous job */
    uint32_t part; /* task or component; APAPI_UNKNOWN: any */
    char step[32]; /* "": any */
};

/** Jobs and steps in a user's list: "17,18.batch,19_3,20_*,21+1.0". */
struct job_list {
    struct job_request *requests;
    uint32_t *jobs; /* their numbers */
    size_t count;
};

/** @return whether the word is such a list. */
bool job_is_named(const char *word);

/**
 * The selection of a command: which records or running steps, and from where. Lists have commas;
 * NULL: no limit.
 */
struct query {
    const char *command;             /* for messages */
    const char *jobs;                /* "17,18.batch,19_3,20_*,21+1.0" */
    const char *job_names;           /* names */
    const char *from, *to;           /* limits of a record's end, in the form of when_parse() */
    struct apapi_scan_filter wanted; /* what a reader may skip before decoding */
    const char *dir;                 /* accounting folder */
    char *const *files;              /* read instead of the folder; "-": standard input */
    size_t file_count;               /* 0: read the folder */
    const char *db;                  /* URL of a database, used instead of both; NULL: none */
    bool verbose;                    /* report each skipped line */
    bool quiet;    /* nothing is printed if no record is wanted, which is EXIT_FAILURE then: there
                      are other sources */
    bool of_nodes; /* a user's own records are of no use */
    bool strict;   /* a skipped line makes the exit status 1 */
    bool no_index; /* read each line */
    const struct own_brief *brief; /* for records_read() of a folder; NULL: lines are needed */
    /* of query_parse() */
    struct job_list job_list;
    struct filter filter; /* a copy of `wanted` */
    /* of records_run() */
    struct config *config; /* apapi.conf */
    bool own;              /* the folder is the caller's own in user_records */
    size_t taken;          /* records that are wanted */
    size_t left_out;       /* lines that are not records, and unreadable files */
    bool incomplete;       /* there are such files */
};

/* Options, named as in sacct, of a command's struct query. */
extern const struct option_row query_filter_rows[]; /* which records */
extern const struct option_row query_source_rows[]; /* from where */

/** The words after the options: FILEs. @param job  without -j, the first one is the job instead */
void query_words(struct query *query, char **words, size_t count, bool job);

/** Understand the jobs, times and nodes. @return 0; the exit status after a message. */
int query_parse(struct query *query);

/** Free what query_parse() has made. */
void query_free(struct query *query);

/** @return whether it is wanted, whatever its time. */
bool query_has(const struct query *query, const struct apapi_identity *id);

#endif
