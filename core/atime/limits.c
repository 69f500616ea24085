/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option_table.h"
#include "base/text.h"
#include "limit/crossings.h"

#define KILL_WAIT_NS UINT64_C(30000000000) /* Slurm's default of KillWait */

struct limits {
    struct limit_list list;
    struct actor actor;
    struct crossings crossings;
    char node[APAPI_TEXT_SIZE];
};

/* What is wrong, the text and a caret: the first line says who speaks. */
static int limits_refuse(const char *text)
{
    char clean[sizeof((struct apapi_error *)0)->text], line[sizeof clean];

    fputs("atime: --overflow: ", stderr);
    for (; *text; text += *text == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        text_clean(clean, sizeof clean, line);
        fprintf(stderr, "%s\n", clean);
        text += strcspn(text, "\n");
    }
    return USAGE_ERROR;
}

static void limits_launch(const struct job_launch *launch, const void *context)
{
    (void)context;
    shell_plug(STDERR_FILENO);
    shell_become(launch->text, launch->variables);
}

/* The program is a child of this process, or the process that was named. */
static pid_t limits_parent(pid_t pid)
{
    struct process_stat stat;

    return pid && process_stat_read(pid, &stat) == 0 ? stat.parent : getpid();
}

static int limits_start(struct limits *limits, const struct options *options)
{
    const struct actor_config config = {.limits = &limits->list,
                                        .node = limits->node,
                                        .said_by = "atime",
                                        .line_fd = STDERR_FILENO,
                                        .uid = getuid(),
                                        .parent = limits_parent(options->pid),
                                        .kill_wait_ns = KILL_WAIT_NS,
                                        .launch = limits_launch};
    struct apapi_error err;

    gethostname(limits->node, sizeof limits->node - 1);
    if (actor_start(&limits->actor, &config, &err)) {
        fprintf(stderr, "atime: --overflow: %s\n", err.text);
        return EXIT_FAILURE;
    }
    crossings_init(&limits->crossings, &limits->list, &limits->actor);
    return -1;
}

int limits_open(const struct options *options, struct limits **result)
{
    struct limits *limits;
    struct apapi_error err;
    int status;

    *result = NULL;
    if (options->overflow_count == 0) {
        return -1;
    }
    limits = calloc(1, sizeof *limits);
    if (!limits) {
        return limits_refuse("no memory");
    }
    for (size_t i = 0; i < options->overflow_count; i++) {
        if (limit_list_add(&limits->list, options->overflows[i], &err)) {
            free(limits);
            return limits_refuse(err.text);
        }
        if (limits->list.limits[i].scope != LIMIT_NODE) {
            limit_refuse(&limits->list.limits[i], LIMIT_METER, EINVAL,
                         "atime measures this node: steps and jobs are Slurm's", &err);
            free(limits);
            return limits_refuse(err.text);
        }
    }
    status = limits_start(limits, options);
    if (status >= 0) {
        free(limits);
        return status;
    }
    *result = limits;
    return -1;
}

int limits_set(struct limits *limits, struct apapi_session *session)
{
    const struct limit *waiting;
    struct apapi_error err;

    if (!limits) {
        return -1;
    }
    if (crossings_set(&limits->crossings, session, &err)) {
        return limits_refuse(err.text);
    }
    /* its component did not open in the time that atime waits for it */
    waiting = crossings_waiting(&limits->crossings);
    if (waiting) {
        limit_refuse(waiting, LIMIT_METER, EAGAIN, "its component is not ready", &err);
        return limits_refuse(err.text);
    }
    return -1;
}

void limits_begin(struct limits *limits)
{
    if (limits) {
        crossings_forget(&limits->crossings);
    }
}

void limits_add_process(pid_t pid, void *context)
{
    const struct limits *limits = context;
    const struct order order = {.kind = ORDER_TASK, .pid = pid};

    if (limits && actor_order(&limits->actor, &order)) {
        fprintf(stderr, "atime: --overflow: no signals: %s\n", strerror(errno));
    }
}

void limits_record(struct limits *limits, bool last, struct apapi_record *record)
{
    if (!limits) {
        return;
    }
    if (last) {
        crossings_end(&limits->crossings);
    }
    crossings_copy(&limits->crossings, record);
}

void limits_close(struct limits *limits)
{
    if (limits) {
        crossings_end(&limits->crossings);
        free(limits);
    }
}
