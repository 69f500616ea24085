/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy.h"

#include <stdio.h>

#include "config/values.h"

bool policy_uid(const struct config *config, uid_t uid)
{
    char number[24];

    snprintf(number, sizeof number, "%lu", (unsigned long)uid);
    return uid == 0 || *config->allow_users == '\0' ||
           config_names_have(config->allow_users, number);
}

bool policy_user(const struct config *config, uid_t uid, const char *name)
{
    return policy_uid(config, uid) ||
           (name && *name && config_names_have(config->allow_users, name));
}

bool policy_extern(const struct config *config)
{
    return *config->deny_partitions == '\0' && !config_enabled_varies(config);
}

bool policy_partition(const struct config *config, const char *partition)
{
    return *config->deny_partitions == '\0' ||
           (partition && !config_names_have(config->deny_partitions, partition));
}
