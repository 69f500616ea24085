/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_FILES_H
#define APAPI_RECORD_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/scan.h"
#include "base/inflow.h"
#include "base/names.h"

/* --- walking a folder ------------------------------------------------------------------------- */

/*
 * The files of an accounting folder, <dir>/<YYYY-MM-DD>/<node><suffix>, in the order of days and
 * nodes. Symbolic links below `dir` are not followed.
 */

/** The functions that are called. Paths and files are valid only during the call. */
struct walk {
    const char *suffix;          /* ".jsonl"; a compressed file has another suffix after it */
    const struct filter *filter; /* days and nodes that it excludes are not opened */
    /* A regular file, open at its start. @return 0; -1 with errno: the walk ends. */
    int (*file)(const struct apapi_scan_file *file, const char *path, int fd, void *context);
    void (*leave_out)(const char *path, const char *reason, void *context); /* cannot be read */
    void *context;
};

/**
 * @return 0; -1 with errno of opening `dir`, which `err` names, or that of `file`, with an empty
 * `err`
 */
int walk_folder(const struct walk *walk, const char *dir, struct apapi_error *err);

/* --- what is wanted --------------------------------------------------------------------------- */

enum { FILTER_CLUSTER, FILTER_USER, FILTER_ACCOUNT, FILTER_PARTITION, FILTER_TEXTS };

/** A struct apapi_scan_filter, prepared for many lines. */
struct filter {
    bool limits;            /* something is not wanted */
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: no limit */
    uint32_t *jobs;         /* sorted */
    size_t job_count;
    bool job_parts;
    uint32_t uid;              /* of the wanted user; APAPI_UNKNOWN: given by name */
    char *texts[FILTER_TEXTS]; /* NULL: any */
    struct namelist nodes;     /* sorted; none: any */
};

/** Copy `wanted`; NULL: everything. 0; -1 with EINVAL, ENOMEM. Call filter_free() in both cases. */
int filter_init(struct filter *filter, const struct apapi_scan_filter *wanted,
                struct apapi_error *err);

/** Free what it owns. */
void filter_free(struct filter *filter);

/** @return whether records of this node are wanted. */
bool filter_wants_node(const struct filter *filter, const char *node);

/** @return whether records that ended on this day ("2026-11-21") are wanted. */
bool filter_wants_day(const struct filter *filter, const char *day);

/** @return whether the record is wanted. */
bool filter_wants(const struct filter *filter, const struct apapi_record *record);

/**
 * Check the beginning of a line in the form of apapi_record_encode().
 * @return false only if filter_wants() would certainly return false, or if it is not a record.
 */
bool filter_may_want(const struct filter *filter, const char *line, size_t size);

/* --- lines of a file -------------------------------------------------------------------------- */

/** Lines of a descriptor, through a buffer of fixed size. All zero before lines_begin(). */
struct lines {
    struct inflow inflow;
    char *buffer;
    size_t begin, end;  /* content of the buffer that was not returned yet */
    size_t searched;    /* no newline up to here */
    uint64_t line_at;   /* offset of the line at `begin` [bytes] */
    uint64_t dropped;   /* bytes of a line that is too long */
    size_t line_number; /* of the line at `begin`, from 1 */
    bool ended;
};

struct line {
    const char *text; /* without the newline; valid until the next line */
    size_t size;      /* [bytes]; SIZE_MAX: longer than APAPI_SCAN_LINE_MAX, the text is missing */
    uint64_t offset;  /* [bytes] */
    size_t number;
    bool whole; /* it ends with a newline */
};

/**
 * Begin to read `fd`, which is at `offset` bytes of the file. At offset 0 it may be compressed;
 * offsets are those of the decompressed data.
 * @return 0; -1 with errno ENOMEM, or that of inflow_begin().
 */
int lines_begin(struct lines *lines, int fd, uint64_t offset);

/** @return 1; 0 at the end; -1 with errno of inflow_read(). */
int lines_next(struct lines *lines, struct line *line);

/** @return details of the last error; NULL: errno says it. */
const char *lines_problem(const struct lines *lines);

/** Free what it owns. */
void lines_free(struct lines *lines);

#endif
