/* SPDX-License-Identifier: BSD-3-Clause */
/* Which records belong to the job that was asked for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "record/members.h"
#include "record/record.h"
#include "sum/members.h"
#include "sum/sum.h"

/* --- who a job belongs to ------------------------------------------------------------------- */

enum { CLAIMED = 1, NUMBERED, VERIFIED, OWN };

void claims_learn(struct claims *claims, const struct apapi_identity *id)
{
    struct claims_owner *owner = claims->owners;
    int rank = CLAIMED;

    if (id->job == claims->job) {
        rank = OWN;
    } else if (id->array_job == claims->job && id->verified) { /* Slurm says so */
        rank = VERIFIED;
    } else if (id->het_job == claims->job && id->job - id->het_job == id->het_offset) {
        rank = NUMBERED; /* Slurm numbers the components consecutively */
    }
    while (owner < claims->owners + claims->count && strcmp(owner->cluster, id->cluster) != 0) {
        owner++;
    }
    if (owner == claims->owners + CLAIMS_OWNERS_MAX) {
        return;
    }
    if (owner == claims->owners + claims->count) {
        claims->count++;
        snprintf(owner->cluster, sizeof owner->cluster, "%s", id->cluster);
        owner->rank = 0;
    }
    if (rank > owner->rank) {
        owner->uid = id->uid;
        owner->rank = rank;
    }
}

bool claims_hold(const struct claims *claims, const struct apapi_identity *id)
{
    bool owned = false;

    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_owner *owner = &claims->owners[i];
        bool same = !*id->cluster || strcmp(owner->cluster, id->cluster) == 0;

        if (same && owner->rank > CLAIMED) {
            owned = true;
            if (owner->uid == id->uid || id->uid == APAPI_UNKNOWN) {
                return true;
            }
        }
    }
    return !owned;
}

/* --- which records are kept ------------------------------------------------------------------- */

static bool show_is_own(const struct show *show, const struct apapi_identity *id)
{
    return show->job == 0 || id->job == show->job;
}

static bool show_is_of(const struct show *show, const struct show_share *share,
                       const struct apapi_identity *id)
{
    return share->own == show_is_own(show, id) && share->uid == id->uid;
}

/* NULL with ENOMEM. */
static struct show_share *show_find_share(struct show *show, const struct apapi_identity *id)
{
    for (size_t i = 0; i < show->share_count; i++) {
        if (show_is_of(show, &show->shares[i], id)) {
            return &show->shares[i];
        }
    }
    if (array_add(&show->shares, show->share_count, &show->share_room, sizeof *show->shares)) {
        return NULL;
    }
    show->shares[show->share_count] =
        (struct show_share){.own = show_is_own(show, id), .uid = id->uid};
    return &show->shares[show->share_count++];
}

/*
 * If there is none left, a record is left out: of the records that are not the job's own, one of
 * the user who has most; that of this share if nobody has more.
 * @return whether there is room for a record of this share
 */
static bool show_make_room(struct show *show, struct show_share *share)
{
    size_t most = share->own ? 0 : share->count + 1, last = show->count;
    struct show_share *greatest = share;

    if (show->count < SHOW_RECORDS_MAX) {
        return true;
    }
    for (size_t i = 0; i < show->share_count; i++) {
        if (!show->shares[i].own && show->shares[i].count > most) {
            greatest = &show->shares[i];
            most = greatest->count;
        }
    }
    greatest->left_out++;
    show->left_out++;
    if (greatest == share) {
        return false;
    }
    while (!show_is_of(show, greatest, &show->records[--last].id)) {
    }
    apapi_record_clear(&show->records[last]);
    show->records[last] = show->records[--show->count];
    greatest->count--;
    return true;
}

int show_add(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct show *show = context;
    struct show_share *share = show_find_share(show, &record->id);

    if (!share) {
        return -1;
    }
    if (!show_make_room(show, share)) {
        return 0;
    }
    if (array_add(&show->records, show->count, &show->room, sizeof *show->records)) {
        return -1;
    }
    if (!line) {
        show->records[show->count] = *record;
        if (regions_copy(&show->records[show->count].regions, &record->regions)) {
            return -1;
        }
    } else if (apapi_record_decode(line, size, &show->records[show->count], NULL)) {
        return -1;
    }
    show->count++;
    share->count++;
    return 0;
}

/* Count those that had no room of the users only whose records are still there. */
static void show_forget_strangers(struct show *show)
{
    show->left_out = 0;
    for (size_t i = 0; i < show->share_count; i++) {
        const struct show_share *share = &show->shares[i];
        size_t at = 0;

        while (at < show->count && !show_is_of(show, share, &show->records[at].id)) {
            at++;
        }
        show->left_out += at < show->count ? share->left_out : 0;
    }
}

/* Say that records were left out. */
static void show_note_left_out(const char *command, size_t count, const char *reason)
{
    if (count > 0) {
        fprintf(stderr, "apapi %s: %zu record%s left out: %s\n", command, count, text_plural(count),
                reason);
    }
}

/* --- which records are of one job ------------------------------------------------------------- */

static bool is_heterogeneous(const struct show *show)
{
    uint32_t job = show->records[0].id.het_job;

    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_identity *id = &show->records[i].id;

        if (id->het_job != job || id->het_offset == APAPI_UNKNOWN) {
            return false;
        }
    }
    return job != APAPI_UNKNOWN;
}

/*
 * Check that the records belong to one job. For the components of a heterogeneous job they do, and
 * their steps become "+1.0".
 */
static bool show_join(struct show *show)
{
    const struct apapi_identity *first = &show->records[0].id;
    bool same_number = true;

    for (size_t i = 1; i < show->count; i++) {
        same_number = same_number && show->records[i].id.job == first->job;
        if (strcmp(show->records[i].id.cluster, first->cluster) != 0) {
            return false;
        }
    }
    if (same_number) {
        return true;
    }
    show->heterogeneous = is_heterogeneous(show);
    if (show->heterogeneous) { /* steps in Slurm's form after the job: "+1.0" */
        for (size_t i = 0; i < show->count; i++) {
            struct apapi_identity *id = &show->records[i].id;
            char step[20];

            snprintf(step, sizeof step, "%.19s", id->step);
            snprintf(id->step, sizeof id->step, "+%u.%s", id->het_offset, step);
        }
    }
    return show->heterogeneous;
}

static int show_join_compare_ends(const void *left, const void *right)
{
    const struct apapi_record *a = left, *b = right;

    return COMPARE(record_end_ns(&a->measurement), record_end_ns(&b->measurement));
}

static bool is_same_user(const struct apapi_identity *a, const struct apapi_identity *b)
{
    return a->uid == b->uid || a->uid == APAPI_UNKNOWN || b->uid == APAPI_UNKNOWN;
}

void show_drop_earlier(struct show *show, uint32_t job, const char *command)
{
    const struct apapi_identity *latest = NULL;
    int64_t start_ns = 0;
    size_t count = show->count, first = count, kept;

    qsort(show->records, count, sizeof *show->records, show_join_compare_ends);
    for (size_t i = count; i-- > 0;) {
        struct apapi_record *record = &show->records[i];
        const struct apapi_measurement *m = &record->measurement;
        bool own = record->id.job == job;

        if (own && latest && strcmp(latest->cluster, record->id.cluster) == 0 &&
            (!is_same_user(latest, &record->id) ||
             start_ns - record_end_ns(m) >= TIMING_SAME_JOB_NS)) {
            apapi_record_clear(record);
            continue;
        }
        if (own && (!latest || m->start_unix_ns < start_ns)) {
            start_ns = m->start_unix_ns;
        }
        show->records[--first] = *record;
        latest = own && !latest ? &show->records[first].id : latest;
    }
    kept = count - first;
    memmove(show->records, show->records + first, kept * sizeof *show->records);
    show->count = kept;
    show_note_left_out(command, count - kept, "the number was an earlier job's, too");
}

/*
 * Remove records of other users' jobs that claim to be part of `job`.
 * @return their number.
 */
static size_t show_drop_strangers(struct show *show, uint32_t job)
{
    struct claims claims = {.job = job};
    size_t kept = 0, count = show->count;

    for (size_t i = 0; i < count; i++) {
        claims_learn(&claims, &show->records[i].id);
    }
    for (size_t i = 0; i < count; i++) {
        const struct apapi_identity *id = &show->records[i].id;

        if (id->job == job || claims_hold(&claims, id)) {
            show->records[kept++] = show->records[i];
        } else {
            apapi_record_clear(&show->records[i]);
        }
    }
    show->count = kept;
    show_forget_strangers(show);
    return count - kept;
}

/* --- the job that was asked for --------------------------------------------------------------- */

static bool job_choose_is_named(const char *list, const char *job_id)
{
    size_t size = strlen(job_id);

    for (const char *at = list; (at = strstr(at, job_id)); at += size) {
        if ((at == list || at[-1] == ' ') && (at[size] == ',' || at[size] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Refuse an array, or jobs of several clusters: the user must choose. */
static int job_choose_refuse(const struct show *show, const char *command)
{
    char list[80] = "", job_id[32];
    size_t size = 0;
    bool more = false;

    for (size_t i = 0; i < show->count; i++) {
        job_id_text(&show->records[i].id, job_id, sizeof job_id);
        if (job_choose_is_named(list, job_id)) {
            continue;
        }
        more = more || size + strlen(job_id) + 3 > sizeof list;
        if (!more) {
            size +=
                (size_t)snprintf(list + size, sizeof list - size, "%s%s", size ? ", " : "", job_id);
        }
    }
    return command_fail(command, "several jobs match: %s%s; name one, or a cluster with -M", list,
                        more ? ", ..." : "");
}

/* Old records name no cluster: they may be of any job with this number. */
static void drop_nameless(struct show *show, const char *command)
{
    size_t kept = 0, count = show->count;
    bool named = false;

    for (size_t i = 0; i < count; i++) {
        named = named || *show->records[i].id.cluster;
    }
    for (size_t i = 0; i < count; i++) {
        if (named && !*show->records[i].id.cluster) {
            apapi_record_clear(&show->records[i]);
        } else {
            show->records[kept++] = show->records[i];
        }
    }
    show->count = kept;
    show_note_left_out(command, count - kept, "no cluster is named there");
}

int show_choose(struct show *show, const char *command, char *job_id, size_t size)
{
    show_note_left_out(command, show_drop_strangers(show, show->job),
                       "another user's job claims to be part of this one");
    if (show->count == 0) {
        return command_fail(command, "no record of this job found");
    }
    show_drop_earlier(show, show->job, command);
    drop_nameless(show, command);
    if (!show_join(show)) {
        return job_choose_refuse(show, command);
    }
    if (show->heterogeneous) {
        snprintf(job_id, size, "%u", show->records[0].id.het_job);
    } else {
        job_id_text(&show->records[0].id, job_id, size);
    }
    return 0;
}
