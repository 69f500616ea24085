/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/enforce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/deadline.h"

#define KILL_WAIT_S 30 /* Slurm's default, if scontrol does not say it */
#define KILL_WAIT_MAX_S 3600
#define ATTEMPTS_MAX 10
#define RETRY_NS (2000 * DEADLINE_MS)
#define RUNNING_MS 10 /* time between two looks at a command */

void enforce_add_job(struct enforce_target *target, uint32_t job)
{
    size_t place = target->count;

    for (size_t i = 0; i < target->count; i++) {
        if (target->jobs[i] == job) {
            return;
        }
    }
    if (target->count == ENFORCE_JOBS_MAX) {
        return;
    }
    for (; place > 0 && target->jobs[place - 1] > job; place--) {
        target->jobs[place] = target->jobs[place - 1];
    }
    target->jobs[place] = job;
    target->count++;
}

/* @param signal  NULL: Slurm ends the job as at its time limit: SIGTERM, SIGKILL after KillWait */
static void enforce_cancel(struct enforcer *enforcer, const char *signal)
{
    const struct enforce_target *target = enforcer->target;
    /* Slurm passes a signal for a heterogeneous job on to all its components */
    size_t jobs = enforcer->budget.whole_job && target->count > 0 ? 1 : target->count;
    char option[32], names[ENFORCE_JOBS_MAX][80];
    const char *words[ENFORCE_JOBS_MAX + 4] = {"scancel", "--quiet"};
    size_t count = 2;

    if (signal) {
        snprintf(option, sizeof option, "--signal=%s", signal);
        words[count++] = option;
    }
    for (size_t i = 0; i < jobs; i++) {
        snprintf(names[i], sizeof names[i], "%u%s%s", target->jobs[i],
                 enforcer->budget.whole_job ? "" : ".",
                 enforcer->budget.whole_job ? "" : target->step);
        words[count++] = names[i];
    }
    enforcer->attempts++;
    tool_start(&enforcer->tool, enforcer->place, words);
}

static bool enforce_is_job_end(const struct enforcer *enforcer)
{
    return enforcer->budget.action == BUDGET_TERM && enforcer->budget.whole_job;
}

static void enforce_send(struct enforcer *enforcer)
{
    enforcer->due_ns = 0;
    if (enforcer->stage == ENFORCE_KILLING) {
        enforce_cancel(enforcer, "KILL");
    } else if (enforce_is_job_end(enforcer)) {
        enforce_cancel(enforcer, NULL);
    } else {
        enforce_cancel(enforcer, budget_signal_name(&enforcer->budget));
    }
}

void enforce_begin(struct enforcer *enforcer, const struct budget *budget)
{
    enforcer->budget = *budget;
    enforcer->stage = ENFORCE_SENDING;
    enforce_send(enforcer);
}

/* From "KillWait                = 30 sec". */
static uint64_t enforce_read_kill_wait_ns(const char *text)
{
    const char *line = strstr(text, "\nKillWait "), *value = line ? strchr(line + 1, '=') : NULL;
    unsigned long seconds = value ? strtoul(value + 1, NULL, 10) : 0;

    return (seconds > 0 && seconds <= KILL_WAIT_MAX_S ? seconds : KILL_WAIT_S) * 1000 * DEADLINE_MS;
}

static void enforce_ask(struct enforcer *enforcer)
{
    static const char *const words[] = {"scontrol", "show", "config", NULL};

    enforcer->stage = ENFORCE_ASKING;
    tool_start(&enforcer->tool, enforcer->place, words);
}

static void enforce_go_on(struct enforcer *enforcer)
{
    switch (enforcer->stage) {
    case ENFORCE_SENDING:
        enforcer->sent_ns = deadline_now();
        enforcer->attempts = 0;
        if (enforcer->budget.action == BUDGET_TERM && !enforcer->budget.whole_job) {
            enforce_ask(enforcer);
        } else {
            enforcer->stage = ENFORCE_DONE;
        }
        break;
    case ENFORCE_ASKING:
        enforcer->due_ns = enforcer->sent_ns + enforce_read_kill_wait_ns(enforcer->tool.text);
        enforcer->stage = ENFORCE_WAITING;
        break;
    default:
        enforcer->stage = ENFORCE_DONE;
        break;
    }
}

/* Slurm's controller may be away for a while. What failed was not sent. */
static void enforce_fall_back(struct enforcer *enforcer)
{
    if (enforcer->stage == ENFORCE_ASKING) {
        enforcer->tool.text[0] = '\0';
        enforce_go_on(enforcer);
    } else if (enforcer->attempts < ATTEMPTS_MAX) {
        enforcer->due_ns = deadline_now() + RETRY_NS;
    } else {
        enforcer->stage = ENFORCE_FAILED;
    }
}

static bool enforce_is_over(const struct enforcer *enforcer)
{
    return enforcer->stage == ENFORCE_IDLE || enforcer->stage == ENFORCE_DONE ||
           enforcer->stage == ENFORCE_FAILED;
}

bool enforce_work(struct enforcer *enforcer)
{
    if (enforce_is_over(enforcer)) {
        return false;
    }
    switch (tool_look(&enforcer->tool)) {
    case TOOL_DONE:
        enforce_go_on(enforcer);
        break;
    case TOOL_FAILED:
        enforce_fall_back(enforcer);
        break;
    case TOOL_IDLE:
        if (deadline_now() >= enforcer->due_ns) {
            enforcer->stage =
                enforcer->stage == ENFORCE_WAITING ? ENFORCE_KILLING : enforcer->stage;
            enforce_send(enforcer);
        }
        break;
    default:
        break;
    }
    return enforce_is_over(enforcer);
}

int enforce_pause_ms(const struct enforcer *enforcer)
{
    uint64_t now_ns = deadline_now();

    if (enforce_is_over(enforcer)) {
        return -1;
    }
    if (enforcer->tool.pid != 0) {
        return RUNNING_MS;
    }
    return enforcer->due_ns > now_ns ? (int)((enforcer->due_ns - now_ns) / DEADLINE_MS) + 1 : 0;
}
