/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "base/clock.h"
#include "base/files.h"
#include "channel/deadline.h"
#include "config/installed.h"
#include "record/record.h"
#include "record/store.h"
#include "sampler/process.h"

/* --- copies for the step's user ------------------------------------------------------------- */

static void usercopy_write(const char *dir, const struct apapi_identity *id, int64_t unix_ns,
                           const char *line)
{
    const struct user_record record = {
        .dir = dir, .uid = id->uid, .node = id->node, .unix_ns = unix_ns, .line = line};
    struct apapi_error err;

    if (*dir && id->uid != APAPI_UNKNOWN && user_store_append(&record, &err)) {
        log_write(LOG_NOTICE, "job %u step %s: no copy of its record for its user: %s", id->job,
                  id->step, err.text);
    }
}

/* --- others' records in the spool ----------------------------------------------------------- */

#define RECOVER_MAX 256 /* lines that one run writes or finds to be no records */

struct recovery {
    const struct step *step;
    const atomic_bool *enough;
    int count;                         /* lines so far that RECOVER_MAX limits */
    int failed;                        /* records that could not be written */
    char first[SPOOL_NAME_SIZE + 256]; /* file and reason of the first failure */
};

/* @return whether no other record can be written either: the disk is full, or there is none. */
static bool recovery_is_over(const struct step *step, int code)
{
    int folder = folder_open(step->config.acct_dir, NULL);

    folder_close(folder);
    return folder < 0 || code == ENOSPC || code == EDQUOT;
}

/*
 * The record may be in the file already: readers take one line of each record. If the file cannot
 * be synced, the line may never reach the disk: it stays in the spool and is appended again later.
 */
static enum spool_fate recover_write_line(const struct step *step,
                                          const struct apapi_record *record, const char *line,
                                          struct apapi_error *err)
{
    int64_t end_ns = record_end_ns(&record->measurement);

    if (apapi_store_append(step->config.acct_dir, step->id.node, end_ns, line, err)) {
        return recovery_is_over(step, errno) ? SPOOL_END : SPOOL_KEEP;
    }
    if (apapi_store_sync(step->config.acct_dir, step->id.node, end_ns, err)) {
        return SPOOL_END; /* append no more: each line would be appended again later */
    }
    usercopy_write(step->config.user_records, &record->id, end_ns, line);
    log_write(LOG_NOTICE, "record of job %u step %s written from the spool", record->id.job,
              record->id.step);
    return SPOOL_WRITTEN;
}

static void recovery_note(struct recovery *recovery, const char *name, enum spool_fate fate,
                          const struct apapi_error *err)
{
    if (fate == SPOOL_BAD) {
        log_write(LOG_ERR, "spool: %s: %s", name, err->text);
    }
    if (fate == SPOOL_BAD || fate == SPOOL_WRITTEN) {
        recovery->count++;
    } else if (recovery->failed++ == 0) {
        snprintf(recovery->first, sizeof recovery->first, "%s: %s", name, err->text);
    }
}

static enum spool_fate write_spooled(const char *name, const char *line, void *context)
{
    struct recovery *recovery = context;
    struct apapi_record record;
    struct apapi_error err = {""};
    enum spool_fate fate = SPOOL_KEEP;

    if (!line) {
        apapi_fail(&err, errno, "%s", strerror(errno));
        recovery_note(recovery, name, fate, &err);
        return fate;
    }
    if (recovery->count == RECOVER_MAX || atomic_load(recovery->enough)) {
        return SPOOL_END;
    }
    if (apapi_record_decode(line, strlen(line), &record, &err)) {
        fate = errno == EINVAL ? SPOOL_BAD : SPOOL_KEEP; /* a newer version's record stays */
    } else {
        fate = recover_write_line(recovery->step, &record, line, &err);
        apapi_record_clear(&record);
    }
    recovery_note(recovery, name, fate, &err);
    return fate;
}

/* --- the record ----------------------------------------------------------------------------- */

#define NEVER UINT64_MAX
#define APPEND_PATIENCE_NS (300 * DEADLINE_MS) /* for the accounting file system */
#define SPOOL_PATIENCE_NS (200 * DEADLINE_MS)
#define RECOVERY_PATIENCE_NS (10000 * DEADLINE_MS)
#define COPY_PATIENCE_NS (10000 * DEADLINE_MS) /* for the users' file system */
#define CHECKPOINT_PAUSE_NS (50 * DEADLINE_MS)
#define LINGER_S 60 /* for the accounting file, once the spool has the line */

void archive_init(struct archive *archive, const struct step *step)
{
    *archive = (struct archive){.step = step, .checkpoint_ns = NEVER};
    archive->spool = SPOOL_CLOSED(NULL, step->id.node, archive->name);
}

/* A requeued job has the same ID and steps again. The time makes the name unique. */
static void archive_choose_name(struct archive *archive)
{
    if (*archive->name == '\0') {
        snprintf(archive->name, sizeof archive->name, "%u.%s-%" PRId64, archive->step->id.job,
                 archive->step->id.step, clock_unix_ns());
    }
}

/* Report that checkpoints fail once per step: a disk may stay full. */
static void archive_complain(struct archive *archive, const char *reason)
{
    if (!archive->complained) {
        log_write(LOG_WARNING, "no checkpoint of job %u step %s: %s", archive->step->id.job,
                  archive->step->id.step, reason);
        archive->complained = true;
    }
}

static int archive_spool(struct archive *archive, const char *line, bool sync,
                         struct apapi_error *err)
{
    config_folder_make_above(archive->step->config.spool_dir);
    return spool_save(&archive->spool, line, sync, err);
}

static void do_save(void *context)
{
    struct archive *archive = context;
    struct apapi_error err;

    if (archive_spool(archive, archive->checkpoint, archive->sync, &err)) {
        archive_complain(archive, err.text);
    }
    free(archive->checkpoint);
    archive->checkpoint = NULL;
}

static void do_recover(void *context)
{
    struct archive *archive = context;
    struct recovery recovery = {.step = archive->step, .enough = &archive->ending};

    config_folder_make_above(archive->step->config.acct_dir);
    spool_each(archive->step->config.spool_dir, archive->step->id.node, write_spooled, &recovery);
    if (recovery.failed > archive->recovery_failed) { /* report only more than last time */
        log_write(LOG_ERR, "spool: records that could not be written: %d; %s", recovery.failed,
                  recovery.first);
    }
    archive->recovery_failed = recovery.failed;
}

static void recover(struct archive *archive)
{
    if (task_wait(&archive->recovery, 0)) {
        archive->recovery_end_ns = deadline_now() + RECOVERY_PATIENCE_NS;
        task_start(&archive->recovery, do_recover, archive);
    }
}

int archive_pause_ms(const struct archive *archive)
{
    return archive->checkpoint_ns == NEVER ? -1 : clock_left_ms(archive->checkpoint_ns);
}

/* Encode the record as the accounting file gets it if the sampler dies now. */
static int encode_checkpoint(const struct archive *archive, struct apapi_session *session,
                             char **line, struct apapi_error *err)
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
    if (archive->crossings) {
        crossings_copy(archive->crossings, &record);
    }
    if (archive->observer) {
        observe_result(archive->observer, &record.measurement, &record.regions);
    }
    result = apapi_record_encode(&record, line, err);
    apapi_record_clear(&record);
    return result;
}

/* No checkpoint is made while the previous one is still being written. */
static void checkpoint(struct archive *archive, struct apapi_session *session)
{
    struct apapi_error err;

    if (!task_wait(&archive->saving, 0)) {
        return;
    }
    if (encode_checkpoint(archive, session, &archive->checkpoint, &err)) {
        archive_complain(archive, err.text);
        return;
    }
    archive->sync = archive->checkpoint_ns != NEVER; /* not the first: short steps need not wait */
    task_start(&archive->saving, do_save, archive);
}

void archive_begin(struct archive *archive, struct apapi_session *session)
{
    archive->spool.dir = archive->step->config.spool_dir;
    archive_choose_name(archive);
    if (archive->step->config.checkpoint_ns > 0) {
        checkpoint(archive, session);
        archive->checkpoint_ns = deadline_now() + archive->step->config.checkpoint_ns;
    }
    recover(archive);
}

void archive_renew(struct archive *archive)
{
    if (archive->checkpoint_ns != NEVER) {
        archive->checkpoint_ns = 0;
    }
}

/* Later checkpoints wait for the recovery, so that what other samplers left is written first. */
void archive_work(struct archive *archive, struct apapi_session *session)
{
    uint64_t now_ns = deadline_now();

    if (archive->checkpoint_ns > now_ns) {
        return;
    }
    if (now_ns < archive->recovery_end_ns && !task_wait(&archive->recovery, 0)) {
        archive->checkpoint_ns = now_ns + CHECKPOINT_PAUSE_NS;
        return;
    }
    checkpoint(archive, session);
    recover(archive);
    archive->checkpoint_ns = now_ns + archive->step->config.checkpoint_ns;
}

static void do_append(void *context)
{
    struct archive *archive = context;
    const struct step *step = archive->step;

    archive->written = apapi_store_append(step->config.acct_dir, step->id.node, archive->unix_ns,
                                          archive->line, &archive->failure) == 0;
}

static void do_copy(void *context)
{
    const struct archive *archive = context;

    usercopy_write(archive->step->config.user_records, &archive->step->id, archive->unix_ns,
                   archive->line);
}

/* The log may cut long lines. The spool has the complete one. */
static void log_delay(struct archive *archive, const char *reason)
{
    const struct apapi_identity *id = &archive->step->id;

    log_write(LOG_ERR, "record of job %u step %s not written: %s", id->job, id->step, reason);
    log_write(LOG_WARNING, "record: %s", archive->line);
}

/* @return whether a later sampler finds the record. */
static bool put_aside(struct archive *archive)
{
    const struct apapi_identity *id = &archive->step->id;
    struct apapi_error err;
    bool saved;

    archive_choose_name(archive);
    saved = archive_spool(archive, archive->delayed, true, &err) == 0;
    if (!saved) {
        log_write(LOG_ERR, "record of job %u step %s is only in this log: %s", id->job, id->step,
                  err.text);
    }
    free(archive->delayed);
    archive->delayed = NULL;
    return saved;
}

static char *encode_delayed(const struct apapi_record *record)
{
    struct apapi_record delayed = *record; /* shallow copy */
    char *line = NULL;

    delayed.delayed = true;
    return apapi_record_encode(&delayed, &line, NULL) ? NULL : line;
}

static void archive_note(struct archive *archive, const char *reason, bool kept)
{
    snprintf(archive->trouble.text, sizeof archive->trouble.text, "%.150s; %s", reason,
             kept ? "the node tries again" : "only the system log of the node has it");
}

void archive_write(struct archive *archive, const struct apapi_record *record, const char *line)
{
    atomic_store(&archive->ending, true);
    archive->line = strdup(line);
    if (!archive->line) {
        return;
    }
    archive->unix_ns = record_end_ns(&record->measurement);
    task_start(&archive->append, do_append, archive);
    if (!task_wait(&archive->append, deadline_now() + APPEND_PATIENCE_NS)) {
        archive->delayed = encode_delayed(record);
        log_delay(archive, "the file system of the accounting does not answer");
        archive_note(archive, "the file system of the accounting does not answer", true);
    } else if (!archive->written) {
        archive->delayed = encode_delayed(record);
        log_delay(archive, archive->failure.text);
        archive_note(archive, archive->failure.text,
                     archive->delayed &&
                         (!task_wait(&archive->saving, deadline_now() + SPOOL_PATIENCE_NS) ||
                          put_aside(archive)));
    }
}

void archive_end(struct archive *archive)
{
    const struct step *step = archive->step;

    atomic_store(&archive->ending, true);
    if (archive->line && *step->config.user_records) {
        task_start(&archive->copy, do_copy, archive);
    }
    task_wait(&archive->saving, NEVER);
    if (archive->delayed) {
        put_aside(archive);
    }
    if (archive->spool.file >= 0) {
        watchdog_set(LINGER_S); /* the next sampler finds the line in the spool */
    }
    task_wait(&archive->append, NEVER);
    if (archive->written && archive->spool.file >= 0 &&
        (!archive->spool.synced ||
         apapi_store_sync(step->config.acct_dir, step->id.node, archive->unix_ns, NULL) == 0)) {
        spool_remove(&archive->spool);
    }
    spool_close(&archive->spool);
    task_wait(&archive->recovery, deadline_now() + RECOVERY_PATIENCE_NS);
    if (task_wait(&archive->copy, deadline_now() + COPY_PATIENCE_NS)) {
        free(archive->line);
        archive->line = NULL;
    }
}
