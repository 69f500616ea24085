/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi sync: write the energy that jobs have used into Slurm's accounting. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/error.h"
#include "apapi/job.h"
#include "apapi/record.h"
#include "apapi/scan.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/query.h"
#include "config/config.h"
#include "sync/dbd.h"
#include "sync/jobs.h"

struct batch_job {
    struct runs_job known;
    struct apapi_job *records; /* NULL: not in this batch */
    char own[COMMENT_OWN_SIZE];
};

struct sync {
    /* of the command line */
    struct query query; /* from: NULL: records that are new since the last run */
    bool dry_run;

    int64_t now_ns;   /* [ns since 1970] */
    bool incremental; /* only what is new since the last run, and jobs that waited */
    char state_name[NAME_MAX + 1];
    struct state state;
    struct found found, waiting; /* waiting: jobs for the next run */

    size_t changed; /* changed comments; with dry_run: that would change */
    size_t running; /* jobs that have not ended yet */
    size_t unknown; /* jobs that slurmdbd does not know */
    char unknown_jobs[128];

    /* a batch: some of the found jobs, all of one cluster */
    const char *cluster; /* "": the cluster of slurm.conf */
    size_t count;
    uint32_t *numbers;
    struct batch_job *jobs; /* one for each of `numbers` */
    struct runs runs;
    size_t written;
};

/* --- a batch of jobs ------------------------------------------------------------------------ */

#define CLOCKS_S 60 /* a node's clock may be this far behind Slurm's [s] */

static void note_unknown(struct sync *sync, uint32_t job)
{
    size_t used = strlen(sync->unknown_jobs), size = sizeof sync->unknown_jobs;
    const char *gap = sync->unknown++ ? ", " : "";

    if (used + sizeof ", 4294967295, ..." < size) {
        snprintf(sync->unknown_jobs + used, size - used, "%s%u", gap, job);
    } else if (sync->unknown_jobs[used - 1] != '.') {
        snprintf(sync->unknown_jobs + used, size - used, ", ...");
    }
}

/* Choose the jobs that can be written now. The others wait. */
static int sort_out(struct sync *sync, const struct found_job *jobs, struct apapi_error *err)
{
    for (size_t i = 0; i < sync->count; i++) {
        struct batch_job *job = &sync->jobs[i];
        bool failed;

        job->known = runs_find(&sync->runs, jobs[i].job);
        if (job->known.latest && job->known.latest->ended) {
            job->records = apapi_job_create();
            failed = !job->records;
        } else {
            failed = found_add(&sync->waiting, &jobs[i]);
            if (job->known.latest) {
                sync->running++;
            } else {
                note_unknown(sync, jobs[i].job);
            }
        }
        if (failed) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return 0;
}

static int batch_take_record(const struct apapi_record *record, const char *line, size_t size,
                             void *context)
{
    const struct apapi_measurement *m = &record->measurement;
    struct sync *sync = context;
    const uint32_t *number =
        bsearch(&record->id.job, sync->numbers, sync->count, sizeof *sync->numbers, compare_uint32);
    struct batch_job *job = number ? &sync->jobs[number - sync->numbers] : NULL;
    const char *cluster = *record->id.cluster ? record->id.cluster : dbd_cluster();
    int64_t end_s = m->start_unix_ns / NS_PER_S + (int64_t)(m->elapsed_ns / NS_PER_S);

    (void)line;
    (void)size;
    /* where a node does not know its cluster, a user may forge the record's cluster, but not the
     * uid */
    if (!job || !job->records || strcmp(cluster, sync->cluster) != 0 ||
        record->id.uid != job->known.latest->uid || end_s < job->known.start_s - CLOCKS_S) {
        return 0;
    }
    return apapi_job_add(job->records, record);
}

static int scan_folder(const char *dir, const struct apapi_scan_filter *filter,
                       const struct apapi_scan_sink *sink, struct apapi_error *err)
{
    struct apapi_scan *scan = apapi_scan_create(filter, sink, err);
    int result = scan ? apapi_scan_folder(scan, dir, err) : -1;

    apapi_scan_destroy(scan);
    return result;
}

static int batch_read_records(struct sync *sync, struct apapi_error *err)
{
    const struct apapi_scan_sink sink = {.record = batch_take_record, .context = sync};
    struct apapi_scan_filter filter = {
        .from_unix_ns = INT64_MAX, .jobs = sync->numbers, .job_count = sync->count};

    for (size_t i = 0; i < sync->count; i++) {
        int64_t from_ns = (sync->jobs[i].known.start_s - CLOCKS_S) * NS_PER_S;

        if (sync->jobs[i].records && from_ns < filter.from_unix_ns) {
            filter.from_unix_ns = from_ns;
        }
    }
    return filter.from_unix_ns == INT64_MAX /* no job can be written now */
               ? 0
               : scan_folder(sync->query.dir, &filter, &sink, err);
}

static int batch_set_comment(struct sync *sync, const struct batch_job *job, char *comment,
                             struct apapi_error *err)
{
    const struct dbd_run *run = job->known.latest;
    bool same = strcmp(comment, run->comment) == 0;

    if (sync->query.verbose || (sync->dry_run && !same)) {
        printf("job %u: AdminComment %s%s\n", run->job, comment,
               same            ? " (as it was)"
               : sync->dry_run ? " (not set: dry run)"
                               : "");
    }
    if (!same && !sync->dry_run) {
        if (dbd_write(sync->cluster, run, comment, err)) {
            return -1;
        }
        sync->written++;
    }
    sync->changed += !same;
    return 0;
}

static int write_job(struct sync *sync, struct batch_job *job, struct apapi_error *err)
{
    struct apapi_job_total total;
    char *comment;
    int result;

    if (apapi_job_total(job->records, &total)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (total.records == 0) {
        return 0; /* all records are of another job with the same number */
    }
    comment_own(job->own, &total);
    if (comment_put(job->known.latest->comment, job->own, &comment)) {
        if (errno != EMSGSIZE) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
        fprintf(stderr, "apapi sync: job %u: AdminComment is too long to add to it\n",
                job->known.latest->job);
        *job->own = '\0';
        return 0;
    }
    result = batch_set_comment(sync, job, comment, err);
    free(comment);
    return result;
}

/* Read the comments back: libslurm may have reconnected, and lost uncommitted changes silently. */
static int batch_check(struct sync *sync, struct apapi_error *err)
{
    struct runs now = {0};
    int result = dbd_find(sync->cluster, sync->numbers, sync->count, &now, err);

    for (size_t i = 0; i < sync->count && result == 0; i++) {
        struct runs_job job = runs_find(&now, sync->numbers[i]);

        if (job.latest && !strstr(job.latest->comment, sync->jobs[i].own)) {
            result = apapi_fail(err, EIO, "slurmdbd: what was set for job %u is not there",
                                sync->numbers[i]);
        }
    }
    runs_free(&now);
    return result;
}

static int batch_run(struct sync *sync, const struct found_job *jobs, struct apapi_error *err)
{
    sync->numbers = calloc(sync->count, sizeof *sync->numbers);
    sync->jobs = calloc(sync->count, sizeof *sync->jobs);
    if (!sync->numbers || !sync->jobs) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    for (size_t i = 0; i < sync->count; i++) {
        sync->numbers[i] = jobs[i].job;
    }
    if (dbd_find(sync->cluster, sync->numbers, sync->count, &sync->runs, err) ||
        sort_out(sync, jobs, err) || batch_read_records(sync, err)) {
        return -1;
    }
    for (size_t i = 0; i < sync->count; i++) {
        if (sync->jobs[i].records && write_job(sync, &sync->jobs[i], err)) {
            return -1;
        }
    }
    return sync->written && (dbd_commit(err) || batch_check(sync, err)) ? -1 : 0;
}

static int sync_batch(struct sync *sync, const struct found_job *jobs, size_t count,
                      struct apapi_error *err)
{
    int result, code;

    sync->cluster = jobs->cluster;
    sync->count = count;
    sync->written = 0;
    result = batch_run(sync, jobs, err);
    code = errno;
    for (size_t i = 0; i < count && sync->jobs; i++) {
        apapi_job_destroy(sync->jobs[i].records);
    }
    runs_free(&sync->runs);
    free(sync->numbers);
    free(sync->jobs);
    sync->numbers = NULL;
    sync->jobs = NULL;
    errno = code;
    return result;
}

/* --- all jobs ------------------------------------------------------------------------------- */

#define FIRST_REACH_NS (86400 * NS_PER_S) /* how far a first run reads back */
#define BATCH_JOBS 1000
#define BATCH_RECORDS 100000 /* approximate size of one batch in memory */

/* --- which jobs ----------------------------------------------------------------------------- */

/* A record without a cluster is of slurm.conf's cluster. Otherwise one job would become two. */
static void name_cluster(struct found_job *job, const char *name)
{
    snprintf(job->cluster, sizeof job->cluster, "%s", *name ? name : dbd_cluster());
}

static int sync_take_record(const struct apapi_record *record, const char *line, size_t size,
                            void *context)
{
    struct sync *sync = context;
    struct found_job job = {
        .job = record->id.job, .records = 1, .since_s = sync->now_ns / NS_PER_S};

    (void)line;
    (void)size;
    name_cluster(&job, record->id.cluster);
    return found_add(&sync->found, &job);
}

static void take_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct sync *sync = context;

    if (problem->line == 0 && problem->offset == 0) {
        sync->query.incomplete = true;
        fprintf(stderr, "apapi sync: %s: %s\n", problem->file, problem->reason);
    } else if (sync->query.verbose) {
        command_note_skipped("sync", problem);
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
        *offset = 0; /* it is another file now */
    }
    if (*offset < file->size) {
        return true;
    }
    state_note(&sync->state, sync_path_of(file), *offset);
    return false;
}

static void end_file(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    state_note(&((struct sync *)context)->state, sync_path_of(file), offset);
}

static int find_jobs(struct sync *sync, struct apapi_error *err)
{
    struct apapi_scan_filter filter = sync->query.wanted;
    const struct apapi_scan_sink sink = {.record = sync_take_record,
                                         .problem = take_problem,
                                         .begin = sync->incremental ? begin_file : NULL,
                                         .end = sync->incremental ? end_file : NULL,
                                         .context = sync};
    int result;

    filter.job_parts = false;
    filter.from_unix_ns = sync->incremental ? sync->state.since_ns : filter.from_unix_ns;
    result = scan_folder(sync->query.dir, &filter, &sink, err);
    found_sort(&sync->found);
    return result;
}

/* Report jobs that the user has named and that have no record. */
static void print_missing(const struct sync *sync)
{
    const struct query *query = &sync->query;

    for (size_t i = 0; i < query->job_list.count; i++) {
        uint32_t job = query->job_list.jobs[i];
        size_t found = 0;

        while (found < sync->found.count && sync->found.jobs[found].job != job) {
            found++;
        }
        if (found == sync->found.count) {
            fprintf(stderr, "apapi sync: job %u: no record of it in %s\n", job, query->dir);
        }
    }
}

/* The clusters that records name. */
struct clusters {
    const char *wanted;
    bool found;
    char others[256]; /* separated by commas */
};

static int clusters_take_record(const struct apapi_record *record, const char *line, size_t size,
                                void *context)
{
    struct clusters *clusters = context;
    const char *name = record->id.cluster;
    size_t used = strlen(clusters->others);

    (void)line;
    (void)size;
    clusters->found = text_names_have(clusters->wanted, name);
    if (*name && !clusters->found && !text_names_have(clusters->others, name) &&
        used + strlen(name) + 2 < sizeof clusters->others) {
        sprintf(clusters->others + used, "%s%s", used ? "," : "", name);
    }
    return clusters->found; /* not 0 ends the scan: the other records do not matter */
}

/* @return 0; -1: there are records, and none is of the cluster that was asked for. */
static int check_cluster(const struct query *query, struct apapi_error *err)
{
    struct clusters clusters = {.wanted = query->wanted.cluster};
    const struct apapi_scan_sink sink = {.record = clusters_take_record, .context = &clusters};

    scan_folder(query->dir, &(struct apapi_scan_filter){0}, &sink, NULL);
    return clusters.found || !*clusters.others
               ? 0
               : apapi_fail(err, ENOENT, "no record is of cluster '%.60s', but of %.100s",
                            clusters.wanted, clusters.others);
}

/* --- state ---------------------------------------------------------------------------------- */

/* Take the jobs that waited for this run. Jobs are given up after STATE_REACH_NS. */
static int take_waiting(struct sync *sync, struct apapi_error *err)
{
    int64_t oldest_s = (sync->now_ns - STATE_REACH_NS) / NS_PER_S;
    const struct tree_node *waiting = sync->state.waiting;

    for (const struct tree_node *entry = NULL; (entry = tree_each(waiting, entry));) {
        const struct tree_node *cluster = tree_get(entry, "cluster");
        struct found_job job = {.job = (uint32_t)tree_number(tree_get(entry, "job")),
                                .since_s = (int64_t)tree_number(tree_get(entry, "since"))};

        name_cluster(&job, tree_is(cluster, TREE_TEXT) ? cluster->text : "");
        if (job.job > 0 && job.since_s >= oldest_s && found_add(&sync->found, &job)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return 0;
}

static int sync_load(struct sync *sync, struct apapi_error *err)
{
    const char *cluster = sync->query.wanted.cluster;

    snprintf(sync->state_name, sizeof sync->state_name, "sync%s%.200s.json", cluster ? "-" : "",
             cluster ? cluster : "");
    if (state_load(&sync->state, sync->query.dir, sync->state_name, sync->now_ns - FIRST_REACH_NS,
                   err)) {
        return -1;
    }
    if (sync->state.damaged) {
        fprintf(stderr, "apapi sync: %s/%s is damaged and is created again\n", sync->query.dir,
                sync->state_name);
    }
    return take_waiting(sync, err);
}

static int save(struct sync *sync, struct apapi_error *err)
{
    for (size_t i = 0; i < sync->waiting.count; i++) {
        const struct found_job *job = &sync->waiting.jobs[i];

        state_wait(&sync->state, job->cluster, job->job, job->since_s);
    }
    return state_save(&sync->state, sync->query.dir, sync->state_name, sync->now_ns, err);
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
        result = sync_batch(sync, &sync->found.jobs[i], count, err);
    }
    dbd_close();
    return result;
}

static int sync_run(struct sync *sync, struct apapi_error *err)
{
    int lock = sync->dry_run ? -1 : state_lock(sync->query.dir, err), code;
    int result = (lock < 0 && !sync->dry_run) || (sync->incremental && sync_load(sync, err)) ||
                         find_jobs(sync, err)
                     ? -1
                     : 0;

    if (result == 0 && sync->query.wanted.cluster && sync->found.count == 0 && !sync->state.files) {
        result = check_cluster(&sync->query, err);
    }
    if (result == 0) {
        print_missing(sync);
        result = bring_in(sync, err);
    }
    if (result == 0 && sync->incremental && !sync->dry_run) {
        result = save(sync, err);
    }
    code = errno;
    found_free(&sync->waiting);
    state_free(&sync->state);
    folder_close(lock);
    errno = code;
    return result;
}

/* --- the command ---------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {'M', "clusters", "=C", "only records of this cluster; default: all",
     TO_TEXT(struct sync, query.wanted.cluster)},
    {'S', "starttime", "=T",
     "jobs with a record that ended at T or later; default: with a record\n"
     "that is new since the last run; in a first run 24h",
     TO_TEXT(struct sync, query.from)},
    {'j', "jobs", "=JOB,...", "only these jobs, whatever their age",
     TO_WORDS(struct sync, query.jobs)},
    {0, "acct-dir", " DIR", "folder of the accounting files; default: acct_dir of apapi.conf",
     TO_TEXT(struct sync, query.dir)},
    {0, "dry-run", NULL, "show what would be changed, and change nothing",
     TO_FLAG(struct sync, dry_run)},
    {'v', "verbose", NULL, "show what is done, and which lines are not records",
     TO_FLAG(struct sync, query.verbose)},
    {0}};

static const struct option_table table = {
    .program = "apapi sync",
    .head = "usage: apapi sync [OPTION]...\n"
            "Write the energy of jobs, from the accounting files, into Slurm's accounting: a\n"
            "short JSON object in each job's AdminComment; other text there is kept. For root,\n"
            "from a timer or EpilogSlurmctld.\n",
    .foot = "T is written " WHEN_FORMS ".\n"
            "Exit status: 0 done, also if jobs wait for the next run; 1 failure; 2 wrong usage.\n",
    .column = 22,
    .rows = rows};

static int main_run(struct sync *sync)
{
    struct query *query = &sync->query;
    struct apapi_error err;
    struct config config;
    int status = EXIT_SUCCESS;

    if (query->jobs && query->jobs[strspn(query->jobs, "0123456789,")]) {
        return command_refuse("sync", "--jobs takes job numbers with commas between, as 4711,4712");
    }
    if (query_parse(query)) {
        return USAGE_ERROR;
    }
    if (query->wanted.cluster && folder_check_name(query->wanted.cluster)) {
        return command_refuse("sync", "--clusters takes the name of a cluster");
    }
    command_read_config("sync", &config);
    query->dir = query->dir ? query->dir : config.acct_dir;
    sync->incremental = !query->from && !query->jobs;
    if (sync_run(sync, &err)) {
        bool denied = errno == EACCES && geteuid() != 0;

        status = command_fail("sync", "%s", err.text);
        if (denied) {
            command_fail("sync", "the accounting files are root's: run it as root");
        }
    } else {
        if (sync->unknown > 0) {
            fprintf(stderr, "apapi sync: slurmdbd does not know %zu job%s%s: %s\n", sync->unknown,
                    text_plural(sync->unknown),
                    sync->incremental ? ", tried again by the next run" : "", sync->unknown_jobs);
        }
        if (query->verbose) {
            printf("%zu jobs, %zu changed, %zu not ended, %zu unknown to slurmdbd\n",
                   sync->found.count, sync->changed, sync->running, sync->unknown);
        }
    }
    found_free(&sync->found);
    config_clear(&config);
    query_free(query);
    return command_finish("sync", query->incomplete ? EXIT_FAILURE : status);
}

int main(int argc, char **argv)
{
    static struct sync sync = {.query.command = "sync"};
    int status = option_table_read(&table, argc, argv, &sync);

    sync.now_ns = clock_unix_ns();
    if (status >= 0) {
        return status;
    }
    return optind < argc ? command_refuse("sync", "takes no arguments but options")
                         : main_run(&sync);
}
