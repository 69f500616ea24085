/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/recover.h"

#include <errno.h>
#include <string.h>
#include <syslog.h>

#include "record/end.h"
#include "sampler/log.h"
#include "sampler/spool.h"
#include "sampler/usercopy.h"
#include "sampler/written.h"
#include "store/store.h"

#define WALK_MAX 256 /* files of the spool that one run handles */

/* The record is on the disk before it is removed from the spool. */
static int recover_write_line(const struct step *step, const struct apapi_record *record,
                              const char *line, struct apapi_error *err)
{
    int64_t end_ns = record_end_ns(&record->measurement);
    int written = written_find(step->config.acct_dir, step->id.node, record, err);

    if (written != 0) {
        return written < 0 ? -1 : 0;
    }
    if (apapi_store_append(step->config.acct_dir, step->id.node, end_ns, line, err) ||
        apapi_store_sync(step->config.acct_dir, step->id.node, end_ns, err)) {
        return -1;
    }
    usercopy_write(step->config.user_records, &record->id, end_ns, line);
    return 0;
}

static enum spool_fate write_spooled(const struct step *step, const struct spooled *spooled)
{
    struct apapi_record record;
    struct apapi_error err = {""};
    enum spool_fate fate = SPOOL_KEEP;

    if (apapi_record_decode(spooled->line, strlen(spooled->line), &record, &err)) {
        log_write(LOG_ERR, "spool: %s: %s", spooled->name, err.text);
        return errno == EINVAL ? SPOOL_BAD : SPOOL_KEEP;
    }
    if (recover_write_line(step, &record, spooled->line, &err) == 0) {
        log_write(LOG_NOTICE, "record of job %u step %s written from the spool", record.id.job,
                  record.id.step);
        fate = SPOOL_WRITTEN;
    }
    apapi_record_clear(&record);
    return fate;
}

/* If one record cannot be written, the others cannot either. */
void recover_spooled(const struct step *step, const atomic_bool *enough)
{
    struct spool_walk walk;
    struct spooled spooled;

    spool_walk_begin(&walk, step->config.spool_dir, step->id.node);
    for (int i = 0; i < WALK_MAX && !atomic_load(enough) && spool_walk_next(&walk, &spooled); i++) {
        enum spool_fate fate = spooled.line ? write_spooled(step, &spooled) : SPOOL_WRITTEN;

        spool_walk_done(&walk, &spooled, fate);
        if (fate == SPOOL_KEEP) {
            break;
        }
    }
    spool_walk_end(&walk);
}
