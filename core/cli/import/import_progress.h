/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_IMPORT_PROGRESS_H
#define APAPI_IMPORT_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A progress bar on standard error, if that is a terminal. One thread at a time. */
struct import_progress {
    bool shown;
    uint64_t total_bytes, done_bytes;
    int64_t next_ns; /* time of the next update, monotonic clock */
};

/** @return a bar for this amount; 0: not known. */
struct import_progress import_progress_begin(uint64_t total_bytes);

/** More was read. */
void import_progress_add(struct import_progress *progress, uint64_t bytes, size_t records);

/** Erase it. */
void import_progress_end(const struct import_progress *progress);

#endif
