/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/events.h"

#define FIRST_CAPACITY 65536

static int check_size(const char *name, size_t size, struct apapi_error *err)
{
    if (size == 0) {
        return apapi_fail(err, EINVAL, "%.180s is empty", name);
    }
    if (size > APAPI_EVENTS_FILE_MAX) {
        return apapi_fail(err, EFBIG, "%.180s is too large: more than %d bytes", name,
                          APAPI_EVENTS_FILE_MAX);
    }
    return 0;
}

static int check_text(const char *name, const char *text, size_t size, struct apapi_error *err)
{
    const char *zero;

    if (check_size(name, size, err)) {
        return -1;
    }
    zero = memchr(text, '\0', size);
    if (zero) {
        return apapi_fail(err, EINVAL, "%.180s is not text: its byte %td is 0", name,
                          zero - text + 1);
    }
    return 0;
}

static int check_kind(const char *path, const struct stat *status, struct apapi_error *err)
{
    if (S_ISDIR(status->st_mode)) {
        return apapi_fail(err, EISDIR, "%.180s is a folder, expected a file", path);
    }
    if (!S_ISREG(status->st_mode)) {
        return apapi_fail(err, EINVAL, "%.180s is not a regular file", path);
    }
    if (status->st_size > APAPI_EVENTS_FILE_MAX) {
        return check_size(path, APAPI_EVENTS_FILE_MAX + 1, err);
    }
    return 0;
}

/* O_NONBLOCK: opening a FIFO or a device must not block. */
static int open_regular(const char *path, struct apapi_error *err)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        return apapi_fail(err, errno, "%.180s: %s", path, strerror(errno));
    }
    if (fstat(fd, &status) || check_kind(path, &status, err)) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

struct buffer {
    char *bytes;
    size_t size;
    size_t capacity;
};

static int grow(struct buffer *buffer)
{
    size_t capacity = buffer->capacity ? 2 * buffer->capacity : FIRST_CAPACITY;
    char *bytes = realloc(buffer->bytes, capacity);

    if (!bytes) {
        errno = ENOMEM;
        return -1;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return 0;
}

/* Read to the end, or one byte more than allowed. A NUL always fits after it. */
static int read_all(int fd, struct buffer *buffer)
{
    while (buffer->size <= APAPI_EVENTS_FILE_MAX) {
        ssize_t got;

        if (buffer->size + 1 >= buffer->capacity && grow(buffer)) {
            return -1;
        }
        got = read(fd, buffer->bytes + buffer->size, buffer->capacity - buffer->size - 1);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        buffer->size += got > 0 ? (size_t)got : 0;
    }
    buffer->bytes[buffer->size] = '\0';
    return 0;
}

char *event_text_read(const char *path, struct apapi_error *err)
{
    struct buffer buffer = {0};
    int result, saved, fd = open_regular(path, err);

    if (fd < 0) {
        return NULL;
    }
    result = read_all(fd, &buffer);
    if (result) {
        apapi_fail(err, errno, "%.180s: %s", path, strerror(errno));
    } else {
        result = check_text(path, buffer.bytes, buffer.size, err);
    }
    saved = errno;
    close(fd);
    if (result) {
        free(buffer.bytes);
        buffer.bytes = NULL;
    }
    errno = saved;
    return buffer.bytes;
}

char *event_text_copy(const char *name, const char *text, size_t size, struct apapi_error *err)
{
    char *copy;

    if (check_text(name, text, size, err)) {
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

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* @return bytes of the UTF-8 character at `text`; 0: invalid. */
static size_t character_length(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc0 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf8 ? 4
                                     : 0;
    uint32_t code = length > 1 ? text[0] & (0x7fu >> length) : text[0];

    for (size_t i = 1; i < length; i++) {
        if (!is_continuation(text[i])) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fu);
    }
    return code < least[length] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ? 0
                                                                                        : length;
}

size_t event_text_make_printable(char *text)
{
    size_t replaced = 0;

    while (*text) {
        size_t length = character_length((const unsigned char *)text);

        if (length == 0 || (unsigned char)*text < ' ' || *text == '\x7f') {
            *text = '?';
            length = 1;
            replaced++;
        }
        text += length;
    }
    return replaced;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

char *event_text_trim(char *text)
{
    size_t length;

    while (is_blank(*text)) {
        text++;
    }
    length = strlen(text);
    while (length > 0 && is_blank(text[length - 1])) {
        length--;
    }
    text[length] = '\0';
    return text;
}
