/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin.h"

#include <limits.h>
#include <link.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"

#define GPUS_SIZE 4096 /* bytes of a list with its NUL */

/* Slurm's plugin for GPUs, which is loaded if GresTypes in slurm.conf names GPUs. */
#define GPU_PLUGIN "/gres_gpu.so"
#define ARRAY_ENV "SLURM_APAPI_ARRAY" /* in the script of a task of an array: the task's job ID */

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

void spank_apapi_step_read(spank_t spank, struct spank_apapi_step *step)
{
    const char *name = getenv("SLURMD_NODENAME");

    memset(step, 0, sizeof *step);
    step->job = step_number(spank, S_JOB_ID);
    step->step = step_number(spank, S_JOB_STEPID);
    step->batch = step->step == SLURM_BATCH_SCRIPT;
    spank_apapi_step_name(step->step, step->step_name);
    if (name) {
        snprintf(step->node, sizeof step->node, "%s", name);
    } else if (gethostname(step->node, sizeof step->node - 1)) {
        step->node[0] = '\0';
    }
}

bool spank_apapi_look(void *spank, const char *variable, char *value, size_t size)
{
    return spank_getenv((spank_t)spank, variable, value, (int)size) == ESPANK_SUCCESS;
}

/* Append a variable of the step's environment, unless it is unset or too long. */
static void step_variable(spank_t spank, const char *variable, const char *key,
                          struct message *message)
{
    char value[SPANK_APAPI_NAME_SIZE];

    if (spank_apapi_look(spank, variable, value, sizeof value) && value[0]) {
        message_add_pair(message, key, value);
    }
}

static void step_cores(spank_t spank, struct message *message)
{
    char *list = NULL;
    uint64_t count = spank_get_item(spank, S_STEP_ALLOC_CORES, &list) == ESPANK_SUCCESS
                         ? text_count_listed(list)
                         : 0;

    if (count > 0) {
        message_add_number(message, "cores", count);
    }
}

/*
 * The item is 0 in some versions of Slurm: there each record of a batch step counts as a run. The
 * environment variable of this name is not used, as the user controls it.
 */
static void step_restarts(spank_t spank, struct message *message)
{
    uint32_t restarts = step_number(spank, S_SLURM_RESTART_COUNT);

    if (restarts > 0) {
        message_add_number(message, "restarts", restarts);
    }
}

static bool step_variable_number(spank_t spank, const char *variable, uint32_t *number)
{
    uint64_t parsed = 0;
    const char *end = NULL;
    char value[16];

    if (spank_apapi_look(spank, variable, value, sizeof value)) {
        end = text_digits(value, NO_VAL - 1, &parsed);
    }
    *number = (uint32_t)parsed;
    return end && *end == '\0';
}

/* @return whether the job belongs to an array. Without one, Slurm gives the job's ID, or 0. */
static bool step_array(spank_t spank, uint32_t *array, uint32_t *task)
{
    *array = step_number(spank, S_JOB_ARRAY_ID);
    return *array != 0 && spank_get_item(spank, S_JOB_ARRAY_TASK_ID, task) == ESPANK_SUCCESS &&
           *task != NO_VAL;
}

/*
 * Slurm takes the array of an srun's step from the environment, which may be that of an enclosing
 * job or of another job. So only a step of the job that the batch step has marked has an array.
 */
static void step_add_array(spank_t spank, const struct spank_apapi_step *step,
                           struct message *message)
{
    uint32_t array, task, marked;

    if (step_array(spank, &array, &task) &&
        (step->batch || (step_variable_number(spank, ARRAY_ENV, &marked) && marked == step->job))) {
        message_add_number(message, "array_job", array);
        message_add_number(message, "array_task", task);
    }
}

void spank_apapi_step_mark_array(spank_t spank, const struct spank_apapi_step *step)
{
    uint32_t array, task;
    char job[16];

    snprintf(job, sizeof job, "%u", step->job);
    if (step_array(spank, &array, &task)) {
        spank_setenv(spank, ARRAY_ENV, job, 1);
    }
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
 * batch script belongs to the first ID. If the list begins with another ID, the list was forged.
 */
static bool step_het(spank_t spank, const struct spank_apapi_step *step, struct message *message)
{
    uint32_t size, first, id;

    if (!step_variable_number(spank, "SLURM_HET_SIZE", &size) || !step_het_job(spank, 0, &first) ||
        (step->batch && first != step->job)) {
        return false;
    }
    for (uint32_t offset = 0; offset < size && offset < SPANK_APAPI_COMPONENTS_MAX; offset++) {
        if (step_het_job(spank, offset, &id) && id == step->job) {
            message_add_number(message, "het_job", first);
            message_add_number(message, "het_offset", offset);
            return true;
        }
    }
    return false;
}

/*
 * Slurm's item counts the nodes of a component of the step, and srun's variable those of all. Of a
 * heterogeneous job, each component has records of its own, and counts its own nodes.
 */
static void step_nodes(spank_t spank, const struct spank_apapi_step *step, struct message *message)
{
    uint32_t nodes = step_number(spank, S_JOB_NNODES), all; /* 0 in the batch step */
    bool het = step_het(spank, step, message);

    if (!step->batch && step_variable_number(spank, "SLURM_STEP_NUM_NODES", &all) && all > nodes) {
        message_add_number(message, "step_nodes", all);
        nodes = het ? nodes : all;
    }
    message_add_number(message, "nodes", nodes ? nodes : 1);
    if (nodes > 1) { /* extern steps do not know the list */
        step_variable(spank, "SLURM_STEP_NODELIST", "nodelist", message);
    }
}

/*
 * Slurm's items can be trusted, except for the array in a step that srun launched: slurmstepd takes
 * it from the environment, which the user controls. In a batch step, the variables that slurmctld
 * always sets, such as the partition, can be trusted. So `verified` applies to partition and array.
 */
static void step_describe(spank_t spank, const struct spank_apapi_step *step,
                          struct message *message)
{
    char program[SPANK_APAPI_NAME_SIZE];
    uid_t uid;

    step_variable(spank, "SLURM_CLUSTER_NAME", "cluster", message);
    message_add_number(message, "job", step->job);
    message_add_pair(message, "step", step->step_name);
    if (step->batch) {
        step_variable(spank, "SLURM_JOB_NAME", "name", message);
        step_variable(spank, "SLURM_JOB_NUM_NODES", "job_nodes", message);
    } else {
        spank_apapi_step_program(spank, program);
        message_add_pair(message, "name", program[0] ? program : NULL);
    }
    message_add_pair(message, "node", step->node);
    message_add_number(message, "node_index", step_number(spank, S_JOB_NODEID));
    step_nodes(spank, step, message);
    message_add_number(message, "tasks", step_number(spank, S_JOB_LOCAL_TASK_COUNT));
    if (spank_get_item(spank, S_JOB_UID, &uid) == ESPANK_SUCCESS) {
        message_add_number(message, "uid", uid);
    }
    step_cores(spank, message);
    step_restarts(spank, message);
    step_add_array(spank, step, message);
    step_variable(spank, "SLURM_JOB_NAME", "job_name", message);
    step_variable(spank, "SLURM_JOB_ACCOUNT", "account", message);
    step_variable(spank, "SLURM_JOB_PARTITION", "partition", message);
    step_variable(spank, "SLURM_JOB_QOS", "qos", message);
    if (step->batch) {
        message_add_pair(message, "verified", "yes");
    }
}

static int is_gpu_plugin(struct dl_phdr_info *object, size_t size, void *unused)
{
    size_t length = strlen(object->dlpi_name), end = strlen(GPU_PLUGIN);

    (void)size;
    (void)unused;
    return length >= end && strcmp(object->dlpi_name + length - end, GPU_PLUGIN) == 0;
}

/* Names are preferred to numbers: with MIG, Slurm numbers parts of GPUs. */
static bool get_gpu_names(spank_t spank, char list[GPUS_SIZE])
{
    static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        if (spank_apapi_look(spank, variables[i], list, GPUS_SIZE) &&
            (strncmp(list, "GPU-", 4) == 0 || strncmp(list, "MIG-", 4) == 0)) {
            return true;
        }
    }
    return false;
}

/*
 * Append the step's GPUs on this node: a list in Slurm's form, "none", or nothing if Slurm does not
 * manage GPUs. Slurm sets these variables and overwrites the user's. Within a step, SLURM_JOB_GPUS
 * may come from the batch script, and from another node.
 */
static void step_gpus(spank_t spank, const struct spank_apapi_step *step, struct message *message)
{
    bool whole_job = step->batch || step->step == SLURM_INTERACTIVE_STEP;
    char list[GPUS_SIZE], names[GPUS_SIZE];

    if (!dl_iterate_phdr(is_gpu_plugin, NULL)) {
        return;
    }
    if (!spank_apapi_look(spank, whole_job ? "SLURM_JOB_GPUS" : "SLURM_STEP_GPUS", list,
                          sizeof list) ||
        !list[0]) {
        strcpy(list, "none");
    } else if (get_gpu_names(spank, names)) {
        strcpy(list, names);
    }
    message_add_pair(message, "gpus", list);
}

static const char *unless_empty(const char *text)
{
    return text && *text ? text : NULL;
}

/* The sampler reads the site's settings for itself, from the same places. */
static void configure_site(const struct spank_apapi_request *request, const struct config *config,
                           struct message *message)
{
    char words[8192] = ""; /* the sampler takes no more */
    size_t length = 0;

    for (int i = 0; i < request->word_count && length < sizeof words; i++) {
        length +=
            (size_t)snprintf(words + length, sizeof words - length, "%s\n", request->words[i]);
    }
    message_add_pair(message, "channel", APAPI_CHANNEL_VERSION);
    message_add_pair(message, "config", unless_empty(config->path));
    message_add_pair(message, "words", unless_empty(words));
    message_add_pair(message, "slurm_conf", unless_empty(getenv("SLURM_CONF"))); /* slurmd's */
}

/* Add the rights that apply to the user's files. */
static void configure_rights(spank_t spank, struct message *message)
{
    char text[12000] = "", mask[8];
    size_t length = 0;
    gid_t gid, *groups = NULL;
    int count = 0;

    if (spank_get_item(spank, S_JOB_GID, &gid) == ESPANK_SUCCESS) {
        message_add_number(message, "gid", gid);
    }
    if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS) {
        count = 0;
    }
    for (int i = 0; i < count && length < sizeof text - 16; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%lu", i ? "," : "",
                                   (unsigned long)groups[i]);
    }
    message_add_pair(message, "groups", text);
    if (spank_apapi_look(spank, "SLURM_UMASK", mask, sizeof mask)) {
        message_add_pair(message, "umask", mask);
    }
}

/* Slurm has passed on the last threshold only; the step's environment has all of them. */
static const char *step_overflow(spank_t spank)
{
    static char lines[OVERFLOW_LINES_SIZE];
    const char *last = choice_given(choice, SPANK_APAPI_OVERFLOW);
    bool all =
        last && spank_apapi_look(spank, choice_variable(SPANK_APAPI_OVERFLOW), lines, sizeof lines);

    return all ? lines : last;
}

void spank_apapi_step_scopes(spank_t spank)
{
    const char *lines = step_overflow(spank);

    choice->step_limits = overflow_has_scope(lines, "step");
    choice->job_limits = overflow_has_scope(lines, "job");
}

/* @return whether the user wants files, or something to be watched. */
static bool configure_files(spank_t spank, const struct spank_apapi_step *step,
                            struct message *message)
{
    const char *output =
        step->batch && choice_format(choice) != CONFIG_NONE ? choice_output(choice) : NULL;
    bool watches = step->batch && choice_watches_job(choice);
    const char *trace = choice_given(choice, SPANK_APAPI_TRACE);
    const char *overflow = step_overflow(spank);
    bool named = overflow || output || trace;

    message_add_pair(message, "overflow", overflow);
    message_add_pair(message, "output", output);
    message_add_pair(message, "trace", trace);
    if (watches) {
        message_add_pair(message, "budget", choice_job_budget(choice));
        message_add_number(message, "totals_ms", choice_totals_ms(choice));
    }
    if (named || watches) {
        configure_rights(spank, message);
    }
    return named || watches;
}

bool spank_apapi_step_configure(spank_t spank, const struct spank_apapi_step *step,
                                const struct spank_apapi_request *request, struct message *message)
{
    enum config_format format = choice_format(choice);
    const char *site = choice->config->components;

    message_add_pair(message, "components", request->components);
    message_add_pair(message, "site_components",
                     *request->components && request->components == site ? "1" : NULL);
    message_add_pair(message, "rules", request->rules);
    message_add_pair(message, "intervals",
                     unless_empty(choice_given(choice, SPANK_APAPI_INTERVAL)));
    message_add_number(message, "watch_ms", choice_totals_ms(choice));
    message_add_pair(message, "share", choice_share(choice));
    configure_site(request, choice->config, message);
    if (step->batch && format != CONFIG_NONE) { /* for all other steps srun makes the report */
        message_add_pair(message, "format", config_format_word(format));
    }
    step_describe(spank, step, message);
    step_gpus(spank, step, message);
    return configure_files(spank, step, message);
}
