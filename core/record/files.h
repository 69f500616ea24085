/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_FILES_H
#define APAPI_RECORD_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/scan.h"
#include "base/inflow.h"
#include "base/names.h"

/* --- what is wanted --------------------------------------------------------------------------- */

enum { FILTER_CLUSTER, FILTER_USER, FILTER_ACCOUNT, FILTER_PARTITION, FILTER_TEXTS };

/** A struct apapi_scan_filter, prepared for many lines. */
struct filter {
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

/* --- reading ---------------------------------------------------------------------------------- */

struct line {
    const char *text; /* without the newline; valid until the next line */
    size_t size;      /* [bytes] */
    uint64_t offset;  /* [bytes], of the decompressed data */
    size_t number;    /* from 1; 0: the file was not read from its start */
    bool whole;       /* it ends with a newline */
};

/** Lines of a descriptor, through a buffer of fixed size. */
struct lines {
    struct inflow inflow;
    char *buffer;
    size_t begin, end;  /* content of the buffer that was not returned yet */
    size_t searched;    /* no newline up to here */
    uint64_t line_at;   /* offset of the line at `begin` [bytes] */
    uint64_t dropped;   /* bytes of a line that is too long */
    size_t line_number; /* of the line at `begin` */
    bool ended;
};

/** Reads lines of files and pipes. All zero at the start but for the settings. */
struct intake {
    const char *suffix;          /* setting: ".jsonl" */
    struct apapi_scan_sink sink; /* setting; its `record` is the caller's */
    /* Setting. @return 1: something complete is in the line; 0; -1 with errno: the reading ends,
     * and if `stopped` is set, without a message */
    int (*take)(struct intake *intake, const struct line *line);
    struct filter filter; /* setting: days and nodes that it excludes are not opened */
    struct apapi_scan_counts counts;
    bool stopped;
    const char *name; /* of the input */
    struct lines lines;
};

/** Report and count a line. */
void intake_skip(struct intake *intake, const struct line *line, const char *reason);

/**
 * Read a descriptor from its present position, which is at `offset` bytes of the file. At offset 0
 * it may be compressed.
 * @param offset  result: the end of the last line that is complete
 * @return 0; -1 with errno
 */
int intake_read(struct intake *intake, int fd, const char *name, uint64_t *offset,
                struct apapi_error *err);

/**
 * Read the files of an accounting folder, <dir>/<YYYY-MM-DD>/<node><suffix>, in the order of days
 * and nodes; a compressed one has another suffix after it. Symbolic links below `dir` are not
 * followed.
 * @return 0; -1 with errno of opening `dir`, which `err` names, or that of `take`, with an empty
 * `err`
 */
int intake_read_folder(struct intake *intake, const char *dir, struct apapi_error *err);

/** Free what it owns, also the filter. errno is preserved. */
void intake_free(struct intake *intake);

#endif
