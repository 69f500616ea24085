/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters and gauges that the kernel offers as text files: open once, pread at each reading. */
#include "sources/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources/sources.h"

/* One row for each kind of meter. */
static const struct family {
    const char *component;
    int (*discover)(struct sysfs_reader *reader, struct apapi_error *err);
} families[] = {
    {"rapl", sysfs_discover_rapl},
    {"powercap", sysfs_discover_powercap},
};

static const struct family *find_family(const char *component)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i].component, component) == 0) {
            return &families[i];
        }
    }
    return NULL;
}

void sysfs_path(char *path, size_t size, const char *absolute)
{
    const char *root = getenv("APAPI_SYSROOT");

    snprintf(path, size, "%s%s", root ? root : "", absolute);
}

/* Numbers of so many digits fit into 64 bits, whatever the digits. */
#define DIGITS_THAT_FIT 19

int sysfs_parse_u64(const char *text, size_t size, uint64_t *value)
{
    const size_t unchecked = size < DIGITS_THAT_FIT ? size : DIGITS_THAT_FIT;
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < unchecked && isdigit((unsigned char)text[i]); i++) {
        sum = sum * 10 + (unsigned)(text[i] - '0');
    }
    for (; i < size && isdigit((unsigned char)text[i]); i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (sum > (UINT64_MAX - digit) / 10) {
            return ERANGE;
        }
        sum = sum * 10 + digit;
    }
    if (i == 0 || i == size) {
        return EBADMSG;
    }
    for (; i < size; i++) {
        if (text[i] != '\n') {
            return EBADMSG;
        }
    }
    *value = sum;
    return 0;
}

/* @return 0 or the errno. */
static int read_u64(int fd, uint64_t *value)
{
    char text[64];
    ssize_t got = pread(fd, text, sizeof text, 0);

    if (got < 0) {
        return errno;
    }
    return sysfs_parse_u64(text, (size_t)got, value);
}

int sysfs_read_u64_at(int dir, const char *name, uint64_t *value)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    int error;

    if (fd < 0) {
        return -1;
    }
    error = read_u64(fd, value);
    close(fd);
    errno = error;
    return error ? -1 : 0;
}

int sysfs_read_word_at(int dir, const char *name, char *word, size_t size)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0) {
        return -1;
    }
    got = pread(fd, word, size - 1, 0);
    close(fd);
    if (got < 0) {
        return -1;
    }
    word[got] = '\0';
    word[strcspn(word, "\n")] = '\0';
    return 0;
}

static int grow(struct sysfs_reader *reader)
{
    size_t room = reader->room ? 2 * reader->room : 8;
    struct apapi_event *events = realloc(reader->events, room * sizeof *events);
    int *fds;

    if (!events) {
        return -1;
    }
    reader->events = events;
    fds = realloc(reader->fds, room * sizeof *fds);
    if (!fds) {
        return -1;
    }
    reader->fds = fds;
    reader->room = room;
    return 0;
}

int sysfs_add(struct sysfs_reader *reader, int fd, const struct apapi_event *event)
{
    if (reader->base.count == reader->room && grow(reader)) {
        return -1;
    }
    reader->events[reader->base.count] = *event;
    reader->fds[reader->base.count] = fd;
    reader->base.count++;
    reader->base.events = reader->events;
    return 0;
}

static int sysfs_probe(const char *component, struct apapi_error *err)
{
    return find_family(component)
               ? 0
               : apapi_fail(err, ENOENT, "sysfs has no component '%s'", component);
}

static void sysfs_list(apapi_component_f visit, void *context)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        visit(families[i].component, context);
    }
}

static void sysfs_close(struct apapi_reader *base)
{
    struct sysfs_reader *reader = (struct sysfs_reader *)base;
    int saved = errno;

    for (size_t i = 0; reader && i < base->count; i++) {
        close(reader->fds[i]);
    }
    if (reader) {
        free(reader->fds);
        free(reader->events);
        free(reader);
    }
    errno = saved;
}

static struct apapi_reader *sysfs_open(const char *component, struct apapi_error *err)
{
    const struct family *family = find_family(component);
    struct sysfs_reader *reader;

    if (!family) {
        sysfs_probe(component, err);
        return NULL;
    }
    reader = calloc(1, sizeof *reader);
    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->base.source = &apapi_source_sysfs;
    if (family->discover(reader, err)) {
        sysfs_close(&reader->base);
        return NULL;
    }
    return &reader->base;
}

static void sysfs_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    const struct sysfs_reader *reader = (const struct sysfs_reader *)base;

    for (size_t i = 0; i < base->count; i++) {
        readings[i].error = read_u64(reader->fds[i], &readings[i].raw);
    }
}

const struct apapi_source apapi_source_sysfs = {
    .name = "sysfs",
    .probe = sysfs_probe,
    .list = sysfs_list,
    .open = sysfs_open,
    .read = sysfs_read,
    .close = sysfs_close,
};
