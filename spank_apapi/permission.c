/* SPDX-License-Identifier: BSD-3-Clause */
#include "permission.h"

#include <errno.h>

#include "channel/deadline.h"
#include "config/filename.h"
#include "policy.h"

/* Looks up once: a server that timed out would time out again. */
static const char *look_up(const struct config *config, uid_t uid, struct spank_apapi_step *step)
{
    static struct message message;
    static bool asked;

    if (!asked) {
        spank_apapi_user_ask(config->libexec_dir, uid, deadline_now() + config->start_timeout_ns,
                             &message, step->user);
    }
    asked = true;
    return step->user;
}

bool spank_apapi_may_ask(spank_t spank, const struct config *config, struct spank_apapi_step *step)
{
    uid_t uid = 0;

    if (spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS) {
        return *config->allow_users == '\0';
    }
    return policy_uid(config, uid) || policy_user(config, uid, look_up(config, uid, step));
}

void spank_apapi_name_user(spank_t spank, const struct spank_apapi_choice *choice,
                           struct spank_apapi_step *step)
{
    const char *output = choice_output(choice);
    const char *trace = choice_trace(choice);
    bool named =
        (output && step->batch && filename_has(output, "u")) || (trace && filename_has(trace, "u"));
    uid_t uid = 0;

    if (named && spank_get_item(spank, S_JOB_UID, &uid) == ESPANK_SUCCESS) {
        look_up(choice->config, uid, step);
    }
}

int spank_apapi_may_measure(spank_t spank, const struct config *config, bool *disabled,
                            struct apapi_error *err)
{
    char partition[SPANK_APAPI_NAME_SIZE];

    if (spank_getenv(spank, "SLURM_JOB_PARTITION", partition, sizeof partition) != ESPANK_SUCCESS) {
        return policy_extern(config) ? 0
                                     : apapi_fail(err, EPERM, "the step's partition is not known");
    }
    *disabled = !config_enabled(config, partition);
    return !*disabled && policy_partition(config, partition)
               ? 0
               : apapi_fail(err, EPERM, "this site measures nothing in partition %s", partition);
}
