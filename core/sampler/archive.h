/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_ARCHIVE_H
#define SAMPLER_ARCHIVE_H
#include <stdatomic.h>
#include <stdint.h>

#include "apapi/record.h"
#include "apapi/session.h"
#include "limit/crossings.h"
#include "regions/observe/observe.h"
#include "sampler/spool.h"
#include "sampler/step.h"

/**
 * The permanent results of a step: its record in the accounting file and, until that is written, in
 * the spool. It also writes records that other samplers left in the spool. Tasks do everything that
 * may wait for a disk, so that the sampler can always answer.
 */
struct archive {
    const struct step *step;     /* borrowed */
    struct crossings *crossings; /* for checkpoints, borrowed; NULL: there are no thresholds */
    struct observer *observer;   /* of the step's regions, borrowed; NULL: none */
    char name[SPOOL_NAME_SIZE / 2];
    struct task recovery;     /* writes the records that others left in the spool */
    uint64_t recovery_end_ns; /* checkpoints wait for the recovery until then [CLOCK_MONOTONIC] */
    int recovery_failed;      /* records that its last run could not write */
    atomic_bool ending;       /* asks the recovery to stop */
    struct task saving;       /* saves a checkpoint */
    struct spool spool;       /* used by `saving` while it runs */
    char *checkpoint;         /* the line to save; NULL: none */
    bool sync;                /* `saving` waits until the line is on the disk */
    uint64_t checkpoint_ns;   /* when a checkpoint is due [CLOCK_MONOTONIC]; UINT64_MAX: never */
    bool complained;
    struct task append;
    struct task copy; /* appends the record for the step's user */
    char *line;       /* the record, used by `append` and `copy` while they run; NULL: none */
    int64_t unix_ns;  /* end of the record, which determines its day [ns since 1970] */
    bool written;     /* `append` has appended the record, or: */
    struct apapi_error failure; /* why it has not */
    char *delayed;              /* the line for the spool; NULL: not needed */
    struct apapi_error trouble; /* why the record is not in the accounting file; "": it is */
};

/** Set all members, open nothing yet. The archive must not be moved afterwards. */
void archive_init(struct archive *archive, const struct step *step);

/** Save the first checkpoint, when the measurement has begun. Does not wait for the disk. */
void archive_begin(struct archive *archive, struct apapi_session *session);

/** Have the next checkpoint saved now: more is known of the step. Before the first one: nothing. */
void archive_renew(struct archive *archive);

/** @return for how long there is nothing to do, for poll(2) [ms]; -1: indefinitely. */
int archive_pause_ms(const struct archive *archive);

/** Save a checkpoint if it is due, and write the records that others left. Waits for neither. */
void archive_work(struct archive *archive, struct apapi_session *session);

/**
 * Write the step's record to the accounting file; if that fails, to the log and the spool. Waits
 * for half a second at most.
 * @param line  the encoded record
 */
void archive_write(struct archive *archive, const struct apapi_record *record, const char *line);

/**
 * Close the archive after the plugin got its answer. A record that was not written in time is put
 * into the spool, and then written to the accounting file. May take long.
 */
void archive_end(struct archive *archive);

#endif
