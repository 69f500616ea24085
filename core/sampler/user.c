/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/user.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int user_parse_groups(const char *text, struct user *user)
{
    const char *rest = text;

    while (*rest && user->group_count < USER_GROUPS_MAX) {
        char *end;
        unsigned long group;

        errno = 0;
        group = strtoul(rest, &end, 10);
        if (errno || end == rest || group >= UINT32_MAX || (*end != ',' && *end != '\0')) {
            return -1;
        }
        user->groups[user->group_count++] = (gid_t)group;
        rest = end + (*end == ',');
    }
    return *rest ? -1 : 0;
}

int user_parse(const struct step *step, struct user *user, struct apapi_error *err)
{
    char *end;
    unsigned long mask = strtoul(step->umask, &end, 8);

    *user = (struct user){.uid = step->id.uid, .gid = step->gid, .umask = 022};
    if (*step->umask && *end == '\0' && mask <= 0777) {
        user->umask = (mode_t)mask;
    }
    if (step->id.uid == APAPI_UNKNOWN || step->gid == APAPI_UNKNOWN ||
        user_parse_groups(step->groups, user)) {
        return apapi_fail(err, EINVAL, "the user and the groups of the step are not known");
    }
    return 0;
}

int user_become(const struct user *user)
{
    if (geteuid() == 0 && setgroups(user->group_count, user->groups)) {
        return -1;
    }
    if (setresgid(user->gid, user->gid, user->gid) || setresuid(user->uid, user->uid, user->uid)) {
        return -1;
    }
    if (user->uid != 0 && setuid(0) == 0) {
        errno = EPERM; /* still root */
        return -1;
    }
    umask(user->umask);
    return 0;
}
