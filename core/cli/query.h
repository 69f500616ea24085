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
 * Parse a point in time, in all forms of sacct(1): a day or a time, local unless it ends with "Z";
 * or how long ago it was, in s, m, h, d or w.
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
    uint32_t *jobs; /* the numbers of all requests */
    size_t count;
};

/** @return whether the word is a list of jobs. */
bool job_is_named(const char *word);

/**
 * The selection of a command: which records or running steps, and where they are read. Names are
 * lists with commas; NULL: any.
 */
struct query {
    const char *command;             /* for messages */
    const char *jobs;                /* "17,18.batch,19_3,20_*,21+1.0" */
    const char *job_names;           /* names of jobs */
    const char *from, *to;           /* limits for the end of a record, see when_parse() */
    struct apapi_scan_filter wanted; /* lets a reader skip records before decoding */
    const char *dir;                 /* accounting folder */
    char *const *files;              /* files to read instead of the folder; "-": standard input */
    size_t file_count;               /* 0: read the folder */
    const char *db;                  /* database URL, read instead of dir and files; NULL: none */
    bool verbose;                    /* report each skipped line */
    bool quiet;    /* if no wanted record is found, print nothing and return EXIT_FAILURE: the
                      command has another source */
    bool of_nodes; /* nodes are wanted: a folder with one user's records is of no use */
    bool strict;   /* a skipped line makes the exit status 1 */
    bool no_index; /* read each line: do not use the index */
    const struct own_brief *brief; /* how to take a folder's records; NULL: by their lines */
    /* set by query_parse(): */
    struct job_list job_list;
    struct filter filter; /* made from `wanted` */
    /* `config` and `own` are set by records_begin(), the others by records_feed(): */
    struct config *config; /* apapi.conf */
    bool own;              /* the folder is the caller's own one in user_records */
    size_t taken;          /* number of wanted records */
    size_t left_out;       /* number of lines that are not records, and of unreadable files */
    bool incomplete;       /* there are unreadable files */
};

/* Options of a command's struct query, named as in sacct. */
extern const struct option_row query_filter_rows[]; /* which records */
extern const struct option_row query_source_rows[]; /* where they are read */

/** Take the words after the options, FILEs. @param job  without -j, the first word is the job */
void query_words(struct query *query, char **words, size_t count, bool job);

/** Parse the jobs, times and nodes of the query. @return 0; the exit status after a message. */
int query_parse(struct query *query);

/** Free what query_parse() has made. */
void query_free(struct query *query);

/** @return whether the query wants this job and step; its time is not checked. */
bool query_has(const struct query *query, const struct apapi_identity *id);

#endif
