/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_ARCHIVE_H
#define SAMPLER_ARCHIVE_H
#include "apapi/record.h"
#include "apapi/session.h"
#include "sampler/spool.h"
#include "sampler/step.h"

/**
 * What lasts of a step: its record in the accounting file and, until that is written, in the spool.
 * Also writes what others have left in the spool.
 */
struct archive {
    const struct step *step; /* borrowed */
    char name[SPOOL_NAME_SIZE / 2];
    struct spool spool;
    struct spool_walk walk;
    size_t left;            /* files that the walk may look at */
    uint64_t checkpoint_ns; /* when the next one is due [CLOCK_MONOTONIC]; UINT64_MAX: never */
    int64_t written_ns;     /* which day's file has the record [ns since 1970]; 0: none */
    bool complained;
};

/** Nothing is open. The archive stays where it is. */
void archive_init(struct archive *archive, const struct step *step);

/** The measurement has begun. */
void archive_begin(struct archive *archive);

/** @return how long nothing has to be done, for poll(2) [ms]; -1: for ever. */
int archive_pause_ms(const struct archive *archive);

/** Do the next thing: save a checkpoint, or write one record of somebody who lives no more. */
void archive_work(struct archive *archive, struct apapi_session *session);

/**
 * Write the step's record to the accounting file; if that fails, to the log and the spool.
 * @param line  the record, encoded
 */
void archive_write(struct archive *archive, const struct apapi_record *record, const char *line);

/** Close. After archive_write() it may take as long as the disk does; nobody should wait for it. */
void archive_end(struct archive *archive);

#endif
