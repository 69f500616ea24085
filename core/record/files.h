/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_FILES_H
#define APAPI_RECORD_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/scan.h"
#include "base/inflow.h"
#include "base/json.h"
#include "base/names.h"

/* --- what is wanted --------------------------------------------------------------------------- */

enum { FILTER_CLUSTER, FILTER_USER, FILTER_ACCOUNT, FILTER_PARTITION, FILTER_TEXTS };

/** A struct apapi_scan_filter, prepared for many lines. */
struct filter {
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: no limit */
    uint32_t *jobs;         /* sorted */
    size_t job_count;
    bool job_parts;
    char *texts[FILTER_TEXTS]; /* names with commas; NULL: any */
    struct namelist nodes;     /* sorted; none: any */
};

/** Copy `wanted`; NULL: everything. 0; -1 with EINVAL, ENOMEM. Call filter_free() in both cases. */
int filter_init(struct filter *filter, const struct apapi_scan_filter *wanted,
                struct apapi_error *err);

/** Free what the filter owns. */
void filter_free(struct filter *filter);

/** @return whether the record is wanted. */
bool filter_wants(const struct filter *filter, const struct apapi_record *record);

/** @return whether a record with this identity is wanted, whatever its time is. */
bool filter_wants_identity(const struct filter *filter, const struct apapi_identity *id);

/** @return whether a record with this identity is wanted according to text `i` of the filter. */
bool filter_wants_text(const struct filter *filter, size_t i, const struct apapi_identity *id);

/** @return whether lines of this node are wanted. */
bool filter_wants_place(const struct filter *filter, const char *cluster, const char *node);

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
    size_t searched;    /* the buffer has no newline from `begin` up to here */
    uint64_t line_at;   /* offset of the line at `begin` [bytes] */
    uint64_t dropped;   /* bytes dropped so far of a line that is too long */
    size_t line_number; /* of the line at `begin` */
    bool ended;
};

struct hour;

/** The reader of apapi/scan.h. */
struct apapi_scan {
    struct apapi_scan_sink sink;
    struct filter filter; /* days and nodes that the filter excludes are not opened */
    /* Takes a line of a file with `suffix`: records have ".jsonl".
     * @return 1: the line has something complete; 0: it has not; -1 with errno: the reading ends,
     * without a message if `stopped` is set */
    int (*take)(struct apapi_scan *scan, const struct line *line);
    const char *suffix;
    int (*hour)(const struct hour *hour, void *context); /* `take` of hours_read() */
    struct apapi_scan_counts counts;
    bool stopped;
    bool unfinished;  /* gzip is writing the file: all records are in the plain file */
    const char *name; /* of the input */
    struct lines lines;
    struct tree tree; /* scratch memory */
};

/** Report and count a line that is skipped. */
void scan_skip(struct apapi_scan *scan, const struct line *line, const char *reason);

#endif
