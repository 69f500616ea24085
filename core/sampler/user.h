/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_USER_H
#define SAMPLER_USER_H
#include <stddef.h>
#include <sys/types.h>

#include "apapi/error.h"
#include "sampler/step.h"

#define USER_GROUPS_MAX 1024

/** The rights of a step's user. */
struct user {
    uid_t uid;
    gid_t gid;
    size_t group_count;
    gid_t groups[USER_GROUPS_MAX];
    mode_t umask;
};

/** Read them from what the plugin has sent. @return 0; -1 with errno EINVAL: not all is known. */
int user_parse(const struct step *step, struct user *user, struct apapi_error *err);

/** Become the user for good, in a process that is root or the user already. @return 0; -1 with
 * errno. */
int user_become(const struct user *user);

#endif
