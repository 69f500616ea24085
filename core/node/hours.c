/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/hours.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "base/clock.h"
#include "config/cluster.h"
#include "node/day.h"
#include "store/hour_encode.h"
#include "store/store.h"

#define HOUR_NS (NS_PER_S * 3600)
#define DAY_NS (NS_PER_S * 24 * 3600)
#define SLURM_CONF "/etc/slurm/slurm.conf"
#define CLOSE_S 2

/* What a thread writes. Its own, so that it may outlive the rest. */
struct hours_job {
    pthread_t thread;
    bool done;
    bool last; /* hour of its day */
    char *line;
    int64_t unix_ns;
    struct node_rest rest;
    char node[256], acct_dir[4096], spool_dir[4096];
    struct apapi_error problem;
};

void hours_open(struct hours *hours, const struct node_shares_settings *settings,
                const char *method)
{
    const char *slurm_conf = secure_getenv("SLURM_CONF");

    *hours = (struct hours){.settings = settings, .method = method};
    hours->before_ns = node_rest_saved_ns(settings->config->spool_dir, settings->node);
    config_cluster(slurm_conf ? slurm_conf : SLURM_CONF, hours->cluster, sizeof hours->cluster);
}

static const struct hour_sum hours_unknown = {NAN, NAN, NAN, NAN};

static void hours_begin(struct hours *hours, int64_t hour_ns, int64_t begin_ns)
{
    struct hour *hour = &hours->hour;

    *hour = (struct hour){.start_ns = begin_ns > hour_ns ? begin_ns : hour_ns, .idle_w = NAN};
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        hour->domains[d] = hours_unknown;
    }
    hour->total = hour->node_meter = hours_unknown;
    snprintf(hour->cluster, sizeof hour->cluster, "%s", hours->cluster);
    snprintf(hour->node, sizeof hour->node, "%s", hours->settings->node);
    snprintf(hour->method, sizeof hour->method, "%s", hours->method);
    hours->begun = true;
}

static void hours_add_sum(struct hour_sum *sum, const struct share_totals *totals, int domain)
{
    if (isnan(sum->energy_j)) {
        *sum = (struct hour_sum){0, 0, 0, 0};
    }
    sum->energy_j += totals->energy_j[domain];
    sum->steps_j += totals->steps_j[domain];
    sum->idle_j += totals->idle_j[domain];
    sum->unattributed_j += totals->unattributed_j[domain];
}

static void hours_add_energy(struct hour *hour, const struct node_reading *reading,
                             const struct share_totals *totals)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (isnan(reading->energy_j[d])) {
            continue;
        }
        hours_add_sum(d == APAPI_DOMAIN_NODE ? &hour->node_meter : &hour->domains[d], totals, d);
        if (apapi_domain_adds_up(d)) {
            hours_add_sum(&hour->total, totals, d);
        }
    }
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

static int64_t hours_boot_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return clock_unix_ns() - now.tv_sec * NS_PER_S - now.tv_nsec;
}

/* Counters do not go on over a boot: nothing is known of the time since the last line but this. */
static void hours_add_boot(struct hours *hours, int64_t begin_ns)
{
    int64_t day_ns = begin_ns - begin_ns % DAY_NS;
    int64_t start_ns = hours->before_ns > day_ns ? hours->before_ns : day_ns;

    if (begin_ns > start_ns) {
        hours_add_gap(&hours->hour, start_ns, (double)(begin_ns - start_ns) / NS_PER_S,
                      hours->before_ns < hours_boot_ns() ? "reboot" : "sampler down");
    }
}

/* All hours of the day are in the file now, also those of samplers before this one. */
static int hours_write_day(const struct hours_job *job, struct apapi_error *err)
{
    struct hour *day = calloc(1, sizeof *day);
    char *line = NULL;
    int result = day ? node_day_read(job->acct_dir, job->node, job->unix_ns, day, err) : -1;

    if (result == 0) {
        line = hour_encode(day, "day");
        result = line ? apapi_store_append_hour(job->acct_dir, job->node, job->unix_ns, line, err)
                      : apapi_fail(err, ENOMEM, "out of memory");
    }
    free(line);
    free(day);
    return result;
}

static void *hours_write(void *context)
{
    struct hours_job *job = context;
    struct apapi_error err = {"out of memory"};

    if (*job->acct_dir &&
        (apapi_store_append_hour(job->acct_dir, job->node, job->unix_ns, job->line, &err) ||
         (job->last && hours_write_day(job, &err)))) {
        job->problem = err;
    }
    if (node_rest_save(&job->rest, job->spool_dir, job->node, &err)) {
        job->problem = err;
    }
    __atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void hours_free(struct hours_job *job)
{
    free(job->line);
    free(job);
}

/* @return false: it is still being written. */
static bool hours_finish(struct hours *hours)
{
    struct hours_job *job = hours->job;

    if (!job) {
        return true;
    }
    if (!__atomic_load_n(&job->done, __ATOMIC_ACQUIRE)) {
        return false;
    }
    pthread_join(job->thread, NULL);
    if (*job->problem.text) {
        hours->settings->say(LOG_WARNING, "the record of node %s: %s", job->node,
                             job->problem.text);
    }
    hours_free(job);
    hours->job = NULL;
    return true;
}

static struct hours_job *hours_describe(const struct hours *hours, const struct node_rest *rest,
                                        int64_t now_ns)
{
    const struct config *config = hours->settings->config;
    struct hours_job *job = calloc(1, sizeof *job);

    if (!job) {
        return NULL;
    }
    job->line = hour_encode(&hours->hour, "hour");
    job->unix_ns = hours->hour.start_ns;
    job->last = now_ns / DAY_NS > hours->hour.start_ns / DAY_NS;
    job->rest = *rest;
    snprintf(job->node, sizeof job->node, "%s", hours->settings->node);
    snprintf(job->acct_dir, sizeof job->acct_dir, "%s", config->acct_dir);
    snprintf(job->spool_dir, sizeof job->spool_dir, "%s", config->spool_dir);
    return job;
}

static void hours_start(struct hours *hours, const struct node_rest *rest, int64_t now_ns)
{
    struct hours_job *job;

    if (!hours_finish(hours)) {
        hours->settings->say(LOG_WARNING,
                             "the record of node %s: an hour is lost, as the one "
                             "before is still being written",
                             hours->settings->node);
        return;
    }
    job = hours_describe(hours, rest, now_ns);
    if (!job || !job->line || pthread_create(&job->thread, NULL, hours_write, job)) {
        hours->settings->say(LOG_WARNING, "the record of node %s: no memory for an hour",
                             hours->settings->node);
        if (job) {
            hours_free(job);
        }
        return;
    }
    hours->job = job;
}

static double hours_length_s(const struct hour *hour)
{
    return (double)(hour->end_ns - hour->start_ns) / NS_PER_S;
}

/* No more is measured than there is of the hour, also if the clock was set. */
static void hours_add_time(struct hour *hour, const struct node_reading *reading)
{
    int64_t length_ns = (int64_t)(reading->end_ns - reading->begin_ns);
    double seconds = (double)length_ns / NS_PER_S;

    if (reading->end_unix_ns > hour->end_ns) {
        hour->end_ns = reading->end_unix_ns;
    }
    if (reading->gap) {
        hours_add_gap(hour, reading->end_unix_ns - length_ns, seconds, "sampler down");
    } else {
        hour->measured_s = fmin(hour->measured_s + seconds, hours_length_s(hour));
    }
}

void hours_add(struct hours *hours, const struct hours_interval *interval,
               const struct node_rest *rest)
{
    const struct node_reading *reading = interval->reading;
    int64_t hour_ns = reading->end_unix_ns - reading->end_unix_ns % HOUR_NS;
    int64_t begin_ns = reading->end_unix_ns - (int64_t)(reading->end_ns - reading->begin_ns);

    if (hours->begun && hours->hour.start_ns / HOUR_NS != hour_ns / HOUR_NS) {
        hours_start(hours, rest, hour_ns);
        hours->begun = false;
    }
    if (!hours->begun) {
        hours_begin(hours, hour_ns, begin_ns);
        hours->hour.steps = interval->running - interval->begun;
    }
    if (hours->before_ns > 0 && !reading->gap) {
        hours_add_boot(hours, begin_ns);
    }
    hours->before_ns = 0;
    hours->hour.steps += interval->begun;
    hours->hour.resets += reading->resets;
    hours->hour.idle_w = node_rest_w(rest);
    hours_add_time(&hours->hour, reading);
    hours_add_energy(&hours->hour, reading, interval->totals);
    hours_finish(hours);
}

static void hours_owe_sum(struct hour_sum *sum, double owed_j)
{
    if (!isnan(sum->energy_j)) {
        sum->steps_j += owed_j;
        sum->unattributed_j -= owed_j;
    }
}

void hours_owe(struct hours *hours, const double owed_j[APAPI_DOMAINS])
{
    struct hour *hour = &hours->hour;

    for (int d = APAPI_DOMAIN_NONE + 1; hours->begun && d < APAPI_DOMAINS; d++) {
        hours_owe_sum(d == APAPI_DOMAIN_NODE ? &hour->node_meter : &hour->domains[d], owed_j[d]);
        if (apapi_domain_adds_up(d)) {
            hours_owe_sum(&hour->total, owed_j[d]);
        }
    }
}

void hours_close(struct hours *hours, const struct node_rest *rest)
{
    const struct timespec pause = {.tv_nsec = NS_PER_S / 100};

    if (hours->begun) {
        hours_start(hours, rest, hours->hour.start_ns);
    }
    for (int i = 0; i < CLOSE_S * 100 && !hours_finish(hours); i++) {
        nanosleep(&pause, NULL);
    }
}
