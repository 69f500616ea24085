/* SPDX-License-Identifier: BSD-3-Clause */
#include "configure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "gpus.h"
#include "naming.h"
#include "overflow.h"

static const char *unless_empty(const char *text)
{
    return text && *text ? text : NULL;
}

static const char *total_word(enum config_job_total total)
{
    switch (total) {
    case CONFIG_TOTAL_BATCH:
        return "batch";
    case CONFIG_TOTAL_EXTERN:
        return "extern";
    default:
        return CONFIG_OFF;
    }
}

static void configure_site(const struct config *config, struct message *message)
{
    char nice[16];

    snprintf(nice, sizeof nice, "%d", config->sampler_nice);
    message_add_pair(message, "channel", APAPI_CHANNEL_VERSION);
    message_add_pair(message, "config", unless_empty(config->path));
    message_add_pair(message, "slurm_conf", unless_empty(getenv("SLURM_CONF"))); /* slurmd's */
    message_add_pair(message, "acct_dir", config->acct_dir);
    message_add_pair(message, "site_intervals", config->interval);
    message_add_pair(message, "cpu", unless_empty(config->sampler_cpu));
    message_add_pair(message, "nice", nice);
    message_add_number(message, "checkpoint_ns", config->checkpoint_ns);
    message_add_pair(message, "spool_dir", config->spool_dir);
    message_add_pair(message, "user_records", unless_empty(config->user_records));
    message_add_pair(message, "live_dir", unless_empty(config->live_dir));
    message_add_pair(message, "job_total", total_word(config->job_total));
}

/* The user's file name was checked at the prompt. */
static bool configure_file(spank_t spank, const struct spank_apapi_step *step, const char *key,
                           const char *pattern, struct message *message)
{
    struct spank_apapi_naming naming = {.job = step->job,
                                        .step = step->step_name,
                                        .node = step->node,
                                        .user = step->user,
                                        .look = spank_apapi_step_look,
                                        .context = spank};
    char name[PATH_MAX];

    spank_get_item(spank, S_JOB_NODEID, &naming.node_index);
    spank_get_item(spank, S_JOB_UID, &naming.uid);
    if (spank_apapi_name(pattern, &naming, name, sizeof name, NULL)) {
        return false;
    }
    message_add_pair(message, key, name);
    return true;
}

static bool configure_trace(spank_t spank, const struct spank_apapi_choice *choice,
                            const struct spank_apapi_step *step, struct message *message)
{
    const char *pattern = choice_trace(choice);
    char unique[CONFIG_LIST_SIZE + 16];
    uint32_t nodes = 0; /* then it stays in the batch step */

    spank_get_item(spank, S_JOB_NNODES, &nodes);
    return pattern &&
           spank_apapi_name_trace(pattern, nodes, step->batch, unique, sizeof unique) == 0 &&
           configure_file(spank, step, "trace", unique, message);
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
    if (spank_getenv(spank, "SLURM_UMASK", mask, sizeof mask) == ESPANK_SUCCESS) {
        message_add_pair(message, "umask", mask);
    }
}

/* Slurm has passed on the last threshold only; the step's environment has all of them. */
static bool configure_overflow(spank_t spank, const struct spank_apapi_choice *choice,
                               struct message *message)
{
    static char lines[OVERFLOW_LINES_SIZE];
    const char *text = choice->options[SPANK_APAPI_OVERFLOW].text;

    if (!choice->options[SPANK_APAPI_OVERFLOW].given) {
        return false;
    }
    if (spank_getenv(spank, choice_variable(SPANK_APAPI_OVERFLOW), lines, sizeof lines) !=
        ESPANK_SUCCESS) {
        snprintf(lines, sizeof lines, "%s", text);
    }
    message_add_pair(message, "overflow", lines);
    return true;
}

void spank_apapi_configure_scopes(spank_t spank, struct spank_apapi_choice *choice)
{
    char lines[OVERFLOW_LINES_SIZE];

    if (choice->options[SPANK_APAPI_OVERFLOW].given &&
        spank_getenv(spank, choice_variable(SPANK_APAPI_OVERFLOW), lines, sizeof lines) !=
            ESPANK_SUCCESS) {
        snprintf(lines, sizeof lines, "%s", choice->options[SPANK_APAPI_OVERFLOW].text);
    }
    if (choice->options[SPANK_APAPI_OVERFLOW].given) {
        choice->step_limits = overflow_has_scope(lines, "step");
        choice->job_limits = overflow_has_scope(lines, "job");
    }
}

/* The batch step watches the energy of its job. */
static bool configure_budget(const struct spank_apapi_choice *choice,
                             const struct spank_apapi_step *step, struct message *message)
{
    if (!step->batch || !choice_watches_job(choice)) {
        return false;
    }
    message_add_pair(message, "budget", choice_job_budget(choice));
    message_add_number(message, "totals_ms", choice_totals_ms(choice));
    return true;
}

/* @return whether there are any. */
static bool configure_files(spank_t spank, const struct spank_apapi_choice *choice,
                            const struct spank_apapi_step *step, struct message *message)
{
    const char *output = choice_output(choice);
    bool named = false;

    if (output && step->batch && choice_format(choice) != CONFIG_NONE) {
        named = configure_file(spank, step, "output", output, message);
    }
    named = configure_trace(spank, choice, step, message) || named;
    named = configure_overflow(spank, choice, message) || named;
    named = configure_budget(choice, step, message) || named;
    if (named) {
        configure_rights(spank, message);
    }
    return named;
}

/* The sampler makes the report of a batch step. For all other steps srun makes it. */
static void configure_report(const struct spank_apapi_choice *choice,
                             const struct spank_apapi_step *step, struct message *message)
{
    enum config_format format = choice_format(choice);

    if (step->batch && format != CONFIG_NONE) {
        message_add_pair(message, "format", config_format_word(format));
    }
}

/* root has no limits. */
static bool configure_bounded(spank_t spank)
{
    uid_t uid;

    return spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS || uid != 0;
}

bool spank_apapi_configure(spank_t spank, const struct spank_apapi_choice *choice,
                           const struct spank_apapi_step *step,
                           const struct spank_apapi_request *request, struct message *message)
{
    message_add_pair(message, "components", request->components);
    message_add_pair(
        message, "site_components",
        *request->components && request->components == choice->config->components ? "1" : NULL);
    message_add_pair(message, "rules", request->rules);
    message_add_pair(message, "intervals", unless_empty(choice_interval(choice)));
    message_add_pair(message, "share", choice_share(choice));
    if (configure_bounded(spank)) {
        message_add_number(message, "min_interval_ns", choice->config->min_interval_ns);
    }
    configure_site(choice->config, message);
    configure_report(choice, step, message);
    spank_apapi_step_describe(spank, step, message);
    spank_apapi_gpus_describe(spank, step, message);
    return configure_files(spank, choice, step, message);
}
