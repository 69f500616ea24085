/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/step.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/session.h"
#include "base/array.h"
#include "base/kernel_file.h"
#include "base/text.h"
#include "base/thread.h"
#include "config/slurm_conf.h"

/* --- what the plugin has sent --------------------------------------------------------------- */

static const struct text_key {
    const char *key;
    size_t offset, size;
} text_keys[] = {
#define TEXT(key, field)                                                                           \
    {                                                                                              \
        key, offsetof(struct step, field), sizeof((struct step *)0)->field                         \
    }
    TEXT("components", components),
    TEXT("output", output),
    TEXT("trace", trace),
    TEXT("groups", groups),
    TEXT("umask", umask),
    TEXT("share", share),
    TEXT("overflow", overflow),
    TEXT("budget", budget),
    TEXT("rules", rules),
    TEXT("gpus", gpus),
    TEXT("cluster", id.cluster),
    TEXT("step", id.step),
    TEXT("name", id.name),
    TEXT("node", id.node),
    TEXT("account", id.account),
    TEXT("partition", id.partition),
    TEXT("qos", id.qos),
    TEXT("job_name", id.job_name),
    TEXT("config", config_path),
    TEXT("words", words),
    TEXT("slurm_conf", slurm_conf),
    TEXT("channel", channel),
    TEXT("job_token", job_token),
    TEXT("job_nodelist", job_nodelist),
#undef TEXT
};

static const struct number_key {
    const char *key;
    size_t offset;
} number_keys[] = {
    {"job", offsetof(struct step, id.job)},
    {"node_index", offsetof(struct step, id.node_index)},
    {"nodes", offsetof(struct step, id.nodes)},
    {"step_nodes", offsetof(struct step, step_nodes)},
    {"tasks", offsetof(struct step, id.tasks)},
    {"uid", offsetof(struct step, id.uid)},
    {"array_job", offsetof(struct step, id.array_job)},
    {"array_task", offsetof(struct step, id.array_task)},
    {"het_job", offsetof(struct step, id.het_job)},
    {"het_offset", offsetof(struct step, id.het_offset)},
    {"cores", offsetof(struct step, id.cores)},
    {"gid", offsetof(struct step, gid)},
    {"job_nodes", offsetof(struct step, id.job_nodes)},
    {"totals_ms", offsetof(struct step, totals_ms)},
    {"watch_ms", offsetof(struct step, watch_ms)},
};

static int parse_number(const char *text, uint32_t *number)
{
    uint64_t value;
    const char *end = text_digits(text, UINT32_MAX, &value);

    if (!end || *end) {
        return -1;
    }
    *number = (uint32_t)value;
    return 0;
}

static int parse_numbers(const struct message *message, struct step *step, struct apapi_error *err)
{
    for (size_t i = 0; i < COUNT_OF(number_keys); i++) {
        const char *value = message_value(message, number_keys[i].key);
        uint32_t number = APAPI_UNKNOWN;

        if (value && parse_number(value, &number)) {
            return apapi_fail(err, EINVAL, "%s: '%.60s' is not a number", number_keys[i].key,
                              value);
        }
        memcpy((char *)step + number_keys[i].offset, &number, sizeof number);
    }
    return 0;
}

/* Read the site's settings again; the plugin has reported problems. root has no min_interval. */
static void parse_site(struct step *step)
{
    char *rest = step->words, *word;

    config_defaults(&step->config);
    if (*step->config_path) {
        config_read(&step->config, step->config_path, NULL);
    }
    while ((word = strsep(&rest, "\n"))) {
        if (*word) {
            config_set_word(&step->config, word, NULL);
        }
    }
    step->min_interval_ns = step->id.uid == 0 ? 0 : step->config.min_interval_ns;
}

static void sampler_step_lay_over(struct apapi_intervals *list,
                                  const struct apapi_named_interval *named)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->named[i].component, named->component) == 0) {
            list->named[i].interval_ns = named->interval_ns;
            return;
        }
    }
    if (list->count < APAPI_INTERVALS_MAX) {
        list->named[list->count++] = *named;
    }
}

/*
 * Keep a user's interval within bounds: not shorter than the site allows. If limits are watched,
 * not longer than their interval either, unless the site's own interval is longer.
 */
static void bound(uint64_t *interval_ns, uint64_t site_ns, struct step *step)
{
    uint64_t watch_ns = (uint64_t)step->watch_ms * (NS_PER_S / 1000);

    watch_ns = watch_ns > site_ns ? watch_ns : site_ns;
    if (step->watch_ms > 0 && step->watch_ms != APAPI_UNKNOWN && *interval_ns > watch_ns) {
        *interval_ns = watch_ns;
    }
    if (*interval_ns < step->min_interval_ns) {
        *interval_ns = step->min_interval_ns;
        step->slowed = true;
    }
}

/* A user's list that begins with a default replaces the site's; another one is laid over it. */
static int parse_user_intervals(const char *text, struct step *step, struct apapi_error *err)
{
    struct apapi_intervals requested;

    if (apapi_intervals_parse(text, &requested, err)) {
        return -1;
    }
    for (size_t i = 0; i < requested.count; i++) {
        bound(&requested.named[i].interval_ns,
              apapi_intervals_get(&step->intervals, requested.named[i].component), step);
    }
    if (isdigit((unsigned char)*text)) {
        bound(&requested.default_ns, step->intervals.default_ns, step);
        step->intervals = requested;
        return 0;
    }
    for (size_t i = 0; i < requested.count; i++) {
        sampler_step_lay_over(&step->intervals, &requested.named[i]);
    }
    return 0;
}

/* The list has one word for each GPU, or is "none"; "" if Slurm does not manage GPUs. */
static uint32_t count_gpus(const char *list)
{
    uint32_t count = 1;

    if (*list == '\0') {
        return APAPI_UNKNOWN;
    }
    if (strcmp(list, "none") == 0) {
        return 0;
    }
    for (; *list; list++) {
        count += *list == ',';
    }
    return count;
}

/* A malformed value from the user's environment is no error. */
static uint32_t optional_number(const struct message *message, const char *key)
{
    const char *value = message_value(message, key);
    uint32_t number;

    return value && parse_number(value, &number) == 0 ? number : APAPI_UNKNOWN;
}

void step_parse_ending(const struct message *message, struct apapi_ending *ending)
{
    *ending = (struct apapi_ending){optional_number(message, "exit_code"),
                                    optional_number(message, "exit_signal"),
                                    optional_number(message, "failed_tasks")};
}

int step_parse(const struct message *message, struct step *step, struct apapi_error *err)
{
    const char *format = message_value(message, "format");
    const char *nodelist = message_value(message, "nodelist");
    const char *intervals = message_value(message, "intervals");

    for (size_t i = 0; i < COUNT_OF(text_keys); i++) {
        const char *value = message_value(message, text_keys[i].key);

        snprintf((char *)step + text_keys[i].offset, text_keys[i].size, "%s", value ? value : "");
    }
    step->id.restarts = optional_number(message, "restarts");
    step->id.gpus = count_gpus(step->gpus);
    step->id.node_cores = APAPI_UNKNOWN;
    step->id.verified = message_value(message, "verified") != NULL;
    step->site_components = message_value(message, "site_components") != NULL;
    step->job_only = message_value(message, "job_only") != NULL;
    step->job_one = message_value(message, "job_one") != NULL;
    step->job_quiet = message_value(message, "job_quiet") != NULL;
    step->format = CONFIG_NONE;
    if (*step->id.node == '\0') {
        return apapi_fail(err, EINVAL, "the node's name is missing");
    }
    if (parse_numbers(message, step, err) ||
        (format && config_format_parse(format, &step->format, err))) {
        return -1;
    }
    parse_site(step);
    if (apapi_intervals_parse(step->config.interval, &step->intervals, err) ||
        (intervals && parse_user_intervals(intervals, step, err))) {
        return -1;
    }
    /* a single node needs no list; a truncated list would name the wrong nodes */
    if (nodelist && step->id.nodes > 1 && step->id.nodes != APAPI_UNKNOWN &&
        strlen(nodelist) < sizeof step->id.nodelist) {
        strcpy(step->id.nodelist, nodelist);
    }
    return 0;
}

/* --- components ----------------------------------------------------------------------------- */

int known_components(char *list, struct apapi_error *err)
{
    char word[APAPI_COMPONENT_SIZE];
    size_t kept = 0, length;

    for (const char *rest = list; *rest; rest += length + (rest[length] == ':')) {
        length = strcspn(rest, ":");
        snprintf(word, sizeof word, "%.*s", (int)length, rest);
        if (apapi_components_check(word, err) == 0) {
            if (kept > 0) {
                list[kept++] = ':';
            }
            memmove(list + kept, rest, length);
            kept += length;
        }
    }
    list[kept] = '\0';
    errno = ENOENT;
    return kept ? 0 : -1;
}

/* --- names ---------------------------------------------------------------------------------- */

void names_user(uint32_t uid, char *name, size_t size)
{
    struct passwd entry, *found = NULL;
    char text[4096];

    if (uid != APAPI_UNKNOWN && getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found &&
        strlen(found->pw_name) < size) { /* a part of a name may be another user's name */
        snprintf(name, size, "%s", found->pw_name);
    }
}

/* A number of cores that is less than the step's cannot be right. */
void names_count_cores(struct step *step)
{
    uint32_t cores = *step->slurm_conf ? config_node_cores(step->slurm_conf, step->id.node) : 0;

    if (cores == 0) {
        cores = kernel_cores();
    }
    if (cores > 0 && (step->id.cores == APAPI_UNKNOWN || step->id.cores <= cores)) {
        step->id.node_cores = cores;
    }
}

void names_cluster(struct step *step)
{
    char cluster[sizeof step->id.cluster];

    if (config_cluster(step->slurm_conf, cluster, sizeof cluster) == 0) {
        strcpy(step->id.cluster, cluster);
    }
}

/* --- tasks ---------------------------------------------------------------------------------- */

static void *task_run(void *argument)
{
    struct task *task = argument;

    task->work(task->context);
    pthread_mutex_lock(&task->mutex);
    task->done = true;
    pthread_cond_signal(&task->changed);
    pthread_mutex_unlock(&task->mutex);
    return NULL;
}

/* The thread is detached, because the process may end before the disk responds. */
void task_start(struct task *task, void (*work)(void *context), void *context)
{
    pthread_t thread;

    if (!task->started) {
        pthread_mutex_init(&task->mutex, NULL);
        thread_condition(&task->changed);
    }
    task->work = work;
    task->context = context;
    task->started = true;
    task->done = false;
    if (thread_start(&thread, task_run, task)) {
        task_run(task);
    } else {
        pthread_detach(thread);
    }
}

bool task_wait(struct task *task, uint64_t deadline_ns)
{
    const struct timespec until = thread_deadline(deadline_ns);
    int code = 0;
    bool done;

    if (!task->started) {
        return true;
    }
    pthread_mutex_lock(&task->mutex);
    while (!task->done && code != ETIMEDOUT) {
        code = pthread_cond_timedwait(&task->changed, &task->mutex, &until);
    }
    done = task->done;
    pthread_mutex_unlock(&task->mutex);
    return done;
}
