/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/events.h"
#include "base/grow.h"
#include "base/text.h"

#define READ_STEP 65536

static int check_size(const char *name, size_t size, size_t max, struct apapi_error *err)
{
    if (size == 0) {
        return apapi_fail(err, EINVAL, "%.180s is empty", name);
    }
    if (size > max) {
        return apapi_fail(err, EFBIG, "%.180s is too large: more than %zu bytes", name, max);
    }
    return 0;
}

static int text_file_check_text(const char *name, const char *text, size_t size, size_t max,
                                struct apapi_error *err)
{
    const char *zero;

    if (check_size(name, size, max, err)) {
        return -1;
    }
    zero = memchr(text, '\0', size);
    if (zero) {
        return apapi_fail(err, EINVAL, "%.180s is not text: its byte %td is 0", name,
                          zero - text + 1);
    }
    return 0;
}

static int check_kind(const char *path, const struct stat *status, size_t max,
                      struct apapi_error *err)
{
    if (S_ISDIR(status->st_mode)) {
        return apapi_fail(err, EISDIR, "%.180s is a folder, expected a file", path);
    }
    if (!S_ISREG(status->st_mode)) {
        return apapi_fail(err, EINVAL, "%.180s is not a regular file", path);
    }
    if (status->st_size > 0 && (uintmax_t)status->st_size > max) {
        return check_size(path, max + 1, max, err);
    }
    return 0;
}

/* O_NONBLOCK: opening a FIFO or a device must not block. */
static int text_file_open_regular(const char *path, size_t max, struct apapi_error *err)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        return apapi_fail(err, errno, "%.180s: %s", path, strerror(errno));
    }
    if (fstat(fd, &status) || check_kind(path, &status, max, err)) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static char *free_failed(char *text)
{
    int saved = errno;

    free(text);
    errno = saved;
    return NULL;
}

/* Read to the end, or one byte more than allowed. */
static char *text_file_read_all(int fd, size_t max, size_t *size)
{
    size_t room = 0;
    char *text = NULL;
    ssize_t got = 1;

    for (*size = 0; got > 0 && *size <= max; *size += got > 0 ? (size_t)got : 0) {
        char *grown = array_reserve(text, *size, READ_STEP, &room, 1);

        if (!grown) {
            return free_failed(text);
        }
        text = grown;
        got = TEMP_FAILURE_RETRY(read(fd, text + *size, READ_STEP - 1));
    }
    if (got < 0) {
        return free_failed(text);
    }
    text[*size] = '\0';
    return text;
}

char *text_file_read(const char *path, size_t max, struct apapi_error *err)
{
    int saved, fd = text_file_open_regular(path, max, err);
    char *text;
    size_t size;

    if (fd < 0) {
        return NULL;
    }
    text = text_file_read_all(fd, max, &size);
    saved = errno;
    close(fd);
    if (!text) {
        apapi_fail(err, saved, "%.180s: %s", path, strerror(saved));
        return NULL;
    }
    return text_file_check_text(path, text, size, max, err) ? free_failed(text) : text;
}

char *event_text_read(const char *path, struct apapi_error *err)
{
    return text_file_read(path, APAPI_EVENTS_FILE_MAX, err);
}

char *event_text_copy(const char *name, const char *text, size_t size, struct apapi_error *err)
{
    char *copy;

    if (text_file_check_text(name, text, size, APAPI_EVENTS_FILE_MAX, err)) {
        return NULL;
    }
    copy = malloc(size + 1);
    if (!copy) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

size_t event_text_make_printable(char *text)
{
    size_t replaced = 0;

    while (*text) {
        uint32_t character;
        size_t length = text_character(text, &character);

        if (length == 0 || (unsigned char)*text < ' ' || *text == '\x7f') {
            *text = '?';
            length = 1;
            replaced++;
        }
        text += length;
    }
    return replaced;
}
