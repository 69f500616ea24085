/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/thresholds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "action/crossings.h"
#include "action/process_stat.h"
#include "action/shell.h"
#include "base/option_table.h"
#include "base/text.h"
#include "threshold/threshold.h"

#define KILL_WAIT_NS UINT64_C(30000000000) /* Slurm's default of KillWait */

struct thresholds {
    struct threshold_list list;
    struct actor actor;
    struct crossings crossings;
    char node[APAPI_TEXT_SIZE];
};

/* What is wrong, the text and a caret: the first line says who speaks. */
static int thresholds_refuse(const char *text)
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

static void thresholds_launch(const struct job_launch *launch, const void *context)
{
    (void)context;
    shell_plug(STDERR_FILENO);
    shell_become(launch->text, launch->variables);
}

/* The program is a child of this process, or the process that was named. */
static pid_t thresholds_parent(pid_t pid)
{
    struct process_stat stat;

    return pid && process_stat_read(pid, &stat) == 0 ? stat.parent : getpid();
}

static int thresholds_start(struct thresholds *thresholds, const struct options *options)
{
    const struct actor_config config = {.thresholds = &thresholds->list,
                                        .node = thresholds->node,
                                        .said_by = "atime",
                                        .line_fd = STDERR_FILENO,
                                        .uid = getuid(),
                                        .parent = thresholds_parent(options->pid),
                                        .kill_wait_ns = KILL_WAIT_NS,
                                        .launch = thresholds_launch};
    struct apapi_error err;

    gethostname(thresholds->node, sizeof thresholds->node - 1);
    if (actor_start(&thresholds->actor, &config, &err)) {
        fprintf(stderr, "atime: --overflow: %s\n", err.text);
        return EXIT_FAILURE;
    }
    crossings_init(&thresholds->crossings, &thresholds->list, &thresholds->actor);
    return -1;
}

int thresholds_open(const struct options *options, struct thresholds **result)
{
    struct thresholds *thresholds;
    struct apapi_error err;
    int status;

    *result = NULL;
    if (options->overflow_count == 0) {
        return -1;
    }
    thresholds = calloc(1, sizeof *thresholds);
    if (!thresholds) {
        return thresholds_refuse("no memory");
    }
    for (size_t i = 0; i < options->overflow_count; i++) {
        if (threshold_list_add(&thresholds->list, options->overflows[i], &err)) {
            free(thresholds);
            return thresholds_refuse(err.text);
        }
    }
    status = thresholds_start(thresholds, options);
    if (status >= 0) {
        free(thresholds);
        return status;
    }
    *result = thresholds;
    return -1;
}

int thresholds_set(struct thresholds *thresholds, struct apapi_session *session)
{
    const struct threshold *waiting;
    struct apapi_error err;

    if (!thresholds) {
        return -1;
    }
    if (crossings_set(&thresholds->crossings, session, &err)) {
        return thresholds_refuse(err.text);
    }
    /* its component did not open in the time that atime waits for it */
    waiting = crossings_waiting(&thresholds->crossings);
    if (waiting) {
        threshold_refuse(waiting, THRESHOLD_METER, EAGAIN, "its component is not ready", &err);
        return thresholds_refuse(err.text);
    }
    return -1;
}

void thresholds_begin(struct thresholds *thresholds)
{
    if (thresholds) {
        crossings_forget(&thresholds->crossings);
    }
}

void thresholds_add_process(pid_t pid, void *context)
{
    const struct thresholds *thresholds = context;
    const struct order order = {.kind = ORDER_TASK, .pid = pid};

    if (thresholds && actor_order(&thresholds->actor, &order)) {
        fprintf(stderr, "atime: --overflow: no signals: %s\n", strerror(errno));
    }
}

void thresholds_record(struct thresholds *thresholds, bool last, struct apapi_record *record)
{
    if (!thresholds) {
        return;
    }
    if (last) {
        crossings_end(&thresholds->crossings);
    }
    crossings_copy(&thresholds->crossings, record);
}

void thresholds_close(struct thresholds *thresholds)
{
    if (thresholds) {
        crossings_end(&thresholds->crossings);
        free(thresholds);
    }
}
