/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SCAN_H
#define APAPI_SCAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read the records of an accounting folder, of files and of pipes, also what gzip and zstd have
 * compressed; lines of records, arrays of them, merged records. What is no record is skipped,
 * counted and told, and never ends the reading: a torn last line, bytes of something else, a record
 * of a later version. Memory is bounded, whatever is read.
 */

#define APAPI_SCAN_LINE_MAX 1048576 /* bytes of a line; longer ones are skipped, and never kept */

/**
 * Which records are wanted; a limit that is 0 or NULL is none. A line that is plainly of another
 * record is left out before it is decoded, so its faults are neither seen nor counted.
 */
struct apapi_scan_filter {
    int64_t from_unix_ns; /* that ended then or later [ns since 1970] */
    int64_t to_unix_ns;   /* that ended before */
    const uint32_t *jobs; /* of one of these, in any order */
    size_t job_count;
    bool job_parts; /* also tasks of arrays, components of heterogeneous jobs of these numbers */
    const char *cluster, *user, *account, *partition; /* `user`: the name or the uid */
    const char *nodes;                                /* as Slurm writes it: "login,n[001-004,7]" */
};

/** What was skipped. Lives during the call only. */
struct apapi_scan_problem {
    const char *file;
    size_t line;        /* from 1; 0: the file itself, or begun in its middle: see `offset` */
    uint64_t offset;    /* where the line begins [bytes] */
    const char *reason; /* safe for a terminal */
};

/** A file of an accounting folder. */
struct apapi_scan_file {
    const char *day;  /* "2026-11-21" */
    const char *name; /* "n1.jsonl" */
    uint64_t size;    /* [bytes]; of a compressed file as it is */
};

/** @return 0 to go on; -1 with errno: the reading ends with that errno. */
typedef int (*apapi_scan_f)(const struct apapi_record *record, const char *line, size_t size,
                            void *context);

/** Where everything goes. Members may be NULL, but for `record`. */
struct apapi_scan_sink {
    /* A record, and its line without the newline: both live during the call only. */
    apapi_scan_f record;
    void (*problem)(const struct apapi_scan_problem *problem, void *context);
    /* Before a file of a folder is read, from `offset` on: 0 if it is not set. @return whether to
     */
    bool (*begin)(const struct apapi_scan_file *file, uint64_t *offset, void *context);
    /* After it; `offset` is behind all that is known to be whole: where to go on another time. */
    void (*end)(const struct apapi_scan_file *file, uint64_t offset, void *context);
    void *context;
};

/** What has been read so far. */
struct apapi_scan_counts {
    size_t files;      /* opened */
    size_t unreadable; /* files and folders below the one that was named */
    size_t records;    /* handed over */
    size_t skipped;    /* lines that are no record, or of a later version, or too long */
    size_t newer;      /* of these: of a later version */
};

/** A reader (opaque). One thread at a time. */
struct apapi_scan;

/**
 * @param filter  copied; NULL: every record
 * @param sink    copied
 * @return a reader, freed by apapi_scan_destroy(). NULL with errno EINVAL (`nodes` is no such
 *         list), ENOMEM.
 */
APAPI_API struct apapi_scan *apapi_scan_create(const struct apapi_scan_filter *filter,
                                               const struct apapi_scan_sink *sink,
                                               struct apapi_error *err);

/** Free. NULL is allowed. errno is preserved. */
APAPI_API void apapi_scan_destroy(struct apapi_scan *scan);

/**
 * Read an accounting folder: <dir>/<YYYY-MM-DD>/<node>.jsonl, also .jsonl.gz and .jsonl.zst, days
 * and nodes in order. Days and nodes that the filter excludes are not opened. Below `dir` no
 * symbolic link is followed, and what cannot be read is told, counted and left out.
 * @return 0; -1 with errno of opening `dir`, or that of the sink (`err` is empty then).
 */
APAPI_API int apapi_scan_folder(struct apapi_scan *scan, const char *dir, struct apapi_error *err);

/**
 * Read one file, also a pipe or a device.
 * @return 0; -1 with errno of open(2) and read(2), EISDIR, or that of the sink (`err` is empty).
 */
APAPI_API int apapi_scan_file(struct apapi_scan *scan, const char *path, struct apapi_error *err);

/**
 * Read what is open, from where it stands to its end; it stays open.
 * @param name  stands for the file in messages
 * @return 0; -1 as for apapi_scan_file().
 */
APAPI_API int apapi_scan_stream(struct apapi_scan *scan, int fd, const char *name,
                                struct apapi_error *err);

/** @return what has been read; lives as long as the reader, which goes on counting. */
APAPI_API const struct apapi_scan_counts *apapi_scan_counts(const struct apapi_scan *scan);

#ifdef __cplusplus
}
#endif
#endif
