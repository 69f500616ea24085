/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/dbd.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/slurmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
typedef list_t *slurm_list;
typedef list_itr_t *slurm_iterator;
#else
typedef List slurm_list;
typedef ListIterator slurm_iterator;
#endif

#define NODES_WITHIN_S 3600

static void *connection;

static int dbd_fail(struct apapi_error *err, const char *what)
{
    return apapi_fail(err, EIO, "slurmdbd: %s%s%s", what, errno ? ": " : "",
                      errno ? slurm_strerror(errno) : "");
}

/*
 * Slurm's accounting plugin calls functions that only Slurm's own programs have, for example when
 * slurmdbd goes away. They are in a library beside Slurm's plugins, whose folders PluginDir lists.
 */
static void load_rest(const char *plugins)
{
    char path[PATH_MAX];
    const char *folder;

    while (plugins) {
        size_t length = text_word(&plugins, ":", &folder);

        snprintf(path, sizeof path, "%.*s/libslurmfull.so", (int)length, folder);
        dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
    }
}

/* No header declares this variable, but every libslurm exports it. */
static const slurm_conf_t *slurm_begin(void)
{
    static const slurm_conf_t *conf;

    if (!conf) {
        slurm_init(NULL);
        conf = dlsym(RTLD_DEFAULT, "slurm_conf");
        if (conf && conf->plugindir) {
            load_rest(conf->plugindir);
        }
    }
    return conf;
}

const char *dbd_cluster(void)
{
    const slurm_conf_t *conf = slurm_begin();

    return conf && conf->cluster_name ? conf->cluster_name : "";
}

int dbd_open(struct apapi_error *err)
{
    uint16_t flags = 0;

    slurm_begin();
    errno = 0;
    connection = slurmdb_connection_get(&flags);
    if (errno || !connection) {
        dbd_fail(err, "no connection");
        dbd_close();
        errno = EIO;
        return -1;
    }
    return 0;
}

void dbd_close(void)
{
    if (connection) {
        slurmdb_connection_close(&connection);
        connection = NULL;
    }
}

/* The condition of a request. The lists point into it. */
struct condition {
    slurmdb_job_cond_t job;
    slurm_selected_step_t *steps;
    char cluster[64];
};

static void condition_free(struct condition *condition)
{
    if (condition->job.cluster_list) {
        slurm_list_destroy(condition->job.cluster_list);
    }
    slurm_list_destroy(condition->job.step_list);
    free(condition->steps);
}

static int condition_init(struct condition *condition, const char *cluster, size_t count,
                          struct apapi_error *err)
{
    *condition =
        (struct condition){.job = {.db_flags = SLURMDB_JOB_FLAG_NOTSET,
                                   .flags = JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_DEFAULT_USAGE |
                                            JOBCOND_FLAG_NO_WHOLE_HETJOB},
                           .steps = calloc(count, sizeof(slurm_selected_step_t))};
    if (!condition->steps) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    condition->job.step_list = slurm_list_create(NULL);
    if (*cluster) {
        condition->job.cluster_list = slurm_list_create(NULL);
        snprintf(condition->cluster, sizeof condition->cluster, "%s", cluster);
        slurm_list_append(condition->job.cluster_list, condition->cluster);
    }
    return 0;
}

static void select_job(struct condition *condition, size_t index, uint32_t job, uint32_t task)
{
    condition->steps[index] = (slurm_selected_step_t){
        .array_task_id = task,
        .het_job_offset = NO_VAL,
        .step_id = {.job_id = job, .step_het_comp = NO_VAL, .step_id = NO_VAL}};
    slurm_list_append(condition->job.step_list, &condition->steps[index]);
}

static int dbd_hand_over(slurm_list list, struct runs *runs)
{
    slurm_iterator iterator = slurm_list_iterator_create(list);
    slurmdb_job_rec_t *job;
    int result = 0;

    while (result == 0 && (job = slurm_list_next(iterator))) {
        /* the nodes of a short job are recorded seconds after its end, in rare cases never */
        bool ended = (job->state & JOB_STATE_BASE) >= JOB_COMPLETE && job->end > 0 &&
                     (job->alloc_nodes > 0 || job->end < time(NULL) - NODES_WITHIN_S);
        const struct dbd_run run = {.job = job->jobid,
                                    .uid = job->uid,
                                    .array_job = job->array_job_id,
                                    .array_task = job->array_task_id,
                                    .submit_s = job->submit,
                                    .start_s = job->start,
                                    .end_s = job->end,
                                    .ended = ended,
                                    .comment = job->admin_comment ? job->admin_comment : ""};

        result = runs_add(runs, &run);
    }
    slurm_list_iterator_destroy(iterator);
    return result;
}

int dbd_find(const char *cluster, const uint32_t *jobs, size_t count, struct runs *runs,
             struct apapi_error *err)
{
    struct condition condition;
    slurm_list list;
    int result;

    /* slurmdbd makes names of tables from it, unchecked, and a user may forge it in a record */
    if (cluster[strspn(cluster, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789_-.")]) {
        return 0;
    }
    if (condition_init(&condition, cluster, count, err)) {
        return -1;
    }
    condition.job.flags |= JOBCOND_FLAG_DUP;
    for (size_t i = 0; i < count; i++) {
        select_job(&condition, i, jobs[i], NO_VAL);
    }
    errno = 0;
    list = slurmdb_jobs_get(connection, &condition.job);
    condition_free(&condition);
    if (!list) {
        return dbd_fail(err, "it does not answer");
    }
    result = dbd_hand_over(list, runs);
    runs_sort(runs);
    slurm_list_destroy(list);
    return result ? apapi_fail(err, errno, "%s", strerror(errno)) : 0;
}

int dbd_write(const char *cluster, const struct dbd_run *run, char *comment,
              struct apapi_error *err)
{
    slurmdb_job_rec_t job = {
        .admin_comment = comment, .array_task_id = NO_VAL, .derived_ec = NO_VAL, .resvid = NO_VAL};
    struct condition condition;
    slurm_list list;

    if (condition_init(&condition, cluster, 1, err)) {
        return -1;
    }
    /* selected by its own number, the first array element would select the whole array */
    select_job(&condition, 0, run->array_job ? run->array_job : run->job,
               run->array_job ? run->array_task : NO_VAL);
    errno = 0;
    list = slurmdb_job_modify(connection, &condition.job, &job);
    condition_free(&condition);
    if (!list) {
        if (errno == ESLURM_ACCESS_DENIED) {
            return apapi_fail(err, EPERM,
                              "slurmdbd refuses: only root, SlurmUser and Slurm's operators and "
                              "administrators may change AdminComment");
        }
        return errno == SLURM_NO_CHANGE_IN_DATA
                   ? apapi_fail(err, ENOENT, "slurmdbd: it does not know job %u any more", run->job)
                   : dbd_fail(err, "a change has failed");
    }
    slurm_list_destroy(list);
    return 0;
}

int dbd_commit(struct apapi_error *err)
{
    errno = 0;
    return slurmdb_connection_commit(connection, true) == SLURM_SUCCESS
               ? 0
               : dbd_fail(err, "what was changed could not be committed");
}
