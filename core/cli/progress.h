/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_PROGRESS_H
#define APAPI_CLI_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/scan.h"

/*
 * How far the reading of records has got: a line on standard error if that is a terminal, from one
 * second after the beginning on. One thread at a time.
 */

/** The input. */
struct progress_input {
    const struct apapi_scan_filter *filter;
    const char *dir;    /* accounting folder; NULL: none */
    char *const *files; /* read instead, also accounting folders; "-": standard input */
    size_t file_count;  /* 0: read the folder */
};

struct progress {
    struct progress_input input;
    bool shown, drawn;           /* on a terminal; there is a line */
    uint64_t total, done, known; /* bytes of files; `known` of them were skipped */
    size_t records;
    uint64_t begin_ns, next_ns; /* monotonic; next_ns: of the next line */
};

/** @return a progress that has just begun. @param input  what it points to is not copied */
struct progress progress_begin(const struct progress_input *input);

/**
 * More was read.
 * @param left  bytes of the present file that were not yet added; of compressed files on the disk
 */
void progress_add(struct progress *progress, uint64_t *left, uint64_t bytes, size_t records);

/** Erase the line: before a message, and at the end. errno is preserved. */
void progress_erase(struct progress *progress);

/** @return bytes of a file, of all files of an accounting folder, 0 of others. */
uint64_t progress_size(const struct apapi_scan_filter *filter, const char *path);

#endif
