/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_ARCHIVE_H
#define SAMPLER_ARCHIVE_H
#include <stdatomic.h>

#include "apapi/record.h"
#include "apapi/session.h"
#include "sampler/spool.h"
#include "sampler/step.h"
#include "sampler/task.h"

/** The step's line on its way to the accounting file. */
struct archive_line {
    const struct step *step; /* borrowed */
    char *text;              /* NULL: none */
    int64_t unix_ns;         /* decides the day [ns since 1970] */
    int result;              /* of the append */
    struct apapi_error err;
};

/**
 * What lasts of a step: its record in the accounting file and, until that is written, in the spool.
 * Also writes what others have left in the spool. All that may wait for a disk is done by tasks, so
 * that the sampler always answers.
 */
struct archive {
    const struct step *step; /* borrowed */
    char name[SPOOL_NAME_SIZE / 2];
    struct task recovery;     /* writes what others have left */
    uint64_t recovery_end_ns; /* until then checkpoints wait for it [CLOCK_MONOTONIC] */
    atomic_bool ending;       /* the recovery shall end soon */
    struct task saving;       /* saves a checkpoint */
    struct spool spool;       /* of `saving` while that runs */
    char *checkpoint;         /* the line that it saves; NULL: none */
    uint64_t checkpoint_ns;   /* when the next one is due [CLOCK_MONOTONIC]; UINT64_MAX: never */
    bool complained;
    struct task append;
    struct archive_line line;   /* of `append` while that runs */
    char *delayed;              /* the same as it shall stand in the spool; NULL: it need not */
    struct apapi_error trouble; /* why it is not in the accounting file; "": it is */
};

/** Nothing is open. The archive stays where it is. */
void archive_init(struct archive *archive, const struct step *step);

/** The measurement has begun. */
void archive_begin(struct archive *archive);

/** @return how long nothing has to be done, for poll(2) [ms]; -1: for ever. */
int archive_pause_ms(const struct archive *archive);

/** Save a checkpoint if one is due, and look what others have left. Does not wait for it. */
void archive_work(struct archive *archive, struct apapi_session *session);

/**
 * Write the step's record to the accounting file; if that fails, to the log and the spool. Waits
 * for neither of them longer than half a second in all.
 * @param line  the record, encoded
 */
void archive_write(struct archive *archive, const struct apapi_record *record, const char *line);

/**
 * Close, once the plugin has its answer. What could not be written in time is put into the spool
 * first, and then waited for: nobody should wait for this function.
 */
void archive_end(struct archive *archive);

#endif
