/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_STATE_H
#define SYNC_STATE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"
#include "base/json.h"

/*
 * The result of earlier runs: how far each accounting file was read, and the jobs that have records
 * but no comment yet. Kept as JSON in the accounting folder.
 */

#define STATE_REACH_NS (7 * INT64_C(86400000000000)) /* a record may arrive this late [ns] */

struct state {
    bool damaged;                      /* the file exists but is damaged */
    int64_t since_ns;                  /* records that ended earlier are ignored [ns since 1970] */
    struct tree tree;                  /* the file; all zero: a first run */
    const struct tree_node *files;     /* {"2026-11-21/n1.jsonl": bytes}; NULL: none */
    const struct tree_node *waiting;   /* [{"cluster": "mars", "job": 17, "since": s since 1970}] */
    const struct tree_node *next_file; /* behind the one that was asked for last */
    struct json_writer json;           /* what the next run gets: files, then jobs that wait */
    bool waits;                        /* jobs are written */
};

/**
 * Read the state `name` in the folder. If there is none, start with that of a first run, from
 * `first_ns` on.
 * @return 0; -1 with errno ENOMEM, or of reading. Call state_free() in both cases.
 */
int state_load(struct state *state, const char *dir, const char *name, int64_t first_ns,
               struct apapi_error *err);

/** Save, once, what was noted. 0; -1 with errno of the call that failed. */
int state_save(struct state *state, const char *dir, const char *name, int64_t now_ns,
               struct apapi_error *err);

/** Free what it owns. */
void state_free(struct state *state);

/** @return how far a file ("2026-11-21/n1.jsonl") has been read [bytes]. */
uint64_t state_offset(struct state *state, const char *file);

/** Note, once and before any job, how far a file has been read. */
void state_note(struct state *state, const char *file, uint64_t offset);

/** Keep a job for the next run. */
void state_wait(struct state *state, const char *cluster, uint32_t job, int64_t since_s);

/**
 * Lock the folder: one run at a time. Waits for other runs.
 * @return a descriptor, close it at the end; -1 with errno of the call that failed.
 */
int state_lock(const char *dir, struct apapi_error *err);

#endif
