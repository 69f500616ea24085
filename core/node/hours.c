/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/hours.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>

#include "base/clock.h"
#include "base/files.h"
#include "config/slurm_conf.h"
#include "node/readings.h"
#include "record/hour.h"
#include "record/store.h"

#define HOUR_NS (NS_PER_S * 3600)
#define DAY_NS (NS_PER_S * 24 * 3600)
#define CLOSE_S 2

static void hour_sum_add(struct hour_sum *sum, const struct hour_sum *more)
{
    if (isnan(sum->energy_j)) {
        *sum = *more;
    } else if (!isnan(more->energy_j)) {
        sum->energy_j += more->energy_j;
        sum->steps_j += more->steps_j;
        sum->idle_j += more->idle_j;
        sum->unattributed_j += more->unattributed_j;
    }
}

static struct hour_sum *hour_sum_of(struct hour *hour, int domain)
{
    return domain == APAPI_DOMAIN_NODE ? &hour->node_meter : &hour->domains[domain];
}

static void hours_begin(struct hours *hours, int64_t hour_ns, int64_t begin_ns)
{
    static const struct hour_sum unknown = {NAN, NAN, NAN, NAN};
    struct hour *hour = &hours->hour;

    *hour = (struct hour){.start_ns = begin_ns > hour_ns ? begin_ns : hour_ns, .idle_w = NAN};
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        hour->domains[d] = unknown;
    }
    hour->total = hour->node_meter = unknown;
    snprintf(hour->cluster, sizeof hour->cluster, "%s", hours->cluster);
    snprintf(hour->node, sizeof hour->node, "%s", hours->settings->node);
    snprintf(hour->method, sizeof hour->method, "%s", hours->method);
    hours->begun = true;
}

static void hours_add_gap(struct hour *hour, int64_t start_ns, double elapsed_s, const char *reason)
{
    if (hour->gap_count < HOUR_GAPS_MAX) {
        struct hour_gap *gap = &hour->gaps[hour->gap_count++];

        *gap = (struct hour_gap){.start_ns = start_ns, .elapsed_s = elapsed_s};
        snprintf(gap->reason, sizeof gap->reason, "%s", reason);
    }
    hour->gap_total++;
}

static void hours_add_energy(struct hour *hour, const struct node_reading *reading,
                             const struct share_totals *totals)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct hour_sum sum = {totals->energy_j[d], totals->steps_j[d], totals->idle_j[d],
                                     totals->unattributed_j[d]};

        if (!isnan(reading->energy_j[d])) {
            hour_sum_add(hour_sum_of(hour, d), &sum);
            if (apapi_domain_adds_up(d)) {
                hour_sum_add(&hour->total, &sum);
            }
        }
    }
}

/* --- writing, by a thread -------------------------------------------------------------------- */

/* The work of a thread that writes. It has copies, so that it may outlive the sampler. */
struct hours_job {
    pthread_t thread;
    char *line;
    int64_t unix_ns;
    struct node_idle idle;
    char node[256], acct_dir[4096], spool_dir[4096];
    struct apapi_error problem;
};

static void *hours_write(void *context)
{
    struct hours_job *job = context;
    struct apapi_error err = {"out of memory"};

    if (*job->acct_dir &&
        apapi_store_append_hour(job->acct_dir, job->node, job->unix_ns, job->line, &err)) {
        job->problem = err;
    }
    if (node_idle_save(&job->idle, job->spool_dir, job->node, &err)) {
        job->problem = err;
    }
    return NULL;
}

/* @return false: it is still being written. */
static bool hours_finish(struct hours *hours)
{
    struct hours_job *job = hours->job;

    if (!job) {
        return true;
    }
    if (pthread_tryjoin_np(job->thread, NULL)) {
        return false;
    }
    if (*job->problem.text) {
        hours->settings->say(LOG_WARNING, "the record of node %s: %s", job->node,
                             job->problem.text);
    }
    free(job->line);
    free(job);
    hours->job = NULL;
    return true;
}

static void hours_start(struct hours *hours, const struct node_idle *idle)
{
    const struct node_shares_settings *settings = hours->settings;
    struct hours_job *job;

    if (!hours_finish(hours)) {
        settings->say(LOG_WARNING,
                      "the record of node %s: an hour is lost, as the one before is still being "
                      "written",
                      settings->node);
        return;
    }
    job = calloc(1, sizeof *job);
    if (job) {
        job->line = hour_encode(&hours->hour);
        job->unix_ns = hours->hour.start_ns;
        job->idle = *idle;
        if (settings->readings) {
            node_readings_keep(settings->readings, job->idle.peaks);
        }
        snprintf(job->node, sizeof job->node, "%s", settings->node);
        snprintf(job->acct_dir, sizeof job->acct_dir, "%s", settings->config->acct_dir);
        snprintf(job->spool_dir, sizeof job->spool_dir, "%s", settings->config->spool_dir);
    }
    if (!job || !job->line || pthread_create(&job->thread, NULL, hours_write, job)) {
        settings->say(LOG_WARNING, "the record of node %s: no memory for an hour", settings->node);
        free(job ? job->line : NULL);
        free(job);
        job = NULL;
    }
    hours->job = job;
}

void hours_open(struct hours *hours, const struct node_shares_settings *settings,
                const char *method)
{
    char path[PATH_MAX];
    struct stat status;

    *hours = (struct hours){.settings = settings, .method = method};
    if (node_idle_path(path, settings->config->spool_dir, settings->node) == 0 &&
        stat(path, &status) == 0) { /* idle power was saved with the last line */
        hours->before_ns = status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec;
    }
    config_cluster(secure_getenv("SLURM_CONF"), hours->cluster, sizeof hours->cluster);
}

void hours_add(struct hours *hours, const struct hours_interval *interval,
               const struct node_idle *idle)
{
    const struct node_reading *reading = interval->reading;
    struct hour *hour = &hours->hour;
    double seconds = (double)(reading->end_ns - reading->begin_ns) / NS_PER_S;
    int64_t hour_ns = reading->end_unix_ns - reading->end_unix_ns % HOUR_NS;
    int64_t begin_ns = reading->end_unix_ns - (int64_t)(reading->end_ns - reading->begin_ns);

    if (hours->begun && hour->start_ns / HOUR_NS != hour_ns / HOUR_NS) {
        hours_start(hours, idle);
        hours->begun = false;
    }
    if (!hours->begun) {
        hours_begin(hours, hour_ns, begin_ns);
        hour->steps = interval->running - interval->begun;
    }
    if (hours->before_ns > 0 && !reading->unseen) {
        /* Counters do not go on over a boot: this alone is known of the time since the last line.
         */
        int64_t day_ns = begin_ns - begin_ns % DAY_NS;
        int64_t start_ns = hours->before_ns > day_ns ? hours->before_ns : day_ns;
        int64_t boot_ns = clock_unix_ns() - (int64_t)clock_ns(CLOCK_BOOTTIME);

        if (begin_ns > start_ns) {
            hours_add_gap(hour, start_ns, (double)(begin_ns - start_ns) / NS_PER_S,
                          hours->before_ns < boot_ns ? "reboot" : "sampler down");
        }
    }
    hours->before_ns = 0;
    hour->steps += interval->begun;
    hour->resets += reading->resets;
    hour->idle_w = node_idle_w(idle);
    if (reading->end_unix_ns > hour->end_ns) {
        hour->end_ns = reading->end_unix_ns;
    }
    if (reading->unseen) {
        hours_add_gap(hour, begin_ns, seconds, "sampler down");
    } else { /* no more than there is of the hour, also if the clock was set */
        hour->measured_s =
            fmin(hour->measured_s + seconds, (double)(hour->end_ns - hour->start_ns) / NS_PER_S);
    }
    hours_add_energy(hour, reading, interval->totals);
    hours_finish(hours);
}

void hours_owe(struct hours *hours, const double owed_j[APAPI_DOMAINS])
{
    struct hour *hour = &hours->hour;

    for (int d = APAPI_DOMAIN_NONE + 1; hours->begun && d < APAPI_DOMAINS; d++) {
        const struct hour_sum owed = {.steps_j = owed_j[d], .unattributed_j = -owed_j[d]};
        struct hour_sum *sums[] = {hour_sum_of(hour, d),
                                   apapi_domain_adds_up(d) ? &hour->total : NULL};

        for (size_t i = 0; i < 2; i++) {
            if (sums[i] && !isnan(sums[i]->energy_j)) {
                hour_sum_add(sums[i], &owed);
            }
        }
    }
}

void hours_close(struct hours *hours, const struct node_idle *idle)
{
    const struct timespec pause = {.tv_nsec = NS_PER_S / 100};

    if (hours->begun) {
        hours_start(hours, idle);
    }
    for (int i = 0; i < CLOSE_S * 100 && !hours_finish(hours); i++) {
        nanosleep(&pause, NULL);
    }
}
