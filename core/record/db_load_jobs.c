/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals of jobs, from the rows of their records. */
#include "record/db_load_jobs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/job.h"
#include "record/db_tables.h"
#include "record/timeline.h"
#include "record/timestamp.h"

#define BATCH 1000 /* jobs in a transaction */

/* Columns of the statement below. */
enum { STEP, NODE, START, ELAPSED, COMPLETE, TIMELINE, VERIFIED, FIRST_TEXT };
enum { TEXTS = 5, FIRST_NUMBER = FIRST_TEXT + TEXTS, NUMBERS = 5 };
#define FIRST_DOMAIN (FIRST_NUMBER + NUMBERS)

static const char records_of[] =
    "SELECT step, node, start_ns, elapsed_s, complete, timeline, verified, job_name, user, "
    "account, `partition`, qos, uid, array_job, array_task, het_job, het_offset, package_j, "
    "dram_j, gpu_j, core_j, uncore_j, psys_j, node_j FROM records WHERE cluster = ? AND job = ?";

struct totals {
    struct db *db;
    struct db_statement *stale, *records, *insert;
    struct db_job jobs[BATCH];
};

static void copy_text(char *text, size_t size, struct db_value value)
{
    snprintf(text, size, "%.*s", (int)value.size, value.text ? value.text : "");
}

static double read_real(struct db_statement *row, int column)
{
    struct db_value value = db_column(row, (size_t)column);

    return value.type == DB_REAL ? value.real : NAN;
}

static void read_identity(struct db_statement *row, struct apapi_identity *id)
{
    char *const texts[TEXTS] = {id->job_name, id->user, id->account, id->partition, id->qos};
    uint32_t *const numbers[NUMBERS] = {&id->uid, &id->array_job, &id->array_task, &id->het_job,
                                        &id->het_offset};

    for (int i = 0; i < TEXTS; i++) {
        size_t size = i == 0 ? sizeof id->job_name : sizeof id->user;

        copy_text(texts[i], size, db_column(row, FIRST_TEXT + (size_t)i));
    }
    for (int i = 0; i < NUMBERS; i++) {
        struct db_value value = db_column(row, FIRST_NUMBER + (size_t)i);

        *numbers[i] = value.type == DB_INTEGER ? (uint32_t)value.integer : APAPI_UNKNOWN;
    }
    id->verified = db_column(row, VERIFIED).integer != 0;
}

static void read_timelines(struct db_statement *row, struct apapi_measurement *m)
{
    const struct field_place nowhere = {"", NULL};
    struct db_value text = db_column(row, TIMELINE);
    json_t *root = text.text
                       ? json_pack("{s:o?}", "timeline", json_loadb(text.text, text.size, 0, NULL))
                       : NULL;

    if (json_object_size(root) > 0) {
        timelines_decode(root, m, &nowhere); /* it could be decoded before */
    }
    json_decref(root);
}

static void read_record(struct db_statement *row, struct apapi_record *record)
{
    struct apapi_measurement *m = &record->measurement;

    *record = (struct apapi_record){.id = APAPI_IDENTITY_UNKNOWN};
    copy_text(record->id.step, sizeof record->id.step, db_column(row, STEP));
    copy_text(record->id.node, sizeof record->id.node, db_column(row, NODE));
    read_identity(row, &record->id);
    record->complete = db_column(row, COMPLETE).integer != 0;
    m->start_unix_ns = db_column(row, START).integer;
    m->elapsed_ns = (uint64_t)llround(db_column(row, ELAPSED).real * 1e9);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        m->domains[d] = APAPI_DOMAIN_UNMEASURED;
        m->domains[d].energy_j = read_real(row, FIRST_DOMAIN + d - 1);
        m->domains[d].measured = isfinite(m->domains[d].energy_j);
    }
    read_timelines(row, m);
}

/* What Slurm says before what the step's environment says. */
static void know_better(struct db_job *job, const struct apapi_record *record)
{
    if (!*job->id.node || (record->id.verified && !job->id.verified)) {
        job->id = record->id;
    }
}

static int collect(struct totals *totals, struct db_job *job, struct apapi_job *sum,
                   struct apapi_error *err)
{
    const struct db_value key[] = {db_text(job->cluster), db_integer(job->job)};
    struct apapi_record record;
    int got = db_first(totals->records, key, 2, err);

    for (; got > 0; got = db_step(totals->records, err)) {
        read_record(totals->records, &record);
        know_better(job, &record);
        if (apapi_job_add(sum, &record)) {
            got = apapi_fail(err, ENOMEM, "no memory");
            break;
        }
    }
    db_end(totals->records);
    return got;
}

static int add_up(struct db_job *job, struct apapi_job *sum, struct apapi_error *err)
{
    struct apapi_job_total total;

    if (apapi_job_total(sum, &total)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    job->stale = false;
    job->start_unix_ns = total.start_unix_ns;
    job->end_unix_ns = total.end_unix_ns;
    timestamp_day(job->day, sizeof job->day, total.end_unix_ns);
    job->records = (uint32_t)total.records;
    job->incomplete = (uint32_t)total.incomplete;
    job->steps = (uint32_t)total.steps;
    job->nodes = (uint32_t)total.nodes;
    job->energy_j = total.energy_j;
    job->mean_w = total.mean_w;
    job->covered_ns = total.covered_ns;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        job->domains_j[d] = total.domains[d].energy_j;
    }
    return 0;
}

static int total_job(struct totals *totals, struct db_job *job, struct apapi_error *err)
{
    struct apapi_job *sum = apapi_job_create();
    const void *const bases[] = {job};
    int result;

    if (!sum) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    result = collect(totals, job, sum, err) || add_up(job, sum, err) ||
                     db_insert(totals->insert, &db_jobs, &(struct db_row){.bases = bases}, err)
                 ? -1
                 : 0;
    apapi_job_destroy(sum);
    return result;
}

static int read_stale(struct totals *totals, size_t *count, struct apapi_error *err)
{
    int got;

    for (*count = 0; (got = db_step(totals->stale, err)) > 0; ++*count) {
        struct db_job *job = &totals->jobs[*count];

        *job = (struct db_job){.id = APAPI_IDENTITY_UNKNOWN};
        copy_text(job->cluster, sizeof job->cluster, db_column(totals->stale, 0));
        job->job = (uint32_t)db_column(totals->stale, 1).integer;
    }
    db_end(totals->stale);
    return got;
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
            if (total_job(totals, &totals->jobs[i], err)) {
                return -1;
            }
        }
        if (db_commit(totals->db, err)) {
            return -1;
        }
        all += (int64_t)count;
    } while (count == BATCH);
    return all;
}

int64_t load_jobs(struct db *db, struct db_statement *insert, struct apapi_error *err)
{
    struct totals *totals = calloc(1, sizeof *totals);
    char sql[128];
    int64_t result = -1;

    if (!totals) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    snprintf(sql, sizeof sql, "SELECT cluster, job FROM jobs WHERE stale = 1 LIMIT %d", BATCH);
    totals->db = db;
    totals->insert = insert;
    totals->stale = db_prepare(db, sql, err);
    totals->records = totals->stale ? db_prepare(db, records_of, err) : NULL;
    if (totals->records) {
        result = total_all(totals, err);
    }
    db_finalize(totals->stale);
    db_finalize(totals->records);
    free(totals);
    return result;
}
