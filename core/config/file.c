/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_refuse(struct apapi_error *err, int code, const char *path, const char *why)
{
    return apapi_fail(err, code, "%.150s: %s", path, why);
}

/*
 * Whoever can write the file controls root. The check gives the same answer for commands of users
 * and for root's, since both must behave the same.
 */
static int file_check(const char *path, const struct stat *file, struct apapi_error *err)
{
    if (!S_ISREG(file->st_mode)) {
        return file_refuse(err, EINVAL, path, "not a regular file");
    }
    if (file->st_size > CONFIG_FILE_MAX) {
        return file_refuse(err, EFBIG, path, "larger than 64 KiB");
    }
    if (file->st_uid != 0 && file->st_uid != geteuid()) {
        return file_refuse(err, EPERM, path, "ignored: not owned by root (chown root)");
    }
    if (file->st_uid == 0 && (file->st_mode & (S_IWGRP | S_IWOTH))) {
        return file_refuse(err, EPERM, path, "ignored: others can write it (chmod go-w)");
    }
    return 0;
}

/* @return 0; -1 with errno. */
static int file_take(int fd, const char *path, char *text, struct apapi_error *err)
{
    size_t length = 0;
    ssize_t count;

    while ((count = read(fd, text + length, CONFIG_FILE_MAX + 1 - length)) != 0) {
        if (count < 0 && errno != EINTR) {
            return file_refuse(err, errno, path, strerror(errno));
        }
        length += count > 0 ? (size_t)count : 0;
    }
    text[length] = '\0';
    if (length > CONFIG_FILE_MAX) {
        return file_refuse(err, EFBIG, path, "larger than 64 KiB");
    }
    return strlen(text) == length ? 0
                                  : file_refuse(err, EINVAL, path, "not a text: it has a byte 0");
}

static char *file_text(int fd, const char *path, struct apapi_error *err)
{
    struct stat file;
    char *text;

    if (fstat(fd, &file)) {
        file_refuse(err, errno, path, strerror(errno));
        return NULL;
    }
    if (file_check(path, &file, err)) {
        return NULL;
    }
    text = malloc(CONFIG_FILE_MAX + 2);
    if (!text) {
        file_refuse(err, ENOMEM, path, "no memory");
        return NULL;
    }
    if (file_take(fd, path, text, err)) {
        int code = errno;

        free(text);
        errno = code;
        return NULL;
    }
    return text;
}

char *config_file_read(const char *path, struct apapi_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text;
    int code;

    if (fd < 0) {
        file_refuse(err, errno, path, strerror(errno));
        return NULL;
    }
    text = file_text(fd, path, err);
    code = errno;
    close(fd);
    errno = code;
    return text;
}
