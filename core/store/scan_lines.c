/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/scan_lines.h"

#include <stdlib.h>
#include <string.h>

#include "apapi/scan.h"

#define CHUNK ((size_t)262144) /* bytes read at once */
#define BUFFER_SIZE ((size_t)APAPI_SCAN_LINE_MAX + CHUNK)

int lines_begin(struct lines *lines, int fd, uint64_t offset)
{
    char *buffer = lines->buffer ? lines->buffer : malloc(BUFFER_SIZE);

    if (!buffer) {
        return -1;
    }
    *lines = (struct lines){
        .inflow = lines->inflow, .buffer = buffer, .line_at = offset, .line_number = 1};
    return inflow_begin(&lines->inflow, fd, offset == 0);
}

const char *lines_problem(const struct lines *lines)
{
    return lines->inflow.problem;
}

void lines_free(struct lines *lines)
{
    inflow_end(&lines->inflow);
    free(lines->buffer);
    lines->buffer = NULL;
}

static void scan_lines_make_room(struct lines *lines)
{
    if (lines->end - lines->begin > APAPI_SCAN_LINE_MAX) {
        lines->dropped += lines->end - lines->begin;
        lines->begin = lines->end;
    }
    if (BUFFER_SIZE - lines->end < CHUNK || lines->begin == lines->end) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
}

static int scan_lines_fill(struct lines *lines)
{
    ssize_t got;

    scan_lines_make_room(lines);
    lines->searched = lines->end;
    got = inflow_read(&lines->inflow, lines->buffer + lines->end, CHUNK);
    if (got < 0) {
        return -1;
    }
    lines->end += (size_t)got;
    lines->ended = got == 0;
    return 0;
}

static int scan_lines_take(struct lines *lines, size_t end, bool whole, struct line *line)
{
    size_t size = end - lines->begin;

    *line = (struct line){.text = lines->buffer + lines->begin,
                          .size = lines->dropped || size > APAPI_SCAN_LINE_MAX ? SIZE_MAX : size,
                          .offset = lines->line_at,
                          .number = lines->line_number++,
                          .whole = whole};
    lines->line_at += lines->dropped + size + whole;
    lines->dropped = 0;
    lines->begin = lines->searched = end + whole;
    return 1;
}

int lines_next(struct lines *lines, struct line *line)
{
    for (;;) {
        const char *newline =
            memchr(lines->buffer + lines->searched, '\n', lines->end - lines->searched);

        if (newline) {
            return scan_lines_take(lines, (size_t)(newline - lines->buffer), true, line);
        }
        if (lines->ended) {
            bool rest = lines->dropped || lines->end > lines->begin;

            return rest ? scan_lines_take(lines, lines->end, false, line) : 0;
        }
        if (scan_lines_fill(lines)) {
            return -1;
        }
    }
}
