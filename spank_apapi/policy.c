/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy.h"

#include <pwd.h>
#include <stdio.h>

#include "config/values.h"

bool spank_apapi_policy_user(const struct config *config, uid_t uid)
{
    struct passwd entry, *found = NULL;
    char text[4096], number[24];

    if (uid == 0 || *config->allow_users == '\0') {
        return true;
    }
    snprintf(number, sizeof number, "%lu", (unsigned long)uid);
    if (config_names_have(config->allow_users, number)) {
        return true;
    }
    return getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found &&
           config_names_have(config->allow_users, found->pw_name);
}

bool spank_apapi_policy_extern(const struct config *config)
{
    return *config->deny_partitions == '\0' && !config_enabled_varies(config);
}

bool spank_apapi_policy_partition(const struct config *config, const char *partition)
{
    return !partition || !config_names_have(config->deny_partitions, partition);
}
