/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/write_all.h"

static int replace_fail(const char *path, struct apapi_error *err)
{
    return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
}

/* A device or a pipe must not be replaced. */
static bool is_replaceable(const char *path)
{
    struct stat status;

    return lstat(path, &status) < 0 || S_ISREG(status.st_mode);
}

/* Write and close. */
static int replace_fill(int file, mode_t mode, const char *text, size_t size)
{
    if (write_all(file, text, size) || fchmod(file, mode) || fsync(file)) {
        folder_close(file);
        return -1;
    }
    return close(file);
}

int replace_file(const char *path, mode_t mode, const char *text, size_t size,
                 struct apapi_error *err)
{
    char draft[PATH_MAX];
    int file;

    if (!is_replaceable(path)) {
        return apapi_fail(err, EPERM, "%s: not a regular file", path);
    }
    if (snprintf(draft, sizeof draft, "%s.XXXXXX", path) >= (int)sizeof draft) {
        return apapi_fail(err, ENAMETOOLONG, "the path of the file is too long");
    }
    file = mkostemp(draft, O_CLOEXEC);
    if (file < 0) {
        return replace_fail(path, err);
    }
    if (replace_fill(file, mode, text, size) || rename(draft, path)) {
        replace_fail(path, err);
        unlink(draft);
        return -1;
    }
    return 0;
}
