/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SCAN_H
#define APAPI_SCAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/record.h"

APAPI_BEGIN_C

/*
 * Read records from an accounting folder, files and pipes, also compressed with gzip. Each record
 * is one line, which may be an element of a JSON array. Lines that are no records (a torn last
 * line, other data, a record of a later version) are skipped, counted and reported.
 * Memory is bounded for any input.
 */

#define APAPI_SCAN_LINE_MAX 1048576 /* longest line [bytes]; longer ones are skipped */

/**
 * Which records to read. A member that is 0, false or NULL sets no limit. Lines that clearly belong
 * to other records are skipped before they are parsed: errors in them are not found.
 */
struct apapi_scan_filter {
    int64_t from_unix_ns; /* the measurement ended then or later, UTC since 1970 [ns] */
    int64_t to_unix_ns;   /* the measurement ended before then, UTC since 1970 [ns] */
    const uint32_t *jobs; /* one of these job ids, in any order */
    size_t job_count;
    bool job_parts; /* an array's or a heterogeneous job's id in `jobs` means all its parts, too */
    const char *cluster, *user, *account, *partition; /* "NAME,NAME"; `user` also takes uids */
    const char *nodes;                                /* as Slurm writes it: "login,n[001-004,7]" */
};

/** Something that was skipped. Valid only during the call of problem(). */
struct apapi_scan_problem {
    const char *file;
    size_t line;        /* from 1; 0: the file itself, or a file that was not read from its start */
    uint64_t offset;    /* where the line begins in the file [bytes] */
    const char *reason; /* printable on any terminal */
};

/** A file of an accounting folder. Valid only during the call of begin() or end(). */
struct apapi_scan_file {
    const char *day;  /* "2026-11-21" */
    const char *name; /* "n1.jsonl" */
    uint64_t size;    /* size on the disk, perhaps compressed [bytes] */
    int fd;           /* use it only with pread(2) and fstat(2) */
};

/** @return 0 to continue; -1 with errno: the reading ends and fails with this errno. */
typedef int (*apapi_scan_f)(const struct apapi_record *record, const char *line, size_t size,
                            void *context);

/** The functions that receive what is read. All members except `record` may be NULL. */
struct apapi_scan_sink {
    /* Receives a record and its line of `size` bytes, without the newline. Both are valid only
     * during the call. */
    apapi_scan_f record;
    void (*problem)(const struct apapi_scan_problem *problem, void *context);
    /* Called before a file of a folder is read. `offset` is 0; set it to start at a later byte.
     * @return false: leave the file out. */
    bool (*begin)(const struct apapi_scan_file *file, uint64_t *offset, void *context);
    /* Called after the file. `offset` is the end of its last complete line: start there later. */
    void (*end)(const struct apapi_scan_file *file, uint64_t offset, void *context);
    void *context; /* for all four functions */
};

/** Counts of the input so far. */
struct apapi_scan_counts {
    size_t files;      /* opened */
    size_t unreadable; /* files, and folders below the given one, that could not be read */
    size_t records;    /* passed to the sink */
    size_t skipped;    /* lines that are no record, too long, or records of a later version */
    size_t newer;      /* those of `skipped` that are records of a later version */
};

/** A reader. Opaque. One thread at a time; several readers may run side by side. */
struct apapi_scan;

/**
 * @param filter  copied; NULL: all records
 * @param sink    copied
 * @return a reader; free it with apapi_scan_destroy(). NULL with errno EINVAL (filter->nodes is not
 *         a list of nodes), ENOMEM
 */
APAPI_API struct apapi_scan *apapi_scan_create(const struct apapi_scan_filter *filter,
                                               const struct apapi_scan_sink *sink,
                                               struct apapi_error *err);

/** Free a reader. NULL is allowed. errno is preserved. */
APAPI_API void apapi_scan_destroy(struct apapi_scan *scan);

/**
 * Read an accounting folder: <dir>/<YYYY-MM-DD>/<node>.jsonl, also .jsonl.gz, in the
 * order of days and nodes. Days and nodes that the filter excludes are not opened. Symbolic links
 * below `dir` are not followed. A file that cannot be read is reported, counted and left out. A
 * file that is compressed or decompressed meanwhile is read, perhaps twice.
 * @return 0; -1 with errno of opening `dir`, or of the sink, which leaves `err` empty
 */
APAPI_API int apapi_scan_folder(struct apapi_scan *scan, const char *dir, struct apapi_error *err);

/**
 * Read one file, pipe or device.
 * @return 0; -1 with errno of open(2) or read(2), EISDIR, EBADMSG (compressed data is damaged), or
 *         of the sink, which leaves `err` empty
 */
APAPI_API int apapi_scan_file(struct apapi_scan *scan, const char *path, struct apapi_error *err);

/** Like apapi_scan_file() for an open file, from its position on. `name` stands in messages. */
APAPI_API int apapi_scan_stream(struct apapi_scan *scan, int fd, const char *name,
                                struct apapi_error *err);

/** Take a line without its newline, as if read. @return 0; -1 with errno of the sink, ENOMEM */
APAPI_API int apapi_scan_line(struct apapi_scan *scan, const char *text, size_t size);

/** @return what has been read so far. Belongs to the reader, which continues to update it. */
APAPI_API const struct apapi_scan_counts *apapi_scan_counts(const struct apapi_scan *scan);

APAPI_END_C
#endif
