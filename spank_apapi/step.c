/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count_of.h"
#include "job_nodes.h"

void spank_apapi_step_name(uint32_t step, char name[SPANK_APAPI_STEP_SIZE])
{
    switch (step) {
    case SLURM_BATCH_SCRIPT:
        strcpy(name, "batch");
        break;
    case SLURM_INTERACTIVE_STEP:
        strcpy(name, "interactive");
        break;
    case SLURM_EXTERN_CONT:
        strcpy(name, "extern");
        break;
    default:
        snprintf(name, SPANK_APAPI_STEP_SIZE, "%u", step);
    }
}

void spank_apapi_step_program(spank_t spank, char name[SPANK_APAPI_NAME_SIZE])
{
    int count = 0;
    char **words = NULL;
    const char *slash;

    name[0] = '\0';
    if (spank_get_item(spank, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS || count < 1) {
        return;
    }
    slash = strrchr(words[0], '/');
    snprintf(name, SPANK_APAPI_NAME_SIZE, "%s", slash ? slash + 1 : words[0]);
}

static uint32_t step_number(spank_t spank, spank_item_t item)
{
    uint32_t number = 0;

    return spank_get_item(spank, item, &number) == ESPANK_SUCCESS ? number : 0;
}

static void step_node(char node[SPANK_APAPI_NAME_SIZE])
{
    const char *name = getenv("SLURMD_NODENAME");

    if (name) {
        snprintf(node, SPANK_APAPI_NAME_SIZE, "%s", name);
    } else if (gethostname(node, SPANK_APAPI_NAME_SIZE - 1)) {
        node[0] = '\0';
    }
}

void spank_apapi_step_read(spank_t spank, struct spank_apapi_step *step)
{
    memset(step, 0, sizeof *step);
    step->job = step_number(spank, S_JOB_ID);
    step->step = step_number(spank, S_JOB_STEPID);
    step->batch = step->step == SLURM_BATCH_SCRIPT;
    spank_apapi_step_name(step->step, step->step_name);
    step_node(step->node);
}

bool spank_apapi_step_look(void *spank, const char *variable, char *value, size_t size)
{
    return spank_getenv((spank_t)spank, variable, value, (int)size) == ESPANK_SUCCESS;
}

/* Append a variable of the step's environment, unless it is unset or too long. */
static void step_variable(spank_t spank, const char *variable, const char *key,
                          struct message *message)
{
    char value[SPANK_APAPI_NAME_SIZE];

    if (spank_getenv(spank, variable, value, sizeof value) == ESPANK_SUCCESS && value[0]) {
        message_add_pair(message, key, value);
    }
}

static void step_program(spank_t spank, const struct spank_apapi_step *step,
                         struct message *message)
{
    char name[SPANK_APAPI_NAME_SIZE];

    if (step->batch) {
        step_variable(spank, "SLURM_JOB_NAME", "name", message);
        return;
    }
    spank_apapi_step_program(spank, name);
    message_add_pair(message, "name", name[0] ? name : NULL);
}

/* Count the elements of a list like "0-3,8". */
static uint64_t count_listed(const char *list)
{
    uint64_t count = 0;

    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;

        if (*end == '-') {
            last = strtoul(end + 1, &end, 10);
        }
        count += last >= first ? last - first + 1 : 0;
        list = *end == ',' ? end + 1 : end;
    }
    return count;
}

static void step_cores(spank_t spank, struct message *message)
{
    char *list = NULL;
    uint64_t count;

    if (spank_get_item(spank, S_STEP_ALLOC_CORES, &list) != ESPANK_SUCCESS || !list) {
        return;
    }
    count = count_listed(list);
    if (count > 0) {
        message_add_number(message, "cores", count);
    }
}

/*
 * The item is 0 in some versions of Slurm: there each record of a batch step tells a run. The
 * variable of that name is the user's.
 */
static void step_restarts(spank_t spank, struct message *message)
{
    uint32_t restarts = step_number(spank, S_SLURM_RESTART_COUNT);

    if (restarts > 0) {
        message_add_number(message, "restarts", restarts);
    }
}

/* Without an array, its ID is that of the job, or 0. */
static void step_array(spank_t spank, struct message *message)
{
    uint32_t array = step_number(spank, S_JOB_ARRAY_ID), task = NO_VAL;

    if (array != 0 && spank_get_item(spank, S_JOB_ARRAY_TASK_ID, &task) == ESPANK_SUCCESS &&
        task != NO_VAL) {
        message_add_number(message, "array_job", array);
        message_add_number(message, "array_task", task);
    }
}

static bool step_variable_number(spank_t spank, const char *variable, uint32_t *number)
{
    char value[16], *end;
    unsigned long parsed;

    if (spank_getenv(spank, variable, value, sizeof value) != ESPANK_SUCCESS || *value < '0' ||
        *value > '9') {
        return false;
    }
    parsed = strtoul(value, &end, 10);
    *number = (uint32_t)parsed;
    return *end == '\0' && parsed < NO_VAL;
}

/* In Slurm 22.05, an srun that makes the allocation itself has the old names only. */
static bool step_het_job(spank_t spank, uint32_t offset, uint32_t *job)
{
    static const char *const names[] = {"HET", "PACK"};
    char variable[48];

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(variable, sizeof variable, "SLURM_JOB_ID_%s_GROUP_%u", names[i], offset);
        if (step_variable_number(spank, variable, job)) {
            return true;
        }
    }
    return false;
}

/*
 * Each component of a heterogeneous job has its own job ID; the environment lists them all. The
 * batch script belongs to the first one. If the list has another one first, it was forged.
 */
static void step_het(spank_t spank, const struct spank_apapi_step *step, struct message *message)
{
    uint32_t size, first, id;

    if (!step_variable_number(spank, "SLURM_HET_SIZE", &size) || !step_het_job(spank, 0, &first) ||
        (step->batch && first != step->job)) {
        return;
    }
    for (uint32_t offset = 0; offset < size && offset < SPANK_APAPI_COMPONENTS_MAX; offset++) {
        if (step_het_job(spank, offset, &id) && id == step->job) {
            message_add_number(message, "het_job", first);
            message_add_number(message, "het_offset", offset);
            return;
        }
    }
}

/*
 * Slurm's items can be trusted, except for the array in a step that srun launched: slurmstepd takes
 * it from the environment, which the user controls. In a batch step, the variables that slurmctld
 * always sets, such as the partition, can be trusted. So `verified` applies to partition and array.
 */
void spank_apapi_step_describe(spank_t spank, const struct spank_apapi_step *step,
                               struct message *message)
{
    uint32_t nodes = step_number(spank, S_JOB_NNODES); /* 0 in the batch step */
    uid_t uid;

    step_variable(spank, "SLURM_CLUSTER_NAME", "cluster", message);
    message_add_number(message, "job", step->job);
    message_add_pair(message, "step", step->step_name);
    step_program(spank, step, message);
    message_add_pair(message, "node", step->node);
    message_add_number(message, "node_index", step_number(spank, S_JOB_NODEID));
    message_add_number(message, "nodes", nodes ? nodes : 1);
    if (nodes > 1) { /* extern steps do not know the list */
        step_variable(spank, "SLURM_STEP_NODELIST", "nodelist", message);
    }
    message_add_number(message, "tasks", step_number(spank, S_JOB_LOCAL_TASK_COUNT));
    if (spank_get_item(spank, S_JOB_UID, &uid) == ESPANK_SUCCESS) {
        message_add_number(message, "uid", uid);
    }
    step_cores(spank, message);
    step_restarts(spank, message);
    step_array(spank, message);
    step_het(spank, step, message);
    step_variable(spank, "SLURM_JOB_NAME", "job_name", message);
    step_variable(spank, "SLURM_JOB_ACCOUNT", "account", message);
    step_variable(spank, "SLURM_JOB_PARTITION", "partition", message);
    step_variable(spank, "SLURM_JOB_QOS", "qos", message);
    if (step->batch) {
        message_add_pair(message, "verified", "yes");
    }
}

void spank_apapi_ending_add(spank_t spank, struct spank_apapi_ending *ending)
{
    int status;

    if (spank_get_item(spank, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS) {
        return;
    }
    ending->tasks++;
    ending->failed += status != 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) > ending->code) {
        ending->code = WEXITSTATUS(status);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) > ending->signal) {
        ending->signal = WTERMSIG(status);
    }
}

void spank_apapi_ending_describe(const struct spank_apapi_ending *ending, struct message *message)
{
    if (ending->tasks == 0) {
        return;
    }
    message_add_number(message, "exit_code", (uint64_t)ending->code);
    if (ending->signal) {
        message_add_number(message, "exit_signal", (uint64_t)ending->signal);
    }
    if (ending->failed) {
        message_add_number(message, "failed_tasks", ending->failed);
    }
}
