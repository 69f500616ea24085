/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/walk.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inflow.h"
#include "base/names.h"

typedef bool (*wants_f)(const struct walk *walk, const char *name);

static bool walk_wants_day(const struct walk *walk, const char *name)
{
    static const char form[] = "0000-00-00";

    for (size_t i = 0; i < sizeof form; i++) {
        if (form[i] == '0' ? !isdigit((unsigned char)name[i]) : name[i] != form[i]) {
            return false;
        }
    }
    return filter_wants_day(walk->filter, name);
}

/* @return the end of a node's name, before the suffix and that of compression; NULL */
static const char *walk_find_suffix(const struct walk *walk, const char *name)
{
    const char *found = NULL;

    for (const char *at = name; (at = strstr(at, walk->suffix)); at++) {
        char behind = at[strlen(walk->suffix)];

        found = at > name && (behind == '\0' || behind == '.') ? at : found;
    }
    return found;
}

static bool walk_wants_file(const struct walk *walk, const char *name)
{
    const char *suffix = walk_find_suffix(walk, name);
    char node[NAME_MAX + 1];

    if (!suffix) {
        return false;
    }
    snprintf(node, sizeof node, "%.*s", (int)(suffix - name), name);
    return filter_wants_node(walk->filter, node);
}

/* Read the wanted entries of a folder, sorted. Takes ownership of `fd`. */
static int walk_read_names(struct namelist *names, int fd, const struct walk *walk, wants_f wants)
{
    DIR *folder = fdopendir(fd);
    const struct dirent *entry;
    int code;

    if (!folder) {
        close(fd);
        return -1;
    }
    while (errno = 0, (entry = readdir(folder))) { // NOLINT(concurrency-mt-unsafe)
        if (wants(walk, entry->d_name) && namelist_add(names, entry->d_name)) {
            break;
        }
    }
    code = errno;
    closedir(folder);
    namelist_sort(names);
    errno = code;
    return code ? -1 : 0;
}

static void walk_leave_out(const struct walk *walk, const char *path, const char *reason)
{
    walk->leave_out(path, reason, walk->context);
}

/* @return a descriptor; -1: leave it out */
static int walk_open_regular(const struct walk *walk, int day_fd, const char *path,
                             struct apapi_scan_file *file)
{
    int fd = openat(day_fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0) {
        walk_leave_out(walk, path, errno == ELOOP ? "a symbolic link" : strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        walk_leave_out(walk, path, "not a regular file");
    } else {
        file->size = (uint64_t)status.st_size;
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static bool walk_is_known_form(const struct walk *walk, const char *name)
{
    return inflow_is_packed(name) || *(walk_find_suffix(walk, name) + strlen(walk->suffix)) == '\0';
}

static void walk_refuse_form(const struct walk *walk, const char *path)
{
    char reason[80];

    snprintf(reason, sizeof reason, "its name ends neither with %s nor with .gz or .zst",
             walk->suffix);
    walk_leave_out(walk, path, reason);
}

/* `path` is that of the day; the file's name is appended. */
static int walk_entry(const struct walk *walk, int day_fd, char path[PATH_MAX],
                      struct apapi_scan_file *file)
{
    size_t length = strlen(path);
    int result = 0, fd = -1, saved;

    snprintf(path + length, PATH_MAX - length, "/%s", file->name);
    if (walk_is_known_form(walk, file->name)) {
        fd = walk_open_regular(walk, day_fd, path, file);
    } else {
        walk_refuse_form(walk, path);
    }
    if (fd >= 0) {
        result = walk->file(file, path, fd, walk->context);
        saved = errno;
        close(fd);
        errno = saved;
    }
    path[length] = '\0';
    return result;
}

static int walk_day(const struct walk *walk, int root_fd, char path[PATH_MAX], const char *day)
{
    struct apapi_scan_file file = {.day = day};
    int day_fd = openat(root_fd, day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int list_fd = day_fd < 0 ? -1 : fcntl(day_fd, F_DUPFD_CLOEXEC, 0);
    struct namelist names = {0};
    int result = 0, saved;

    if (list_fd < 0 || walk_read_names(&names, list_fd, walk, walk_wants_file)) {
        walk_leave_out(walk, path, strerror(errno));
    }
    for (size_t i = 0; i < names.count && result == 0; i++) {
        file.name = names.names[i];
        result = walk_entry(walk, day_fd, path, &file);
    }
    saved = errno;
    namelist_free(&names);
    if (day_fd >= 0) {
        close(day_fd);
    }
    errno = saved;
    return result;
}

static int walk_days(const struct walk *walk, int root_fd, const char *dir, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct namelist days = {0};
    int fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
    int result = 0;

    if (fd < 0 || walk_read_names(&days, fd, walk, walk_wants_day)) {
        result = apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno));
    }
    for (size_t i = 0; i < days.count && result == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, days.names[i]);
        result = walk_day(walk, root_fd, path, days.names[i]);
    }
    namelist_free(&days);
    return result;
}

int walk_folder(const struct walk *walk, const char *dir, struct apapi_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result, saved;

    if (err) {
        *err->text = '\0';
    }
    if (fd < 0) {
        return apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno));
    }
    result = walk_days(walk, fd, dir, err);
    saved = errno;
    close(fd);
    errno = saved;
    return result;
}
