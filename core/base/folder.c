/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void folder_close(int fd)
{
    int saved_errno = errno;

    if (fd >= 0) {
        close(fd);
    }
    errno = saved_errno;
}

int folder_check_name(const char *name)
{
    return !*name || strchr(name, '/') || strstr(name, "..") || strcmp(name, ".") == 0 ? -1 : 0;
}

/* A link of root or this user may be followed, in a folder that no one else can change. */
static bool folder_is_ours(const struct stat *status)
{
    return status->st_uid == 0 || status->st_uid == geteuid();
}

static bool may_follow(int folder, const char *name)
{
    struct stat above, link;

    return fstat(folder, &above) == 0 && folder_is_ours(&above) &&
           (!(above.st_mode & S_IWOTH) || above.st_mode & S_ISVTX) &&
           fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) == 0 && folder_is_ours(&link);
}

/* @return descriptor of a folder within `folder`, for openat() only; -1 with errno. */
static int folder_enter(int folder, const char *name)
{
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    struct stat status;
    int fd = openat(folder, name, flags | O_NOFOLLOW);

    if (fd >= 0 || errno != ENOTDIR || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
        return fd;
    }
    errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
    return errno == ELOOP && may_follow(folder, name) ? openat(folder, name, flags) : -1;
}

/* The same; creates a missing folder if it is the last of the path. */
static int folder_enter_or_make(int folder, const char *name, bool last)
{
    int fd = folder_enter(folder, name);

    if (fd < 0 && errno == ENOENT && last &&
        (mkdirat(folder, name, 0700) == 0 ||
         errno == EEXIST)) { /* another process may have been faster */
        fd = folder_enter(folder, name);
    }
    return fd;
}

/* Walk the path. @return as folder_enter(); `rest` is where it stopped. */
static int folder_walk(const char *path, bool make, const char **rest)
{
    int fd = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    *rest = path + strspn(path, "/");
    while (fd >= 0 && **rest) {
        size_t length = strcspn(*rest, "/");
        const char *next = *rest + length + strspn(*rest + length, "/");
        char name[NAME_MAX + 1];
        int above = fd;

        snprintf(name, sizeof(name), "%.*s", (int)length, *rest);
        errno = ENAMETOOLONG;
        fd = length < sizeof(name) ? folder_enter_or_make(above, name, make && !*next) : -1;
        folder_close(above);
        *rest = fd >= 0 ? next : *rest;
    }
    return fd;
}

/* A descriptor of the walk is for openat() only. @return a descriptor for all operations. */
static int folder_arrive(int way)
{
    int fd = way < 0 ? -1 : openat(way, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    folder_close(way);
    return fd;
}

int folder_find(const char *path)
{
    const char *rest;

    return folder_arrive(folder_walk(path, false, &rest));
}

int folder_open(const char *path, struct apapi_error *err)
{
    const char *rest;
    int fd = folder_arrive(folder_walk(path, true, &rest));

    if (fd >= 0) {
        return fd;
    }
    if (errno == ELOOP) {
        return apapi_fail(err, errno, "%.*s: a link that ordinary users may have made",
                          (int)(rest - path + (ptrdiff_t)strcspn(rest, "/")), path);
    }
    if (errno == ENOENT && strchr(rest, '/')) {
        return apapi_fail(err, errno, "%s: the folder above it does not exist", path);
    }
    return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
}

static const char *folder_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int check_owner(const char *path, const struct stat *status, struct apapi_error *err)
{
    if (status->st_uid != geteuid()) {
        return apapi_fail(err, EPERM, "%s: belongs to user %u, not to user %u", path,
                          (unsigned)status->st_uid, (unsigned)geteuid());
    }
    return 0;
}

int folder_open_below(int parent, const char *path, struct apapi_error *err)
{
    struct stat status;
    int fd;

    if (mkdirat(parent, folder_last_part(path), 0700) < 0 && errno != EEXIST) {
        return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    fd = openat(parent, folder_last_part(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        apapi_fail(err, errno, "%s: %s", path, strerror(errno));
        goto fail;
    }
    if (check_owner(path, &status, err) < 0) {
        goto fail;
    }
    return fd;
fail:
    folder_close(fd);
    return -1;
}

int folder_open_file(int folder, const char *path, int flags, struct stat *status,
                     struct apapi_error *err)
{
    const int safe = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = openat(folder, folder_last_part(path), flags | safe, 0600);

    if (fd < 0 || fstat(fd, status) < 0) {
        apapi_fail(err, errno, "%s: %s", path, strerror(errno));
        goto fail;
    }
    if (!S_ISREG(status->st_mode)) {
        apapi_fail(err, EPERM, "%s: not a regular file", path);
        goto fail;
    }
    if (check_owner(path, status, err) < 0) {
        goto fail;
    }
    return fd;
fail:
    folder_close(fd);
    return -1;
}
