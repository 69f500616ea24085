/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_POLICY_H
#define SPANK_APAPI_POLICY_H
#include <stdbool.h>
#include <sys/types.h>

#include "config/config.h"

/** @return whether his number says already that a user may ask, or his name cannot matter. */
bool spank_apapi_policy_uid(const struct config *config, uid_t uid);

/**
 * @param name  the user's; NULL: not known
 * @return whether allow_users lets this user ask for measurements. root may always.
 */
bool spank_apapi_policy_user(const struct config *config, uid_t uid, const char *name);

/** @return whether deny_partitions lets a partition be measured. NULL: not known. */
bool spank_apapi_policy_partition(const struct config *config, const char *partition);

/** @return whether a step that does not know its partition can be measured. */
bool spank_apapi_policy_extern(const struct config *config);

#endif
