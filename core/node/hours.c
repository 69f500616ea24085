/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/hours.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "config/installed.h"
#include "config/slurm_conf.h"
#include "node/readings.h"
#include "record/store.h"

#define HOUR_NS (NS_PER_S * 3600)
#define DAY_NS (NS_PER_S * 24 * 3600)
#define CLOSE_S 2
#define HOURS_MAX (256 << 10)      /* most bytes that wait for acct_dir: ten days of lines */
#define HOURS_FILE_MAX (768 << 10) /* most bytes in the spool: these and the present hour */

/* --- an hour ---------------------------------------------------------------------------------- */

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

static struct hour_sum *hours_sum_of(struct hour *hour, int domain)
{
    return domain == APAPI_DOMAIN_NODE ? &hour->node_meter : &hour->domains[domain];
}

static void hours_add_sum(struct hour *hour, int domain, const struct hour_sum *sum)
{
    hour_sum_add(hours_sum_of(hour, domain), sum);
    if (apapi_domain_adds_up(domain)) {
        hour_sum_add(&hour->total, sum);
    }
}

/* Lines never begin at the same moment, even if the clock is set back: readers would drop one. */
static void hours_begin(struct node_hours *hours, int64_t hour_ns, int64_t begin_ns, int64_t end_ns)
{
    static const struct hour_sum unknown = {NAN, NAN, NAN, NAN};
    struct hour *hour = &hours->hour;

    *hour = (struct hour){.start_ns = begin_ns > hour_ns ? begin_ns : hour_ns, .idle_w = NAN};
    if (hour->start_ns == hour_ns && hours->until_ns > hour_ns) {
        hour->start_ns = end_ns;
    }
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
    struct hour_gap *last = hour->gap_count > 0 ? &hour->gaps[hour->gap_count - 1] : NULL;

    if (last && strcmp(last->reason, reason) == 0 &&
        fabs((double)(start_ns - last->start_ns) / NS_PER_S - last->elapsed_s) < 1e-6) {
        last->elapsed_s += elapsed_s; /* the gap goes on to this sampler's first reading */
        return;
    }
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
            hours_add_sum(hour, d, &sum);
        }
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

/*
 * Append each line to the file of its day. Stop at a line that cannot be written, and put it last
 * for the next attempt: the file of its day alone may be the cause.
 * @return the lines that are left, for free(); NULL: out of memory, all lines are left
 */
static char *hours_append(const struct node_shares_settings *settings, const char *lines,
                          struct apapi_error *err)
{
    const char *acct_dir = settings->config->acct_dir;
    char *copy = strdup(lines), *line = copy, *end, *left = NULL;
    struct tree tree = {.nodes = NULL};
    struct hour hour;
    bool failed = !copy;
    int decoded;

    for (; !failed && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        decoded = hour_decode(&tree, line, strlen(line), &hour, err);
        failed = decoded < 0 ? errno == ENOMEM /* else it is no line of an hour: drop it */
                             : decoded > 0 && *acct_dir &&
                                   apapi_store_append_hour(acct_dir, settings->node, hour.start_ns,
                                                           line, err);
        if (failed && asprintf(&left, "%s%s\n", end + 1, line) < 0) {
            left = NULL;
        }
    }
    left = failed ? left : strdup("");
    free(copy);
    tree_free(&tree);
    return left;
}

/* Save the waiting lines, and behind them the present hour's line. @param present  NULL: none */
static int hours_save(const char *path, const char *lines, const char *present,
                      struct apapi_error *err)
{
    char *text = NULL;
    int size = asprintf(&text, "%s%s", lines, present ? present : ""), result;

    if (size < 0) {
        return apapi_fail(err, ENOMEM, "no memory for an hour");
    }
    if (!*path) {
        result = apapi_fail(err, ENAMETOOLONG, "the path of the spool is too long");
    } else if (size == 0) {
        result = unlink(path) && errno != ENOENT ? file_fail(path, err) : 0;
    } else {
        result = replace_file(path, 0600, text, (size_t)size, err);
    }
    free(text);
    return result;
}

/* Save all lines in the spool first: the accounting's file system may never answer. */
static void *hours_write(void *context)
{
    struct node_hours *hours = context;
    const struct node_shares_settings *settings = hours->settings;
    const char *spool_dir = settings->config->spool_dir;
    struct apapi_error err = {"spool_dir: no place for the present hour"};
    const char *waiting = hours->waiting ? hours->waiting : "";
    int result;

    config_folder_make_above(spool_dir);
    folder_close(folder_open(spool_dir, &err));
    result = hours_save(hours->path, waiting, hours->line, &err);
    if (*waiting) {
        hours->left = hours_append(settings, waiting, &err);
        if (hours->left && strcmp(hours->left, waiting) != 0) {
            result |= hours_save(hours->path, hours->left, hours->line, &err);
        }
        result |= !hours->left || *hours->left;
    }
    if (result || node_idle_save(&hours->kept, spool_dir, settings->node, &err)) {
        hours->problem = err;
    }
    return NULL;
}

/* Take the result of the thread that writes. @return false: the thread still runs. */
static bool hours_finish(struct node_hours *hours)
{
    if (!hours->writing) {
        return true;
    }
    if (pthread_tryjoin_np(hours->thread, NULL)) {
        return false;
    }
    if (*hours->problem.text && (hours->ended || !hours->warned)) {
        hours->settings->say(LOG_WARNING, "the record of node %s: %s", hours->settings->node,
                             hours->problem.text);
        hours->warned = true;
    }
    if (hours->left) {
        free(hours->waiting);
        hours->waiting = hours->left;
        hours->left = NULL;
    }
    free(hours->line);
    hours->line = NULL;
    hours->writing = false;
    return true;
}

/* Wait 2 s at most for a slow file system. @return whether no thread writes. */
static bool hours_wait(struct node_hours *hours)
{
    const struct timespec pause = {.tv_nsec = NS_PER_S / 100};

    for (int i = 0; i < CLOSE_S * 100 && !hours_finish(hours); i++) {
        nanosleep(&pause, NULL);
    }
    return !hours->writing;
}

/* Append `more` and `end` to `lines`. @param more  ownership is taken; NULL: out of memory */
static void hours_put(const struct node_hours *hours, char **lines, char *more, const char *end)
{
    const char *before = *lines ? *lines : "";
    char *all = NULL;

    if (more && strlen(before) + strlen(more) < HOURS_MAX &&
        asprintf(&all, "%s%s%s", before, more, end) >= 0) {
        free(*lines);
        *lines = all;
    } else {
        hours->settings->say(
            LOG_WARNING,
            "the record of node %s: an hour is lost: there is no memory, or %d KiB of "
            "hours wait for acct_dir already",
            hours->settings->node, HOURS_MAX >> 10);
    }
    free(more);
}

/* Start the thread. @param line  of the present hour, ownership is taken; NULL: it is not saved */
static void hours_start(struct node_hours *hours, char *line)
{
    const struct node_shares_settings *settings = hours->settings;

    hours->ended = hours->passed != NULL;
    if (hours->passed) {
        hours_put(hours, &hours->waiting, hours->passed, "");
        hours->passed = NULL;
    }
    hours->line = line;
    hours->problem.text[0] = '\0';
    hours->kept = hours->idle->kept;
    if (settings->readings) {
        node_readings_keep(settings->readings, hours->kept.peaks);
    }
    hours->writing = pthread_create(&hours->thread, NULL, hours_write, hours) == 0;
    if (!hours->writing) {
        settings->say(LOG_WARNING, "the record of node %s: no memory for an hour", settings->node);
        free(line);
        hours->line = NULL;
    }
}

static void hours_end(struct node_hours *hours)
{
    hours_put(hours, &hours->passed, hour_encode(&hours->hour), "\n");
    if (hours->hour.end_ns > hours->until_ns) {
        hours->until_ns = hours->hour.end_ns;
    }
    hours->begun = false;
}

/* Write the hours that have passed. Save the present hour, at most once in each checkpoint_ns. */
static void hours_work(struct node_hours *hours, uint64_t now_ns)
{
    uint64_t pause_ns = hours->settings->config->checkpoint_ns;
    bool due = pause_ns > 0 && now_ns - hours->saved_ns >= pause_ns;
    char *line;

    if (hours_finish(hours) && (due || hours->passed)) {
        line = pause_ns > 0 ? hour_encode(&hours->hour) : NULL;
        hours->saved_ns = now_ns;
        if (line || hours->passed) {
            hours_start(hours, line);
        }
    }
}

void node_hours_open(struct node_hours *hours)
{
    const char *spool_dir = hours->settings->config->spool_dir, *node = hours->settings->node;
    struct stat status;
    char *lines;
    size_t size;

    if (node_spool_path(hours->path, spool_dir, node, ".idle") == 0 &&
        stat(hours->path, &status) == 0) { /* the file was saved with the last line */
        hours->before_ns = status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec;
    }
    config_cluster(secure_getenv("SLURM_CONF"), hours->cluster, sizeof hours->cluster);
    if (node_spool_path(hours->path, spool_dir, node, ".hour")) {
        hours->path[0] = '\0';
    }
    /* Lines of a sampler that was killed, or could not write them. */
    lines = *hours->path ? text_file_read(hours->path, HOURS_FILE_MAX, &size, &status) : NULL;
    if (lines && asprintf(&hours->waiting, "%s\n", lines) < 0) {
        hours->waiting = NULL;
    }
    free(lines);
    if (hours->waiting) {
        hours_start(hours, NULL);
    }
}

void node_hours_add(struct node_hours *hours, const struct node_reading *reading,
                    const struct share_totals *totals, size_t running, size_t begun)
{
    struct hour *hour = &hours->hour;
    double seconds = (double)(reading->end_ns - reading->begin_ns) / NS_PER_S;
    int64_t hour_ns = reading->end_unix_ns - reading->end_unix_ns % HOUR_NS;
    int64_t begin_ns = reading->end_unix_ns - (int64_t)(reading->end_ns - reading->begin_ns);

    if (hours->begun && hour->start_ns / HOUR_NS != hour_ns / HOUR_NS) {
        hours_end(hours);
    }
    if (!hours->begun) {
        hours_begin(hours, hour_ns, begin_ns, reading->end_unix_ns);
        hour->steps = running - begun;
    }
    if (hours->before_ns > 0) {
        /* Counters begin again at a boot, so the time since the last line is only known as a gap */
        int64_t day_ns = begin_ns - begin_ns % DAY_NS;
        int64_t start_ns = hours->before_ns > day_ns ? hours->before_ns : day_ns;
        int64_t boot_ns = clock_unix_ns() - (int64_t)clock_ns(CLOCK_BOOTTIME);

        if (begin_ns > start_ns) {
            hours_add_gap(hour, start_ns, (double)(begin_ns - start_ns) / NS_PER_S,
                          hours->before_ns < boot_ns ? "reboot" : "sampler down");
        }
    }
    hours->before_ns = 0;
    hour->steps += begun;
    hour->resets += reading->resets;
    hour->idle_w = node_idle_w(hours->idle);
    if (reading->end_unix_ns > hour->end_ns) {
        hour->end_ns = reading->end_unix_ns;
    }
    if (reading->unseen) {
        hours_add_gap(hour, begin_ns, seconds, "sampler down");
    } else { /* at most the length of this part of the hour, even if the clock was set */
        hour->measured_s =
            fmin(hour->measured_s + seconds, (double)(hour->end_ns - hour->start_ns) / NS_PER_S);
    }
    hours_add_energy(hour, reading, totals);
    hours_work(hours, reading->end_ns);
}

bool node_hours_close(struct node_hours *hours, const double owed_j[APAPI_DOMAINS])
{
    struct apapi_error err;
    char *lines = NULL;
    bool idle; /* no thread writes */

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) { /* unattributed_j may be < 0 */
        const struct hour_sum owed = {.steps_j = owed_j[d], .unattributed_j = -owed_j[d]};

        if (hours->begun && !isnan(hours_sum_of(&hours->hour, d)->energy_j)) {
            hours_add_sum(&hours->hour, d, &owed);
        }
    }
    if (hours->begun) {
        hours_end(hours);
    }
    idle = hours_wait(hours);
    if (idle && hours->passed) {
        hours_start(hours, NULL);
        idle = hours_wait(hours);
    }
    if (idle) {
        free(hours->waiting);
    } else if (hours->passed &&
               asprintf(&lines, "%s%s", hours->waiting ? hours->waiting : "", hours->passed) >= 0) {
        hours_save(hours->path, lines, NULL, &err);
        free(lines);
    }
    return idle;
}
