/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INDEX_INDEX_H
#define APAPI_INDEX_INDEX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "record/hour.h"

/*
 * Databases of records, see docs/database.md. They hold each record's line as it stands, and
 * columns to select by. All functions that return int and take `err` return 0 or the documented
 * value, or -1 with errno EIO (refused by the database, or connection lost), ENOMEM. One thread at
 * a time.
 */

/* --- reading -------------------------------------------------------------------------------- */

/**
 * Pass records of a database to `sink`, by day and node. Creates nothing; sees committed rows only.
 * @return 0; -1 with errno EINVAL (malformed URL or list of nodes), ENOENT (no records were
 * imported), ENOTSUP (another version), those of open(2), or that of the sink (`err` is empty then)
 */
int db_read_records(const char *url, const struct apapi_scan_filter *filter,
                    const struct apapi_scan_sink *sink, struct apapi_error *err);

/**
 * Pass the lines of nodes' own records to `take`, as hours_read() does for files. Returns as
 * db_read_records().
 * @param filter  times, clusters and nodes
 */
int db_read_hours(const char *url, const struct apapi_scan_filter *filter, hour_f take,
                  void *context, struct apapi_error *err);

/* --- the index that apapi keeps by itself ----------------------------------------------------- */

/*
 * The index answers questions about many records: it has what sums need of each record, and where
 * the record's line stands. It is a cache: what it cannot serve is read from the files. See
 * docs/database.md.
 */

struct own_index;

/**
 * Open or make the file of the index, which must be the caller's. A file that is damaged or of
 * another version is made again.
 * @param path    of the file; NULL: for root in /var/lib/apapi, for a user in his cache
 * @param folder  accounting folder
 * @return free it with own_index_close(); NULL: `err` says why, or is empty if none is wanted here
 */
struct own_index *own_index_open(const char *path, const char *folder, struct apapi_error *err);

/** Close the index. NULL is allowed. errno is preserved. */
void own_index_close(struct own_index *index);

/** How records are taken if their curves need too much memory. */
struct own_brief {
    size_t curve_max; /* limit for the curves of all records [bytes] */
    bool *curveless;  /* set if the curves exceed the limit, before the first record */
    /* @return in how many parts a record is summed; a record in several parts needs its curves. */
    unsigned (*parts)(const struct apapi_record *record, void *context);
    /* Takes a record without curves, shares and regions. Returns as apapi_scan_f. */
    int (*take)(const struct apapi_record *record, uint64_t digest, void *context);
    void *context;
};

/** A selection of records, and the receiver of the answer. */
struct own_question {
    const struct apapi_scan_filter *filter;
    bool (*wants)(const struct apapi_record *record, void *context); /* besides the filter */
    const struct own_brief *brief; /* NULL: the lines of all records are needed */
    size_t taken;                  /* result: number of records that brief->take() has got */
    void (*progress)(uint64_t bytes, size_t records, void *context); /* says what was read more */
    void *context;
};

/**
 * Read what the files have gained; wait for another process that is doing so. Then decide how the
 * wanted records are taken.
 * @param question  must stay valid
 * @return 0; -1: the index cannot have all that is wanted, `err` says why
 */
int own_index_ask(struct own_index *index, struct own_question *question, struct apapi_error *err);

/**
 * For begin() of a scan with the same filter: pass on the wanted records of a file; records whose
 * lines are needed go through the scan.
 * @param offset  result: where the scan must read on
 * @return 1: read the file from `offset` on; 0: leave it out; -1 with errno of the receiver
 */
int own_index_serve(struct own_index *index, struct apapi_scan *scan,
                    const struct apapi_scan_file *file, uint64_t *offset);

/* --- loading -------------------------------------------------------------------------------- */

/** Loads records (opaque). */
struct db_load;

struct db_load_counts {
    size_t added;    /* new rows */
    size_t replaced; /* rows that count no more, as a better row of the same record has come */
    size_t known;    /* records that existed already, or do not count */
    size_t hours;    /* lines of nodes' own records, new or not */
    struct apapi_error err; /* why a record or a file was not loaded; "": all were */
};

/**
 * Connect, create missing tables, and begin.
 * @param url  "sqlite:FILE",
 * "mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH]" or
 * "postgresql://[user@][host[:port]]/database[?parameter=value...]"
 * @param whole  all records of a file are loaded: the database notes how far it was read
 * @return free it with db_load_destroy(); NULL with errno EINVAL (malformed URL), ENOTSUP (not
 * built or installed with it, or tables of another version), EIO, ENOMEM
 */
struct db_load *db_load_create(const char *url, bool whole, struct apapi_error *err);

/** Free, and disconnect. Uncommitted data are lost. NULL is allowed. */
void db_load_destroy(struct db_load *load);

/* Functions for a sink whose context is the load. 0; -1 with errno, and a text in counts' `err`. */

/** Add a record, decoded from `line`, once. Everything is copied. Commits from time to time. */
int db_load_record(const struct apapi_record *record, const char *line, size_t size, void *load);

/** Add a line of a node's own record, or replace it. */
int db_load_hour(const struct hour *hour, void *load);

/** @return whether the file of a folder has gained something, from `offset` on; false after errors
 */
bool db_load_begin(const char *folder, const struct apapi_scan_file *file, uint64_t *offset,
                   void *load);

/** Note how far the file was read. */
void db_load_end(const char *folder, const struct apapi_scan_file *file, uint64_t offset,
                 void *load);

/**
 * Commit, and compute the totals of all jobs whose records have changed since their last total,
 * also of those that an earlier, interrupted import has left.
 * @return the number of jobs that this import has added up; -1 with errno
 */
int64_t db_load_finish(struct db_load *load, struct apapi_error *err);

/** @return the counts so far; valid as long as `load`. */
const struct db_load_counts *db_load_counts(const struct db_load *load);

#endif
