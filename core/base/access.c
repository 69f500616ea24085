/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/access.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static struct posix_acl_xattr_entry acl_entry(uint16_t tag, uint16_t rights, uint32_t id)
{
    return (struct posix_acl_xattr_entry){
        .e_tag = htole16(tag), .e_perm = htole16(rights), .e_id = htole32(id)};
}

int access_let_user(int fd, uint32_t uid, uint16_t rights)
{
    const uint32_t nobody = (uint32_t)ACL_UNDEFINED_ID;
    const struct {
        struct posix_acl_xattr_header head;
        struct posix_acl_xattr_entry entries[5];
    } acl = {{htole32(POSIX_ACL_XATTR_VERSION)},
             {acl_entry(ACL_USER_OBJ, ACL_WRITE | rights, nobody), acl_entry(ACL_USER, rights, uid),
              acl_entry(ACL_GROUP_OBJ, 0, nobody), acl_entry(ACL_MASK, rights, nobody),
              acl_entry(ACL_OTHER, 0, nobody)}};

    return uid == geteuid() ? 0 : fsetxattr(fd, "system.posix_acl_access", &acl, sizeof acl, 0);
}

static bool access_is_safe(const struct stat *status, mode_t allowed)
{
    return (status->st_uid == 0 || status->st_uid == geteuid()) &&
           (!(status->st_mode & (S_IWGRP | S_IWOTH)) || status->st_mode & allowed);
}

int access_let_in(int folder, const char *path, mode_t mode, struct apapi_error *err)
{
    struct stat status, above;

    if (fstat(folder, &status) || fstatat(folder, "..", &above, 0)) {
        return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    if (!access_is_safe(&status, 0) || !access_is_safe(&above, S_ISVTX)) {
        return apapi_fail(err, EPERM, "%s: others than root can change what is in it, or above it",
                          path);
    }
    if ((status.st_mode & 0777) == 0700 && status.st_uid == geteuid() && fchmod(folder, mode)) {
        return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    return 0;
}
