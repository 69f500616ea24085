/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_SCAN_LINES_H
#define APAPI_STORE_SCAN_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/inflow.h"

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
