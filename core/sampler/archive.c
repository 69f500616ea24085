/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "base/clock.h"
#include "channel/deadline.h"
#include "record/end.h"
#include "record/timestamp.h"
#include "sampler/log.h"

#define NEVER UINT64_MAX
#define WALK_MAX 256 /* files of the spool that are looked at in one go */

void archive_init(struct archive *archive, const struct step *step)
{
    *archive = (struct archive){.step = step, .checkpoint_ns = NEVER};
    archive->spool = SPOOL_CLOSED(step->spool_dir, step->id.node, archive->name);
}

static void begin_walk(struct archive *archive)
{
    spool_walk_end(&archive->walk);
    spool_walk_begin(&archive->walk, archive->step->spool_dir, archive->step->id.node);
    archive->left = WALK_MAX;
}

/* A requeued job has the same id and steps again: the time tells them apart. */
static void choose_name(struct archive *archive)
{
    if (*archive->name == '\0') {
        snprintf(archive->name, sizeof archive->name, "%u.%s-%" PRId64, archive->step->id.job,
                 archive->step->id.step, clock_unix_ns());
    }
}

static bool has_spool(const struct archive *archive)
{
    return *archive->step->acct_dir && *archive->step->spool_dir;
}

void archive_begin(struct archive *archive)
{
    if (!has_spool(archive)) {
        return;
    }
    choose_name(archive);
    begin_walk(archive);
    if (archive->step->checkpoint_ns > 0) {
        archive->checkpoint_ns = deadline_now() + archive->step->checkpoint_ns;
    }
}

int archive_pause_ms(const struct archive *archive)
{
    uint64_t now_ns = deadline_now(), left_ms;

    if (archive->walk.folder || archive->checkpoint_ns <= now_ns) {
        return 0;
    }
    if (archive->checkpoint_ns == NEVER) {
        return -1;
    }
    left_ms = (archive->checkpoint_ns - now_ns) / DEADLINE_MS + 1;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static int save(struct archive *archive, const struct apapi_record *record, struct apapi_error *err)
{
    char *line = NULL;
    int result;

    if (apapi_record_encode(record, &line, err)) {
        return -1;
    }
    result = spool_save(&archive->spool, line, err);
    free(line);
    return result;
}

/* As it shall stand in the accounting file if nothing comes after it. */
static int save_checkpoint(struct archive *archive, struct apapi_session *session,
                           struct apapi_error *err)
{
    struct apapi_record record = {
        .id = archive->step->id, .ending = APAPI_ENDING_UNKNOWN, .recovered = true};
    char moment[TIMESTAMP_SIZE];
    int result;

    if (apapi_session_snapshot(session, &record.measurement, err)) {
        return -1;
    }
    timestamp_format(moment, sizeof moment, record_end_ns(&record.measurement));
    snprintf(record.reason, sizeof record.reason,
             "the node or the sampler ended; recovered from the checkpoint of %.19sZ", moment);
    result = save(archive, &record, err);
    apapi_record_clear(&record);
    return result;
}

/* A disk that stays full is told once in a step. */
static void checkpoint(struct archive *archive, struct apapi_session *session)
{
    struct apapi_error err;

    if (save_checkpoint(archive, session, &err) && !archive->complained) {
        log_write(LOG_WARNING, "no checkpoint of job %u step %s: %s", archive->step->id.job,
               archive->step->id.step, err.text);
        archive->complained = true;
    }
    archive->checkpoint_ns = deadline_now() + archive->step->checkpoint_ns;
}

static enum spool_fate write_spooled(const struct archive *archive, const struct spooled *spooled)
{
    const struct step *step = archive->step;
    struct apapi_record record;
    struct apapi_error err = {""};
    enum spool_fate fate = SPOOL_KEEP;

    if (apapi_record_decode(spooled->line, strlen(spooled->line), &record, &err)) {
        log_write(LOG_ERR, "spool: %s: %s", spooled->name, err.text);
        return errno == EINVAL ? SPOOL_BAD : SPOOL_KEEP;
    }
    /* on the disk before the spool forgets it */
    if (apapi_store_append(step->acct_dir, step->id.node, record_end_ns(&record.measurement),
                           spooled->line, &err) == 0 &&
        apapi_store_sync(step->acct_dir, step->id.node, record_end_ns(&record.measurement), &err) ==
            0) {
        log_write(LOG_NOTICE, "record of job %u step %s written from the spool", record.id.job,
               record.id.step);
        fate = SPOOL_WRITTEN;
    }
    apapi_record_clear(&record);
    return fate;
}

/* Where one cannot be written, the others cannot either: another time. */
static void take_step(struct archive *archive)
{
    struct spooled spooled;

    if (archive->left-- == 0) {
        spool_walk_end(&archive->walk);
    } else if (spool_walk_next(&archive->walk, &spooled) && spooled.line) {
        enum spool_fate fate = write_spooled(archive, &spooled);

        spool_walk_done(&archive->walk, &spooled, fate);
        if (fate == SPOOL_KEEP) {
            spool_walk_end(&archive->walk);
        }
    }
}

void archive_work(struct archive *archive, struct apapi_session *session)
{
    if (archive->walk.folder) {
        take_step(archive);
    } else if (archive->checkpoint_ns <= deadline_now()) {
        checkpoint(archive, session);
        begin_walk(archive);
    }
}

/* Of a log that cuts long lines the spool has the whole one. */
static void put_aside(struct archive *archive, const struct apapi_record *record, const char *line)
{
    struct apapi_record delayed = *record; /* borrows */
    struct apapi_error err = {""};

    log_write(LOG_WARNING, "record: %s", line);
    choose_name(archive);
    delayed.delayed = true;
    if (!has_spool(archive) || save(archive, &delayed, &err)) {
        log_write(LOG_ERR, "record of job %u step %s is only in this log: %s", record->id.job,
               record->id.step, *err.text ? err.text : "there is no spool");
    }
    spool_close(&archive->spool);
}

void archive_write(struct archive *archive, const struct apapi_record *record, const char *line)
{
    const struct step *step = archive->step;
    struct apapi_error err;

    if (*step->acct_dir == '\0') {
        return;
    }
    if (apapi_store_append(step->acct_dir, step->id.node, record_end_ns(&record->measurement), line,
                           &err)) {
        log_write(LOG_ERR, "record of job %u step %s not written: %s", record->id.job, record->id.step,
               err.text);
        put_aside(archive, record, line);
        return;
    }
    archive->written_ns = record_end_ns(&record->measurement);
}

void archive_end(struct archive *archive)
{
    const struct step *step = archive->step;

    spool_walk_end(&archive->walk);
    if (archive->spool.file >= 0 && archive->written_ns &&
        apapi_store_sync(step->acct_dir, step->id.node, archive->written_ns, NULL) == 0) {
        spool_remove(&archive->spool);
    }
    spool_close(&archive->spool);
}
