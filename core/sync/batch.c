/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/job.h"
#include "apapi/scan.h"
#include "base/array.h"
#include "base/clock.h"
#include "sync/comment.h"
#include "sync/runs.h"

#define CLOCKS_S 60 /* a node's clock may be this far behind Slurm's [s] */

struct batch_job {
    struct runs_job known;
    struct apapi_job *records; /* NULL: not in this batch */
    char own[COMMENT_OWN_SIZE];
};

struct batch {
    const struct sync_options *options;
    struct sync_outcome *outcome;
    struct dbd_target target;
    size_t count;
    uint32_t *numbers;
    struct batch_job *jobs; /* one for each of `numbers` */
    struct runs runs;
    size_t written;
};

static int batch_init(struct batch *batch, const struct found_job *jobs, size_t count)
{
    batch->numbers = calloc(count, sizeof *batch->numbers);
    batch->jobs = calloc(count, sizeof *batch->jobs);
    if (!batch->numbers || !batch->jobs) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        batch->numbers[i] = jobs[i].job;
    }
    batch->count = count;
    return 0;
}

static void batch_free(struct batch *batch)
{
    int saved = errno;

    for (size_t i = 0; i < batch->count; i++) {
        apapi_job_destroy(batch->jobs[i].records);
    }
    runs_free(&batch->runs);
    free(batch->numbers);
    free(batch->jobs);
    errno = saved;
}

static int find_runs(const struct batch *batch, struct runs *runs, struct apapi_error *err)
{
    const struct dbd_sink sink = {runs_add, runs};
    int result = dbd_find(&batch->target, batch->numbers, batch->count, &sink, err);

    runs_sort(runs);
    return result;
}

static void note_unknown(struct sync_outcome *outcome, uint32_t job)
{
    size_t used = strlen(outcome->unknown_jobs), size = sizeof outcome->unknown_jobs;
    const char *gap = outcome->unknown++ ? ", " : "";

    if (used + sizeof ", 4294967295, ..." < size) {
        snprintf(outcome->unknown_jobs + used, size - used, "%s%u", gap, job);
    } else if (outcome->unknown_jobs[used - 1] != '.') {
        snprintf(outcome->unknown_jobs + used, size - used, ", ...");
    }
}

/* Choose the jobs that can be written now. The others wait. */
static int sort_out(struct batch *batch, const struct found_job *jobs)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_job *job = &batch->jobs[i];

        job->known = runs_find(&batch->runs, jobs[i].job);
        if (job->known.latest && job->known.latest->ended) {
            job->records = apapi_job_create();
        } else if (job->known.latest) {
            batch->outcome->running++;
        } else {
            note_unknown(batch->outcome, jobs[i].job);
        }
        if (job->known.latest && job->known.latest->ended
                ? !job->records
                : found_add(&batch->outcome->waiting, &jobs[i])) {
            return -1;
        }
    }
    return 0;
}

/* If a node does not know its cluster, a user may forge the record's cluster, but not the uid. */
static bool batch_is_of(const struct apapi_record *record, const struct runs_job *known,
                        const struct dbd_target *target)
{
    const char *cluster = *record->id.cluster ? record->id.cluster : dbd_cluster();

    return strcmp(cluster, target->cluster) == 0 && record->id.uid == known->latest->uid;
}

static int batch_take_record(const struct apapi_record *record, const char *line, size_t size,
                             void *context)
{
    const struct apapi_measurement *m = &record->measurement;
    struct batch *batch = context;
    const uint32_t *number = bsearch(&record->id.job, batch->numbers, batch->count,
                                     sizeof *batch->numbers, compare_uint32);
    struct batch_job *job = number ? &batch->jobs[number - batch->numbers] : NULL;
    int64_t end_s = m->start_unix_ns / NS_PER_S + (int64_t)(m->elapsed_ns / NS_PER_S);

    (void)line;
    (void)size;
    if (!job || !job->records || !batch_is_of(record, &job->known, &batch->target) ||
        end_s < job->known.start_s - CLOCKS_S) {
        return 0;
    }
    return apapi_job_add(job->records, record);
}

static int batch_read_records(struct batch *batch, struct apapi_error *err)
{
    const struct apapi_scan_sink sink = {.record = batch_take_record, .context = batch};
    struct apapi_scan_filter filter = {
        .from_unix_ns = INT64_MAX, .jobs = batch->numbers, .job_count = batch->count};
    struct apapi_scan *scan;
    int result;

    for (size_t i = 0; i < batch->count; i++) {
        int64_t from_ns = (batch->jobs[i].known.start_s - CLOCKS_S) * NS_PER_S;

        if (batch->jobs[i].records && from_ns < filter.from_unix_ns) {
            filter.from_unix_ns = from_ns;
        }
    }
    if (filter.from_unix_ns == INT64_MAX) {
        return 0; /* not one of them */
    }
    scan = apapi_scan_create(&filter, &sink, err);
    if (!scan) {
        return -1;
    }
    result = apapi_scan_folder(scan, batch->options->dir, err);
    apapi_scan_destroy(scan);
    return result;
}

static void print_result(const struct batch *batch, const struct batch_job *job,
                         const char *comment, const char *how)
{
    const char *field = dbd_field_name(batch->target.field);

    printf("job %u: %s %s%s\n", job->known.latest->job, field, comment, how);
}

static int batch_set_comment(struct batch *batch, const struct batch_job *job, char *comment,
                             struct apapi_error *err)
{
    const struct sync_options *options = batch->options;

    if (strcmp(comment, job->known.latest->comment) == 0) {
        if (options->verbose) {
            print_result(batch, job, comment, " (as it was)");
        }
        return 0;
    }
    if (options->verbose || options->dry_run) {
        print_result(batch, job, comment, options->dry_run ? " (not set: dry run)" : "");
    }
    if (!options->dry_run && dbd_write(&batch->target, job->known.latest, comment, err)) {
        return -1;
    }
    batch->written += !options->dry_run;
    batch->outcome->changed++;
    return 0;
}

static int write_job(struct batch *batch, struct batch_job *job, struct apapi_error *err)
{
    struct apapi_job_total total;
    char *comment;
    int result;

    if (apapi_job_total(job->records, &total)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (total.records == 0) {
        return 0; /* of another job with the same number */
    }
    comment_own(job->own, &total);
    if (comment_put(job->known.latest->comment, job->own, &comment)) {
        if (errno != EMSGSIZE) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
        fprintf(stderr, "apapi sync: job %u: %s is too long to add to it\n", job->known.latest->job,
                dbd_field_name(batch->target.field));
        *job->own = '\0';
        return 0;
    }
    result = batch_set_comment(batch, job, comment, err);
    free(comment);
    return result;
}

/* If a connection breaks and is opened again, uncommitted changes are lost without an error. */
static int batch_check(struct batch *batch, struct apapi_error *err)
{
    struct runs now = {0};
    int result = find_runs(batch, &now, err);

    for (size_t i = 0; i < batch->count && result == 0; i++) {
        struct runs_job job = runs_find(&now, batch->numbers[i]);

        if (job.latest && !strstr(job.latest->comment, batch->jobs[i].own)) {
            result = apapi_fail(err, EIO, "slurmdbd: what was set for job %u is not there",
                                batch->numbers[i]);
        }
    }
    runs_free(&now);
    return result;
}

static int write_jobs(struct batch *batch, struct apapi_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->jobs[i].records && write_job(batch, &batch->jobs[i], err)) {
            return -1;
        }
    }
    return batch->written ? dbd_commit(err) || batch_check(batch, err) ? -1 : 0 : 0;
}

int sync_batch(const struct sync_options *options, const struct found_job *jobs, size_t count,
               struct sync_outcome *outcome, struct apapi_error *err)
{
    struct batch batch = {.options = options,
                          .outcome = outcome,
                          .target = {.cluster = jobs->cluster, .field = options->field}};
    int result;

    if (batch_init(&batch, jobs, count)) {
        result = apapi_fail(err, ENOMEM, "no memory");
    } else if (find_runs(&batch, &batch.runs, err)) {
        result = -1;
    } else {
        result = sort_out(&batch, jobs) ? apapi_fail(err, ENOMEM, "no memory") : 0;
        if (result == 0) {
            result = batch_read_records(&batch, err) || write_jobs(&batch, err) ? -1 : 0;
        }
    }
    batch_free(&batch);
    return result;
}
