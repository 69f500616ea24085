/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_SCAN_LINES_H
#define APAPI_STORE_SCAN_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/inflow.h"

/** Lines of a descriptor, through a buffer of fixed size. Zeroed before the first lines_begin(). */
struct lines {
    struct inflow inflow;
    char *buffer;
    size_t begin, end;  /* what is in the buffer and not handed out */
    size_t searched;    /* up to where there is no newline */
    uint64_t line_at;   /* where the line at `begin` begins [bytes] */
    uint64_t dropped;   /* bytes of a line that is too long */
    size_t line_number; /* of the line at `begin`, from 1 */
    bool ended;
};

struct line {
    const char *text; /* without the newline; lives until the next line */
    size_t size;      /* [bytes]; SIZE_MAX: longer than APAPI_SCAN_LINE_MAX, and not here */
    uint64_t offset;  /* [bytes] */
    size_t number;
    bool whole; /* it ends with a newline */
};

/**
 * Begin to read `fd`, which stands `offset` bytes behind the file's begin. From its begin it may be
 * compressed; offsets are those of what comes out.
 * @return 0; -1 with errno ENOMEM, or that of inflow_begin().
 */
int lines_begin(struct lines *lines, int fd, uint64_t offset);

/** @return 1; 0 at the end; -1 with errno of inflow_read(). */
int lines_next(struct lines *lines, struct line *line);

/** @return what the last error was, beyond errno; NULL: errno says it. */
const char *lines_problem(const struct lines *lines);

/** Free what it owns. */
void lines_free(struct lines *lines);

#endif
