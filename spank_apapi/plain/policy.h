/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_POLICY_H
#define SPANK_APAPI_POLICY_H
#include <stdbool.h>
#include <sys/types.h>

#include "config/config.h"

/** @return whether the uid alone shows that the user may ask, or the name cannot matter. */
bool policy_uid(const struct config *config, uid_t uid);

/**
 * @param name  of the user; NULL: not known
 * @return whether allow_users allows this user to ask for measurements. root always may.
 */
bool policy_user(const struct config *config, uid_t uid, const char *name);

/** @return whether deny_partitions allows measurements in a partition. NULL: not known. */
bool policy_partition(const struct config *config, const char *partition);

/** @return whether a step with unknown partition may be measured. */
bool policy_extern(const struct config *config);

#endif
