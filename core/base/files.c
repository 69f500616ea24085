/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "apapi/events.h"
#include "base/files.h"

/* --- folder --------------------------------------------------------------------------------- */

int file_fail(const char *path, struct apapi_error *err)
{
    return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
}

bool files_clash(const char *path, const char *other)
{
    struct stat one, two;

    if (stat(path, &one) || stat(other, &two)) {
        return strcmp(path, other) == 0;
    }
    return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

void folder_close(int fd)
{
    int saved_errno = errno;

    if (fd >= 0) {
        close(fd);
    }
    errno = saved_errno;
}

void files_close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0U) == 0) {
        return;
    }
#endif
    for (int fd = first; fd < sysconf(_SC_OPEN_MAX); fd++) {
        close(fd);
    }
}

int folder_check_name(const char *name)
{
    return !*name || strchr(name, '/') || strstr(name, "..") || strcmp(name, ".") == 0 ? -1 : 0;
}

static bool folder_is_ours(const struct stat *status)
{
    return status->st_uid == 0 || status->st_uid == geteuid();
}

/* @return whether a link belongs to root or this user, in a folder that no one else can change. */
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

/* Like folder_enter(), but create a missing folder if it is the last of the path. */
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

/* Enter the folders of a path one by one; make the last one if it is missing. @return as
 * folder_enter(); `rest` is the part of the path that was not entered. */
static int folder_walk(const char *path, const char **rest)
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
        fd = length < sizeof(name) ? folder_enter_or_make(above, name, !*next) : -1;
        folder_close(above);
        *rest = fd >= 0 ? next : *rest;
    }
    return fd;
}

int folder_open(const char *path, struct apapi_error *err)
{
    const char *rest;
    int way = folder_walk(path, &rest); /* for openat() only */
    int fd = way < 0 ? -1 : openat(way, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    folder_close(way);
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
    return file_fail(path, err);
}

const char *folder_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* @return `fd`, if it is of this type and belongs to the calling user; -1 with errno: closed */
static int keep_own(int fd, mode_t type, const char *path, struct stat *status,
                    struct apapi_error *err)
{
    if (fd < 0 || fstat(fd, status) < 0) {
        file_fail(path, err);
    } else if ((status->st_mode & S_IFMT) != type) {
        apapi_fail(err, EPERM, "%s: not a regular file", path);
    } else if (status->st_uid != geteuid()) {
        apapi_fail(err, EPERM, "%s: belongs to user %u, not to user %u", path,
                   (unsigned)status->st_uid, (unsigned)geteuid());
    } else {
        return fd;
    }
    folder_close(fd);
    return -1;
}

int folder_open_below(int parent, const char *path, struct apapi_error *err)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const char *name = folder_last_part(path);
    struct stat status;

    if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST) {
        return file_fail(path, err);
    }
    return keep_own(openat(parent, name, flags), S_IFDIR, path, &status, err);
}

int folder_open_file(int folder, const char *path, int flags, struct stat *status,
                     struct apapi_error *err)
{
    const int safe = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

    return keep_own(openat(folder, folder_last_part(path), flags | safe, 0600), S_IFREG, path,
                    status, err);
}

bool folder_each(int above, const char *path, folder_visit_f visit, void *context)
{
    int folder = openat(above, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    _Alignas(struct dirent64) char entries[4096];
    ssize_t size;

    while (folder >= 0 && (size = getdents64(folder, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < size;) {
            const struct dirent64 *entry = (const void *)(entries + at);

            if (entry->d_name[0] != '.') {
                visit(folder, entry->d_name, entry->d_type, context);
            }
            at += entry->d_reclen;
        }
    }
    folder_close(folder);
    return folder >= 0;
}

/* --- access --------------------------------------------------------------------------------- */

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
    return folder_is_ours(status) &&
           (!(status->st_mode & (S_IWGRP | S_IWOTH)) || status->st_mode & allowed);
}

int access_let_in(int folder, const char *path, mode_t mode, struct apapi_error *err)
{
    struct stat status, above;

    if (fstat(folder, &status) || fstatat(folder, "..", &above, 0)) {
        return file_fail(path, err);
    }
    if (!access_is_safe(&status, 0) || !access_is_safe(&above, S_ISVTX)) {
        return apapi_fail(err, EPERM, "%s: others than root can change what is in it, or above it",
                          path);
    }
    if ((status.st_mode & 0777) == 0700 && status.st_uid == geteuid() && fchmod(folder, mode)) {
        return file_fail(path, err);
    }
    return 0;
}

bool folder_has(int folder, const char *name, int file)
{
    struct stat named, opened;

    return fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &opened) == 0 &&
           named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

int file_sync(int fd)
{
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

/* --- replace -------------------------------------------------------------------------------- */

int replace_file(const char *path, mode_t mode, const char *text, size_t size,
                 struct apapi_error *err)
{
    char draft[PATH_MAX];
    struct stat status;
    int file, result;

    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return apapi_fail(err, EPERM, "%s: not a regular file", path);
    }
    if (snprintf(draft, sizeof draft, "%s.XXXXXX", path) >= (int)sizeof draft) {
        return apapi_fail(err, ENAMETOOLONG, "the path of the file is too long");
    }
    file = mkostemp(draft, O_CLOEXEC);
    if (file < 0) {
        return file_fail(path, err);
    }
    result = write_all(file, text, size) || fchmod(file, mode) || file_sync(file) ? -1 : 0;
    folder_close(file);
    if (result || rename(draft, path)) {
        file_fail(path, err);
        unlink(draft);
        return -1;
    }
    return 0;
}

/* --- write all ------------------------------------------------------------------------------ */

int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};

            poll(&room, 1, 1000);
        } else if (written < 0 && errno != EINTR) {
            return -1;
        } else if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

/* --- text file ------------------------------------------------------------------------------ */

/* @return 0; -1 with errno. */
static int text_file_read_all(int fd, char *text, size_t most, size_t *size)
{
    ssize_t got = 1;

    for (*size = 0; got > 0 && *size <= most; *size += got > 0 ? (size_t)got : 0) {
        got = TEMP_FAILURE_RETRY(read(fd, text + *size, most + 1 - *size));
    }
    text[*size] = '\0';
    if (got >= 0 && *size > most) {
        errno = EFBIG;
        return -1;
    }
    return got < 0 ? -1 : 0;
}

/* O_NONBLOCK: opening a FIFO or a device must not block. */
char *text_file_read(const char *path, size_t most, size_t *size, struct stat *status)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), error;
    char *text = NULL, *smaller = NULL;

    if (fd < 0 || fstat(fd, status)) {
        error = errno;
    } else if (!S_ISREG(status->st_mode)) {
        error = S_ISDIR(status->st_mode) ? EISDIR : EINVAL;
    } else {
        text = malloc(most + 2);
        error = text && text_file_read_all(fd, text, most, size) == 0 ? 0 : errno;
    }
    folder_close(fd);
    if (error == 0) {
        smaller = realloc(text, *size + 1);
    } else {
        free(text);
        errno = error;
    }
    return smaller;
}

static int text_file_refuse(const char *name, int code, struct apapi_error *err)
{
    switch (code) {
    case EISDIR:
        return apapi_fail(err, code, "%.180s is a folder, expected a file", name);
    case EINVAL:
        return apapi_fail(err, code, "%.180s is not a regular file", name);
    case EFBIG:
        return apapi_fail(err, code, "%.180s is too large: more than %d bytes", name,
                          APAPI_EVENTS_FILE_MAX);
    default:
        return apapi_fail(err, code, "%.180s: %s", name, strerror(code));
    }
}

/* @return the text; NULL with errno EINVAL, and freed: it is empty, or has a NUL. */
static char *text_file_check(const char *name, char *text, size_t size, struct apapi_error *err)
{
    const char *zero = memchr(text, '\0', size);

    if (size > 0 && !zero) {
        return text;
    }
    if (size == 0) {
        apapi_fail(err, EINVAL, "%.180s is empty", name);
    } else {
        apapi_fail(err, EINVAL, "%.180s is not text: its byte %td is 0", name, zero - text + 1);
    }
    free(text);
    errno = EINVAL;
    return NULL;
}

char *event_text_read(const char *path, struct apapi_error *err)
{
    struct stat status;
    size_t size = 0;
    char *text = text_file_read(path, APAPI_EVENTS_FILE_MAX, &size, &status);

    if (!text) {
        text_file_refuse(path, errno, err);
        return NULL;
    }
    return text_file_check(path, text, size, err);
}

char *event_text_copy(const char *name, const char *text, size_t size, struct apapi_error *err)
{
    char *copy = size > APAPI_EVENTS_FILE_MAX ? NULL : malloc(size + 1);

    if (!copy) {
        text_file_refuse(name, size > APAPI_EVENTS_FILE_MAX ? EFBIG : ENOMEM, err);
        return NULL;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    return text_file_check(name, copy, size, err);
}
