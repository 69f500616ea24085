/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

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

/* Append a variable of the step's environment; nothing where it is not set. */
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
    message_add_number(message, "tasks", step_number(spank, S_JOB_LOCAL_TASK_COUNT));
    if (spank_get_item(spank, S_JOB_UID, &uid) == ESPANK_SUCCESS) {
        message_add_number(message, "uid", uid);
    }
    step_variable(spank, "SLURM_JOB_USER", "user", message);
    step_variable(spank, "SLURM_JOB_ACCOUNT", "account", message);
    step_variable(spank, "SLURM_JOB_PARTITION", "partition", message);
    message_add_pair(message, "table", step->batch ? "1" : NULL);
}
