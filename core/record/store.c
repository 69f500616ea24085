/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/record.h"
#include "record/timestamp.h"

static void close_quietly(int fd)
{
    int saved_errno = errno;

    if (fd >= 0) {
        close(fd);
    }
    errno = saved_errno;
}

static int check_arguments(const char *node, const char *line, struct apapi_error *err)
{
    if (!*node || strchr(node, '/') || strstr(node, "..") || strcmp(node, ".") == 0) {
        return apapi_fail(err, EINVAL, "store: \"%s\" cannot be the name of a node", node);
    }
    if (strchr(line, '\n')) {
        return apapi_fail(err, EINVAL, "store: a record of more than one line");
    }
    return 0;
}

static int open_root(const char *dir, struct apapi_error *err)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = open(dir, flags);

    if (fd < 0 && errno == ENOENT) {
        if (mkdir(dir, 0700) < 0 && errno == ENOENT) {
            return apapi_fail(err, ENOENT, "%s: the folder above it does not exist", dir);
        }
        fd = open(dir, flags);
    }
    if (fd < 0) {
        return apapi_fail(err, errno, "%s: %s", dir, strerror(errno));
    }
    return fd;
}

static int check_owner(const char *path, const struct stat *status, struct apapi_error *err)
{
    if (status->st_uid != geteuid()) {
        return apapi_fail(err, EPERM, "%s: belongs to user %u, not to user %u", path,
                          (unsigned)status->st_uid, (unsigned)geteuid());
    }
    return 0;
}

static int open_day(int root_fd, const char *path, const char *day, struct apapi_error *err)
{
    struct stat status;
    int fd;

    if (mkdirat(root_fd, day, 0700) < 0 && errno != EEXIST) {
        return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    fd = openat(root_fd, day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        apapi_fail(err, errno, "%s: %s", path, strerror(errno));
        goto fail;
    }
    if (check_owner(path, &status, err) < 0) {
        goto fail;
    }
    return fd;
fail:
    close_quietly(fd);
    return -1;
}

static int open_file(int day_fd, const char *path, struct stat *status, struct apapi_error *err)
{
    /* readable too: the last byte has to be seen */
    const int flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = openat(day_fd, strrchr(path, '/') + 1, flags, 0600);

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
    close_quietly(fd);
    return -1;
}

static bool last_line_is_torn(int fd, off_t size)
{
    char last;

    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

static int write_line(int fd, const char *path, const char *line, bool torn,
                      struct apapi_error *err)
{
    size_t length = torn + strlen(line) + 1;
    char *bytes = malloc(length + 1);
    ssize_t written;
    int code;

    if (!bytes) {
        return apapi_fail(err, ENOMEM, "%s: out of memory", path);
    }
    snprintf(bytes, length + 1, "%s%s\n", torn ? "\n" : "", line);
    do {
        written = write(fd, bytes, length);
    } while (written < 0 && errno == EINTR);
    code = errno;
    free(bytes);
    if (written < 0) {
        return apapi_fail(err, code, "%s: %s", path, strerror(code));
    }
    if ((size_t)written < length) {
        return apapi_fail(err, ENOSPC, "%s: only %zd of %zu bytes written", path, written, length);
    }
    return 0;
}

static int append(int root_fd, const char *path, const char *line, struct apapi_error *err)
{
    char day_path[PATH_MAX];
    struct stat status;
    int day_fd;
    int fd;
    int rc;

    snprintf(day_path, sizeof(day_path), "%.*s", (int)(strrchr(path, '/') - path), path);
    day_fd = open_day(root_fd, day_path, strrchr(day_path, '/') + 1, err);
    if (day_fd < 0) {
        return -1;
    }
    fd = open_file(day_fd, path, &status, err);
    close_quietly(day_fd);
    if (fd < 0) {
        return -1;
    }
    rc = write_line(fd, path, line, last_line_is_torn(fd, status.st_size), err);
    if (rc < 0) {
        close_quietly(fd);
    } else if (close(fd) < 0) {
        rc = apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    return rc;
}

int apapi_store_append(const char *dir, const char *node, int64_t unix_ns, const char *line,
                       struct apapi_error *err)
{
    char day[TIMESTAMP_SIZE];
    char path[PATH_MAX];
    int root_fd;
    int rc;

    if (check_arguments(node, line, err) < 0) {
        return -1;
    }
    timestamp_day(day, sizeof(day), unix_ns);
    if (snprintf(path, sizeof(path), "%s/%s/%s.jsonl", dir, day, node) >= (int)sizeof(path)) {
        return apapi_fail(err, ENAMETOOLONG, "%s: the path is too long", dir);
    }
    root_fd = open_root(dir, err);
    if (root_fd < 0) {
        return -1;
    }
    rc = append(root_fd, path, line, err);
    close_quietly(root_fd);
    return rc;
}
