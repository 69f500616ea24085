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
    struct task recovery;     /* writes what others left in the spool */
    uint64_t recovery_end_ns; /* checkpoints wait for the recovery until then [CLOCK_MONOTONIC] */
    int recovery_failed;      /* records that its last run could not write */
    atomic_bool ending;       /* asks the recovery to stop */
    struct task saving;       /* saves a checkpoint */
    struct spool spool;       /* used by `saving` while it runs */
    char *checkpoint;         /* the line to save; NULL: none */
    bool sync;                /* wait until it is on the disk */
    uint64_t checkpoint_ns;   /* when the next one is due [CLOCK_MONOTONIC]; UINT64_MAX: never */
    bool complained;
    struct task append;
    struct task copy;           /* appends it for its user */
    char *line;                 /* of the record, used by both while they run; NULL: none */
    int64_t unix_ns;            /* determines its day [ns since 1970] */
    bool written;               /* it was appended, or: */
    struct apapi_error failure; /* why not */
    char *delayed;              /* the line for the spool; NULL: not needed */
    struct apapi_error trouble; /* why the record is not in the accounting file; "": it is */
};

/** Open nothing yet. The archive must not be moved afterwards. */
void archive_init(struct archive *archive, const struct step *step);

/** The measurement has begun: save the first checkpoint, and do not wait for it. */
void archive_begin(struct archive *archive, struct apapi_session *session);

/** @return for how long there is nothing to do, for poll(2) [ms]; -1: indefinitely. */
int archive_pause_ms(const struct archive *archive);

/** Save a checkpoint if one is due, and look for what others left. Does not wait for either. */
void archive_work(struct archive *archive, struct apapi_session *session);

/**
 * Write the step's record to the accounting file; if that fails, to the log and the spool. Waits
 * for half a second at most.
 * @param line  the encoded record
 */
void archive_write(struct archive *archive, const struct apapi_record *record, const char *line);

/**
 * Close after the plugin got its answer. A record that was not written in time is put into the
 * spool, and then waited for. May take long.
 */
void archive_end(struct archive *archive);

#endif
