/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/sync.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apapi/scan.h"
#include "base/clock.h"
#include "sync/state.h"

#define FIRST_REACH_NS (86400 * NS_PER_S) /* how far a first run reads back */
#define BATCH_JOBS 1000
#define BATCH_RECORDS 100000 /* approximate size of one batch in memory */

struct sync {
    const struct sync_options *options;
    struct sync_outcome *outcome;
    bool incremental; /* only what is new since the last run, and jobs that waited */
    char state_name[NAME_MAX + 1];
    struct state state;
    struct found found;
};

/* --- which jobs ----------------------------------------------------------------------------- */

/* A record without a cluster belongs to that of slurm.conf. Otherwise one job would become two. */
static void name_cluster(struct found_job *job, const char *name)
{
    snprintf(job->cluster, sizeof job->cluster, "%s", *name ? name : dbd_cluster());
}

static int sync_take_record(const struct apapi_record *record, const char *line, size_t size,
                            void *context)
{
    struct sync *sync = context;
    struct found_job job = {
        .job = record->id.job, .records = 1, .since_s = sync->options->now_ns / NS_PER_S};

    (void)line;
    (void)size;
    if (record->id.job == APAPI_UNKNOWN) {
        return 0;
    }
    name_cluster(&job, record->id.cluster);
    return found_add(&sync->found, &job);
}

static void take_problem(const struct apapi_scan_problem *problem, void *context)
{
    const struct sync *sync = context;

    if (problem->line > 0 && sync->options->verbose) {
        fprintf(stderr, "apapi sync: %s:%zu: %s\n", problem->file, problem->line, problem->reason);
    } else if (problem->offset > 0 && sync->options->verbose) {
        fprintf(stderr, "apapi sync: %s: byte %llu: %s\n", problem->file,
                (unsigned long long)problem->offset, problem->reason);
    } else if (problem->line == 0 && problem->offset == 0) {
        fprintf(stderr, "apapi sync: %s: %s\n", problem->file, problem->reason);
    }
}

static const char *sync_path_of(const struct apapi_scan_file *file)
{
    static char path[NAME_MAX + 16];

    snprintf(path, sizeof path, "%s/%s", file->day, file->name);
    return path;
}

static bool begin_file(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct sync *sync = context;

    *offset = state_offset(&sync->state, sync_path_of(file));
    if (*offset > file->size) {
        *offset = 0; /* another file */
    }
    if (*offset < file->size) {
        return true;
    }
    state_note(&sync->state, sync_path_of(file), *offset);
    return false;
}

static void end_file(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct sync *sync = context;

    state_note(&sync->state, sync_path_of(file), offset);
}

static int find_jobs(struct sync *sync, struct apapi_error *err)
{
    const struct sync_options *options = sync->options;
    const struct apapi_scan_filter filter = {
        .from_unix_ns = sync->incremental ? sync->state.since_ns : options->since_ns,
        .jobs = options->jobs,
        .job_count = options->job_count,
        .cluster = options->cluster};
    const struct apapi_scan_sink sink = {.record = sync_take_record,
                                         .problem = take_problem,
                                         .begin = sync->incremental ? begin_file : NULL,
                                         .end = sync->incremental ? end_file : NULL,
                                         .context = sync};
    struct apapi_scan *scan = apapi_scan_create(&filter, &sink, err);
    int result;

    if (!scan) {
        return -1;
    }
    result = apapi_scan_folder(scan, options->dir, err);
    apapi_scan_destroy(scan);
    found_tidy(&sync->found);
    sync->outcome->jobs = sync->found.count;
    return result;
}

/* Named jobs without records. */
static void print_missing(const struct sync *sync)
{
    const struct sync_options *options = sync->options;

    for (size_t i = 0; i < options->job_count; i++) {
        size_t found = 0;

        while (found < sync->found.count && sync->found.jobs[found].job != options->jobs[i]) {
            found++;
        }
        if (found == sync->found.count) {
            fprintf(stderr, "apapi sync: job %u: no record of it in %s\n", options->jobs[i],
                    options->dir);
        }
    }
}

/* --- state ---------------------------------------------------------------------------------- */

/* Take the jobs that waited for this run. Jobs are given up after STATE_REACH_NS. */
static int take_waiting(struct sync *sync, struct apapi_error *err)
{
    int64_t oldest_s = (sync->options->now_ns - STATE_REACH_NS) / NS_PER_S;
    size_t index;
    json_t *entry;

    json_array_foreach(sync->state.waiting, index, entry)
    {
        const char *cluster = json_string_value(json_object_get(entry, "cluster"));
        struct found_job job = {.job = (uint32_t)json_integer_value(json_object_get(entry, "job")),
                                .since_s = json_integer_value(json_object_get(entry, "since"))};

        name_cluster(&job, cluster ? cluster : "");
        if (job.job > 0 && job.since_s >= oldest_s && found_add(&sync->found, &job)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return json_array_clear(sync->state.waiting) ? apapi_fail(err, ENOMEM, "no memory") : 0;
}

static int sync_load(struct sync *sync, struct apapi_error *err)
{
    const struct sync_options *options = sync->options;

    snprintf(sync->state_name, sizeof sync->state_name, "sync%s%.200s.json",
             options->cluster ? "-" : "", options->cluster ? options->cluster : "");
    if (state_load(&sync->state, options->dir, sync->state_name, options->now_ns - FIRST_REACH_NS,
                   err)) {
        return -1;
    }
    if (sync->state.damaged) {
        fprintf(stderr, "apapi sync: %s/%s is damaged and is created again\n", options->dir,
                sync->state_name);
    }
    return take_waiting(sync, err);
}

static int save(struct sync *sync, struct apapi_error *err)
{
    for (size_t i = 0; i < sync->outcome->waiting.count; i++) {
        const struct found_job *job = &sync->outcome->waiting.jobs[i];

        if (state_wait(&sync->state, job->cluster, job->job, job->since_s)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return state_save(&sync->state, sync->options->dir, sync->state_name, sync->options->now_ns,
                      err);
}

/* --- all together --------------------------------------------------------------------------- */

/* Find how many jobs from this one on have the same cluster and fit into one batch. */
static size_t batch_size(const struct found *found, size_t first)
{
    size_t count = 0, records = 0;

    while (first + count < found->count && count < BATCH_JOBS && records < BATCH_RECORDS &&
           strcmp(found->jobs[first].cluster, found->jobs[first + count].cluster) == 0) {
        records += found->jobs[first + count++].records;
    }
    return count;
}

static int bring_in(struct sync *sync, struct apapi_error *err)
{
    size_t count;
    int result = 0;

    if (sync->found.count == 0) {
        return 0;
    }
    if (dbd_open(err)) {
        return -1;
    }
    for (size_t i = 0; i < sync->found.count && result == 0; i += count) {
        count = batch_size(&sync->found, i);
        result = sync_batch(sync->options, &sync->found.jobs[i], count, sync->outcome, err);
    }
    dbd_close();
    return result;
}

static int sync_all_jobs(struct sync *sync, struct apapi_error *err)
{
    if (sync->incremental && sync_load(sync, err)) {
        return -1;
    }
    if (find_jobs(sync, err)) {
        return -1;
    }
    print_missing(sync);
    if (bring_in(sync, err)) {
        return -1;
    }
    return sync->incremental && !sync->options->dry_run ? save(sync, err) : 0;
}

int sync_run(const struct sync_options *options, struct sync_outcome *outcome,
             struct apapi_error *err)
{
    struct sync sync = {.options = options,
                        .outcome = outcome,
                        .incremental = !options->since_ns && options->job_count == 0};
    int lock = options->dry_run ? -1 : state_lock(options->dir, err);
    int result = lock < 0 && !options->dry_run ? -1 : sync_all_jobs(&sync, err), code = errno;

    found_free(&sync.found);
    found_free(&outcome->waiting);
    state_free(&sync.state);
    if (lock >= 0) {
        close(lock);
    }
    errno = code;
    return result;
}
