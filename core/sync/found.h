/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_FOUND_H
#define SYNC_FOUND_H
#include <stddef.h>
#include <stdint.h>

/** A job with records. */
struct found_job {
    char cluster[64]; /* "": not known */
    uint32_t job;
    size_t records;  /* found */
    int64_t since_s; /* waiting since then [s since 1970] */
};

/** A set of jobs. All zero at the start. */
struct found {
    struct found_job *jobs;
    size_t count, room;
};

/** Add a job. Duplicates are allowed. 0; -1 with ENOMEM. */
int found_add(struct found *found, const struct found_job *job);

/** Sort by cluster and number, and join duplicates: their records are added up. */
void found_tidy(struct found *found);

/** Free what it owns. */
void found_free(struct found *found);

#endif
