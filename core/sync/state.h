/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_STATE_H
#define SYNC_STATE_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"

/*
 * What earlier runs have done: how far each accounting file has been read, and the jobs whose
 * records have been seen and whose comment could not yet be set. JSON in the accounting folder.
 */

#define STATE_REACH_NS (7 * INT64_C(86400000000000)) /* a record may come so late [ns] */

struct state {
    bool damaged;     /* there is one that cannot be understood */
    int64_t since_ns; /* what ended before is nobody's concern [ns since 1970] */
    json_t *files;    /* {"2026-11-21/n1.jsonl": bytes} of the earlier run */
    json_t *next;     /* the same of this run */
    json_t *waiting;  /* [{"cluster": "mars", "job": 17, "since": seconds since 1970}] */
};

/**
 * Read the state `name` of the folder; without one, that of a first run, which begins at
 * `first_ns`.
 * @return 0; -1 with errno ENOMEM, or of reading. To be freed in both cases.
 */
int state_load(struct state *state, const char *dir, const char *name, int64_t first_ns,
               struct apapi_error *err);

/** Replace it: files are those of state_note(). 0; -1 with errno of the call that failed. */
int state_save(const struct state *state, const char *dir, const char *name, int64_t now_ns,
               struct apapi_error *err);

/** Free what it owns. */
void state_free(struct state *state);

/** @return how far a file ("2026-11-21/n1.jsonl") has been read [bytes]. */
uint64_t state_offset(const struct state *state, const char *file);

/** Note it for the next run. 0; -1 with ENOMEM. */
int state_note(struct state *state, const char *file, uint64_t offset);

/** Let a job wait for the next run. 0; -1 with ENOMEM. */
int state_wait(struct state *state, const char *cluster, uint32_t job, int64_t since_s);

/**
 * One run at a time in this folder: wait for the others.
 * @return a descriptor to close at the end; -1 with errno of the call that failed.
 */
int state_lock(const char *dir, struct apapi_error *err);

#endif
