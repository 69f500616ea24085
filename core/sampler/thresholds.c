/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/thresholds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "action/shell.h"
#include "base/duration.h"
#include "channel/channel.h"
#include "config/slurm_conf.h"
#include "sampler/beside.h"
#include "sampler/process.h"

#define KILL_WAIT_S 30 /* Slurm's default */
#define PAUSE_MS                                                                                   \
    1000 /* between attempts to set a threshold of a component that is being opened                \
          */

/* The first problem is reported. Without its caret: "... on n1: unknown event: 'X >= 5J'". */
static void thresholds_trouble(struct thresholds *thresholds, const struct step *step,
                               const char *text)
{
    size_t length = strcspn(text, "\n");
    const char *marked = text[length] ? text + length + 1 + strspn(text + length + 1, " ") : "";

    if (thresholds->trouble.text[0] == '\0') {
        apapi_fail(&thresholds->trouble, EINVAL, "--apapi-overflow on %.64s: %.*s%s%.*s%s",
                   step->id.node, (int)length, text, *marked ? " ('" : "",
                   (int)strcspn(marked, "\n"), marked, *marked ? "')" : "");
    }
}

/* Nothing of root is left: no descriptor, no variable, no memory. */
static void thresholds_launch(const struct job_launch *launch, const void *context)
{
    const struct user *user = context;
    const struct process_task *task = processes_any(launch->tasks);
    struct rlimit limits[RLIM_NLIMITS];

    while (task && beside_enter(task, limits)) {
        task = process_task_lives(task) ? NULL : processes_any(launch->tasks);
    }
    if (!task) {
        _exit(JOB_NOT_DONE);
    }
    shell_plug(-1);
    if (user_become(user) == 0) {
        beside_become(task, launch, limits);
    }
}

static void thresholds_read_wait(char *line, void *context)
{
    const char *value = slurm_conf_find(line, "KillWait");
    unsigned long *seconds = context;

    if (value) {
        *seconds = strtoul(value, NULL, 10);
    }
}

static uint64_t thresholds_kill_wait_ns(const struct step *step)
{
    unsigned long seconds = KILL_WAIT_S;

    if (*step->slurm_conf) {
        slurm_conf_each(step->slurm_conf, thresholds_read_wait, &seconds);
    }
    return seconds < UINT32_MAX ? seconds * NS_PER_S : KILL_WAIT_S * NS_PER_S;
}

/* slurmstepd has made the channel, and is the parent of all tasks. */
static pid_t thresholds_slurmstepd(void)
{
    struct ucred peer = {.pid = 0};
    socklen_t size = sizeof peer;

    return getsockopt(APAPI_CHANNEL_FD, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}

static int thresholds_start(struct thresholds *thresholds, const struct step *step,
                            struct apapi_error *err)
{
    const struct actor_config config = {.thresholds = &thresholds->list,
                                        .node = step->id.node,
                                        .said_by = "apapi",
                                        .line_fd = -1,
                                        .uid = step->id.uid,
                                        .parent = thresholds_slurmstepd(),
                                        .grouped = true,
                                        .kill_wait_ns = thresholds_kill_wait_ns(step),
                                        .settle = process_settle_actor,
                                        .launch = thresholds_launch,
                                        .context = &thresholds->user};

    return user_parse(step, &thresholds->user, err) ||
                   job_budget_prepare(&thresholds->budget, step, config.parent, &thresholds->list,
                                      err) ||
                   threshold_list_parse(&thresholds->list, step->overflow, err) ||
                   actor_start(&thresholds->actor, &config, err)
               ? -1
               : 0;
}

bool thresholds_open(struct thresholds *thresholds, const struct step *step)
{
    struct apapi_error err;

    thresholds->actor = ACTOR_NONE;
    if (*step->overflow == '\0' && !step_watches_job(step)) {
        return false;
    }
    if (thresholds_start(thresholds, step, &err)) {
        thresholds_trouble(thresholds, step, err.text);
        return false;
    }
    crossings_init(&thresholds->crossings, &thresholds->list, &thresholds->actor);
    if (thresholds->budget.step) {
        job_budget_begin(&thresholds->budget, &thresholds->crossings);
    }
    thresholds->open = true;
    return true;
}

void thresholds_hear(struct thresholds *thresholds, struct parts *parts)
{
    job_budget_hear(&thresholds->budget, parts);
}

void thresholds_set(struct thresholds *thresholds, const struct step *step,
                    struct apapi_session *session)
{
    struct apapi_error err;

    if (thresholds->open && crossings_set(&thresholds->crossings, session, &err)) {
        thresholds_trouble(thresholds, step, err.text);
    }
}

void thresholds_add_task(const struct thresholds *thresholds, pid_t pid)
{
    const struct order order = {.kind = ORDER_TASK, .pid = pid};

    if (thresholds->open) {
        actor_order(&thresholds->actor, &order);
    }
}

int thresholds_patience_ms(const struct thresholds *thresholds)
{
    int budget_ms = job_budget_pause_ms(&thresholds->budget);
    bool waits = thresholds->open && crossings_waiting(&thresholds->crossings);

    return waits && (budget_ms < 0 || PAUSE_MS < budget_ms) ? PAUSE_MS : budget_ms;
}

void thresholds_work(struct thresholds *thresholds, const struct step *step,
                     struct apapi_session *session)
{
    struct apapi_error err;

    job_budget_work(&thresholds->budget, session);
    if (thresholds->open && crossings_set_waiting(&thresholds->crossings, session, &err)) {
        thresholds_trouble(thresholds, step, err.text);
    }
}

/* A short step ends before a slow component is open. */
static void thresholds_note_waiting(struct thresholds *thresholds, const struct step *step)
{
    const struct threshold *waiting = crossings_waiting(&thresholds->crossings);
    struct apapi_error err;

    if (waiting) {
        apapi_fail(&err, EAGAIN, "'%.80s': no component that was ready has it", waiting->text);
        thresholds_trouble(thresholds, step, err.text);
    }
}

void thresholds_record(struct thresholds *thresholds, const struct step *step,
                       struct apapi_record *record)
{
    if (thresholds->open) {
        thresholds->budget.crossings = NULL; /* it is over */
        thresholds_note_waiting(thresholds, step);
        crossings_end(&thresholds->crossings);
        crossings_copy(&thresholds->crossings, record);
    }
}

void thresholds_close(struct thresholds *thresholds)
{
    job_budget_close(&thresholds->budget);
    if (thresholds->open) {
        crossings_end(&thresholds->crossings);
    }
}
