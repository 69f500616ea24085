/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option_table.h"
#include "base/text.h"

#define KILL_WAIT_NS UINT64_C(30000000000) /* Slurm's default of KillWait */

/* The mistake, the text and a caret: the first line says who speaks. */
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

static int limits_start(struct crossings *limits, const struct options *options)
{
    static char node[APAPI_TEXT_SIZE];
    const struct actor_config config = {.node = node,
                                        .said_by = "atime",
                                        .line_fd = STDERR_FILENO,
                                        .uid = getuid(),
                                        .parent = limits_parent(options->pid),
                                        .kill_wait_ns = KILL_WAIT_NS,
                                        .launch = limits_launch};
    struct apapi_error err;

    gethostname(node, sizeof node - 1);
    if (crossings_open(limits, &config, &err)) {
        fprintf(stderr, "atime: --overflow: %s\n", err.text);
        return EXIT_FAILURE;
    }
    return -1;
}

int limits_open(const struct options *options, struct crossings *limits)
{
    struct limit_list *list = &limits->limits;
    struct apapi_error err;

    for (size_t i = 0; i < options->overflow_count; i++) {
        if (limit_list_add(list, options->overflows[i], &err) ||
            (list->limits[i].scope != LIMIT_NODE &&
             limit_refuse(&list->limits[i], LIMIT_METER, EINVAL,
                          "atime measures this node: steps and jobs are Slurm's", &err))) {
            return limits_refuse(err.text);
        }
    }
    return list->count > 0 ? limits_start(limits, options) : -1;
}

int limits_set(struct crossings *limits, struct apapi_session *session)
{
    const struct limit *waiting;
    struct apapi_error err;

    if (crossings_set(limits, session, &err)) {
        return limits_refuse(err.text);
    }
    /* its component did not open in the time that atime waits for it */
    waiting = crossings_waiting(limits);
    if (waiting) {
        limit_refuse(waiting, LIMIT_METER, EAGAIN, "its component is not ready", &err);
        return limits_refuse(err.text);
    }
    return -1;
}

void limits_add_process(pid_t pid, void *context)
{
    if (crossings_add_task(context, pid)) {
        fprintf(stderr, "atime: --overflow: no signals: %s\n", strerror(errno));
    }
}
