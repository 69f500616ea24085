/* SPDX-License-Identifier: BSD-3-Clause */
/* Calculates totals of jobs from the rows of their records. */
#include "database/db_load_jobs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/job.h"
#include "base/clock.h"
#include "database/db_read.h"
#include "database/db_row.h"
#include "database/db_tables.h"
#include "record/record.h"
#include "sum/timing.h"

#define BATCH 10000   /* jobs in a transaction */
#define USERS_MAX 100 /* of a job's number; the others' jobs have no total */

struct stale {
    char cluster[64];
    uint32_t job;
};

struct totals {
    struct db *db;
    struct db_statement *stale, *done, *owners, *nameless, *old, *users;
    struct db_reader *plain, *whole; /* without timelines and with them */
    struct db_insert *insert;
    struct stale jobs[BATCH];
};

static void db_load_jobs_copy_text(char *text, size_t size, struct db_value value)
{
    snprintf(text, size, "%.*s", (int)value.size, value.text ? value.text : "");
}

/* --- whose records -------------------------------------------------------------------------- */

/*
 * Extern steps may not know the name of their cluster. Their records belong to the job with that
 * number, if only one cluster has it and the user is the same.
 */
struct owners {
    char cluster[64], user[APAPI_TEXT_SIZE], nameless_user[APAPI_TEXT_SIZE];
    bool named, nameless, doubtful;
};

static void note_owner(struct owners *owners, const char *cluster, const char *user)
{
    char *known = *cluster ? owners->user : owners->nameless_user;

    if (*cluster && owners->named && strcmp(cluster, owners->cluster) != 0) {
        owners->doubtful = true;
    }
    if (*user && *known && strcmp(user, known) != 0) {
        owners->doubtful = true;
    }
    if (*user) {
        snprintf(known, sizeof owners->user, "%s", user);
    }
    if (*cluster) {
        snprintf(owners->cluster, sizeof owners->cluster, "%s", cluster);
        owners->named = true;
    } else {
        owners->nameless = true;
    }
}

static bool belong_together(const struct owners *owners)
{
    bool same = !*owners->user || !*owners->nameless_user ||
                strcmp(owners->user, owners->nameless_user) == 0;

    return owners->named && owners->nameless && !owners->doubtful && same;
}

/* @return 1: they belong together, and the job has got the cluster; 0; -1 */
static int db_load_jobs_find_owner(const struct totals *totals, struct db_job *job,
                                   struct apapi_error *err)
{
    const struct db_value number = db_integer(job->job);
    struct owners owners = {.named = false};
    int got = db_first(totals->owners, &number, 1, err);

    for (; got > 0; got = db_step(totals->owners, err)) {
        char cluster[64], user[APAPI_TEXT_SIZE];

        db_load_jobs_copy_text(cluster, sizeof cluster, db_column(totals->owners, 0));
        db_load_jobs_copy_text(user, sizeof user, db_column(totals->owners, 1));
        note_owner(&owners, cluster, user);
    }
    db_end(totals->owners);
    if (got < 0 || !belong_together(&owners)) {
        return got;
    }
    memcpy(job->cluster, owners.cluster, sizeof job->cluster);
    return db_run(totals->nameless, &number, 1, err) ? -1 : 1;
}

/* Slurm's values have precedence over the step's environment, and that over an extern step. */
static void know_better(struct db_job *job, const struct apapi_record *record)
{
    if (!*job->id.node || (record->id.verified && !job->id.verified) ||
        (*record->id.cluster && !*job->id.cluster)) {
        job->id = record->id;
    }
}

/*
 * Detects whether timelines are needed to count each moment once: records of a node overlap, or may
 * do so as its clock has jumped, or the power is not always known.
 */
struct watch {
    char node[APAPI_TEXT_SIZE];
    int64_t end_ns; /* of the latest record of the node so far */
    uint64_t
        booted_ns; /* by the clock and the time since boot of the record before; 0: not known */
    bool timelines;
};

/* Records come sorted by node and start. */
static void db_load_jobs_look(struct watch *watch, const struct apapi_record *record, bool gaps)
{
    const struct apapi_measurement *m = &record->measurement;
    int64_t end_ns = record_end_ns(m);
    uint64_t booted_ns = *m->boot ? (uint64_t)m->start_unix_ns - m->monotonic_ns : 0;

    if (strcmp(watch->node, record->id.node) != 0) {
        memcpy(watch->node, record->id.node, sizeof watch->node);
        watch->end_ns = INT64_MIN;
        watch->booted_ns = booted_ns;
    }
    watch->timelines = watch->timelines || gaps || m->start_unix_ns < watch->end_ns ||
                       booted_ns - watch->booted_ns + TIMING_JUMP_NS > 2 * TIMING_JUMP_NS;
    watch->booted_ns = booted_ns;
    watch->end_ns = end_ns > watch->end_ns ? end_ns : watch->end_ns;
}

/* @return 0; 1: repeat it with the timelines; -1 */
static int db_load_jobs_collect(struct db_reader *reader, bool whole, struct db_job *job,
                                struct apapi_job *sum, struct apapi_error *err)
{
    const struct db_value key[] = {db_integer(job->job), db_text(job->cluster),
                                   db_text(job->with_nameless ? "" : job->cluster),
                                   db_integer(job->uid)};
    struct watch watch = {.end_ns = INT64_MIN};
    struct apapi_record record;
    int got = db_reader_first(reader, key, 4, &record, err);

    for (; got > 0; got = db_reader_next(reader, &record, err)) {
        db_load_jobs_look(&watch, &record, db_reader_gaps(reader));
        if (watch.timelines && !whole) {
            break;
        }
        know_better(job, &record);
        if (apapi_job_add(sum, &record)) {
            got = apapi_fail(err, ENOMEM, "no memory");
            break;
        }
    }
    db_reader_end(reader);
    return got;
}

static int db_load_jobs_add_up(struct db_job *job, struct apapi_job *sum, struct apapi_error *err)
{
    struct apapi_job_total total;

    if (apapi_job_total(sum, &total)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    job->start_unix_ns = total.start_unix_ns;
    job->end_unix_ns = total.end_unix_ns;
    timestamp_day(job->day, sizeof job->day, total.end_unix_ns);
    job->records = (uint32_t)total.records;
    job->incomplete = (uint32_t)total.incomplete;
    job->steps = (uint32_t)total.steps;
    job->nodes = (uint32_t)total.nodes;
    job->energy_j = total.energy_j;
    job->uncertainty_j = total.uncertainty_j;
    job->mean_w = total.mean_w;
    job->covered_ns = total.covered_ns;
    job->elapsed_ns = total.elapsed_ns;
    job->node_s = total.node_s > 0 ? total.node_s : NAN;
    job->runs = (uint32_t)total.runs;
    domain_list_text(total.missing_domains, ",", job->missing_domains);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        job->domains_j[d] = total.domains[d].energy_j;
    }
    return 0;
}

static int total_job(struct totals *totals, struct db_job *job, bool whole, struct apapi_error *err)
{
    struct apapi_job *sum = apapi_job_create();
    const void *const bases[] = {job};
    int result;

    if (!sum) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    result = db_load_jobs_collect(whole ? totals->whole : totals->plain, whole, job, sum, err);
    if (result == 0) {
        result = db_load_jobs_add_up(job, sum, err) ||
                         db_insert_run(totals->insert, &(struct db_row){.bases = bases}, err)
                     ? -1
                     : 0;
    }
    apapi_job_destroy(sum);
    return result;
}

/* A number may have been several users'. @return how many; -1 */
static int find_users(const struct totals *totals, const struct db_job *job,
                      int64_t users[USERS_MAX], struct apapi_error *err)
{
    const struct db_value key[] = {db_integer(job->job), db_text(job->cluster),
                                   db_text(job->with_nameless ? "" : job->cluster)};
    int got, count = 0;

    if (db_run(totals->old, key, 2, err)) {
        return -1;
    }
    for (got = db_first(totals->users, key, 3, err); got > 0 && count < USERS_MAX;
         got = db_step(totals->users, err)) {
        users[count++] = db_column(totals->users, 0).integer;
    }
    db_end(totals->users);
    return got < 0 ? -1 : count;
}

static int total(struct totals *totals, const struct stale *stale, struct apapi_error *err)
{
    struct db_job found = {.id = APAPI_IDENTITY_UNKNOWN, .job = stale->job};
    int64_t users[USERS_MAX];
    int result, count;

    memcpy(found.cluster, stale->cluster, sizeof found.cluster);
    result = db_load_jobs_find_owner(totals, &found, err);
    if (result < 0) {
        return -1;
    }
    found.with_nameless = result > 0;
    count = find_users(totals, &found, users, err);
    result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result == 0; i++) {
        struct db_job job = found;

        job.uid = users[i];
        result = total_job(totals, &job, false, err);
        if (result > 0) {
            result = total_job(totals, &job, true, err);
        }
    }
    return result;
}

static int read_stale(struct totals *totals, size_t *count, struct apapi_error *err)
{
    int got;

    for (*count = 0; (got = db_step(totals->stale, err)) > 0; ++*count) {
        struct stale *job = &totals->jobs[*count];

        db_load_jobs_copy_text(job->cluster, sizeof job->cluster, db_column(totals->stale, 0));
        job->job = (uint32_t)db_column(totals->stale, 1).integer;
    }
    db_end(totals->stale);
    return got;
}

/* The jobs are sorted, with no others in between. */
static int forget_stale(struct totals *totals, size_t count, struct apapi_error *err)
{
    const struct stale *jobs = totals->jobs;

    for (size_t first = 0, end; first < count; first = end) {
        struct db_value range[3] = {db_text(jobs[first].cluster), db_integer(jobs[first].job)};

        for (end = first + 1; end < count && strcmp(jobs[end].cluster, jobs[first].cluster) == 0;) {
            end++;
        }
        range[2] = db_integer(jobs[end - 1].job);
        if (db_run(totals->done, range, 3, err)) {
            return -1;
        }
    }
    return 0;
}

static int64_t total_all(struct totals *totals, struct apapi_error *err)
{
    int64_t all = 0;
    size_t count;

    do {
        if (db_begin(totals->db, err) || read_stale(totals, &count, err)) {
            return -1;
        }
        for (size_t i = 0; i < count; i++) {
            if (total(totals, &totals->jobs[i], err)) {
                return -1;
            }
        }
        if (forget_stale(totals, count, err) || db_commit(totals->db, err)) {
            return -1;
        }
        all += (int64_t)count;
    } while (count == BATCH);
    return all;
}

static int db_load_jobs_prepare(struct totals *totals, struct apapi_error *err)
{
    static const char which[] = "WHERE job = ? AND cluster IN (?, ?) AND COALESCE(uid, 0) = ? "
                                "ORDER BY node, start_ns";
    static const char users[] = "SELECT DISTINCT COALESCE(uid, 0) FROM records WHERE job = ? AND "
                                "cluster IN (?, ?)";
    static const char old[] = "DELETE FROM jobs WHERE job = ? AND cluster = ?";
    static const char owners[] = "SELECT DISTINCT cluster, user FROM records WHERE job = ?";
    static const char nameless[] = "DELETE FROM jobs WHERE cluster = '' AND job = ?";
    const struct db_read_parts plain = {.timelines = false}, whole = {.timelines = true};
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT cluster, job FROM stale_jobs ORDER BY cluster, job LIMIT %d",
             BATCH);
    totals->stale = db_prepare(totals->db, sql, err);
    totals->done = totals->stale ? db_prepare(totals->db,
                                              "DELETE FROM stale_jobs WHERE cluster = ? AND job "
                                              "BETWEEN ? AND ?",
                                              err)
                                 : NULL;
    totals->owners = totals->done ? db_prepare(totals->db, owners, err) : NULL;
    totals->nameless = totals->owners ? db_prepare(totals->db, nameless, err) : NULL;
    totals->old = totals->nameless ? db_prepare(totals->db, old, err) : NULL;
    totals->users = totals->old ? db_prepare(totals->db, users, err) : NULL;
    totals->plain = totals->users ? db_reader_create(totals->db, which, &plain, err) : NULL;
    totals->whole = totals->plain ? db_reader_create(totals->db, which, &whole, err) : NULL;
    totals->insert = totals->whole ? db_insert_create(totals->db, &db_jobs, DB_REPLACE, err) : NULL;
    return totals->insert ? 0 : -1;
}

int64_t load_jobs(struct db *db, struct apapi_error *err)
{
    struct totals *totals = calloc(1, sizeof *totals);
    int64_t result;

    if (!totals) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    totals->db = db;
    result = db_load_jobs_prepare(totals, err) ? -1 : total_all(totals, err);
    db_insert_destroy(totals->insert);
    db_reader_destroy(totals->whole);
    db_reader_destroy(totals->plain);
    db_finalize(totals->users);
    db_finalize(totals->old);
    db_finalize(totals->nameless);
    db_finalize(totals->owners);
    db_finalize(totals->done);
    db_finalize(totals->stale);
    free(totals);
    return result;
}
