/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_FOUND_H
#define SYNC_FOUND_H
#include <stddef.h>
#include <stdint.h>

/** A job that has records. */
struct found_job {
    char cluster[64]; /* "": not known */
    uint32_t job;
    size_t records;  /* seen */
    int64_t since_s; /* since when it waits [s since 1970] */
};

/** A set of them. Zeroed before the first. */
struct found {
    struct found_job *jobs;
    size_t count, room;
};

/** Add a job; the same may come often. 0; -1 with ENOMEM. */
int found_add(struct found *found, const struct found_job *job);

/** Sort by cluster and number; each is there once now, with the sum of its records. */
void found_tidy(struct found *found);

/** Free what it owns. */
void found_free(struct found *found);

#endif
