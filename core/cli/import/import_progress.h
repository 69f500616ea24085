/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_IMPORT_PROGRESS_H
#define APAPI_IMPORT_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A bar on standard error, if that is a terminal. One thread at a time. */
struct import_progress {
    bool shown;
    uint64_t total_bytes, done_bytes;
    int64_t next_ns; /* when to draw it again, by the monotonic clock */
};

/** @return a bar for so much; not known: 0. */
struct import_progress import_progress_begin(uint64_t total_bytes);

/** So much more has been read. */
void import_progress_add(struct import_progress *progress, uint64_t bytes, size_t records);

/** Wipe it away. */
void import_progress_end(const struct import_progress *progress);

#endif
