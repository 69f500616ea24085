/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SYSFS_H
#define SOURCES_SYSFS_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/source.h"

/** Files that stay open, one for each event. */
struct sysfs_reader {
    struct apapi_reader base;
    struct apapi_event *events;
    int *fds;
    size_t room;
};

/* Find the meters of a component and add them. 0; -1 with errno as apapi_source.open. */
int sysfs_discover_rapl(struct sysfs_reader *reader, struct apapi_error *err);
int sysfs_discover_powercap(struct sysfs_reader *reader, struct apapi_error *err);

/** Add an event read from `fd`, which the reader then owns. 0; -1 with errno ENOMEM. */
int sysfs_add(struct sysfs_reader *reader, int fd, const struct apapi_event *event);

/** `absolute` below the root of the tests, APAPI_SYSROOT, if that is set. */
void sysfs_path(char *path, size_t size, const char *absolute);

/**
 * Digits and at least one newline, nothing else.
 * @return 0, EBADMSG (not a whole number) or ERANGE (over 64 bits).
 */
int sysfs_parse_u64(const char *text, size_t size, uint64_t *value);

/** Read one number from a file in folder `dir`. 0; -1 with errno. */
int sysfs_read_u64_at(int dir, const char *name, uint64_t *value);

/** Read the first line of a file in folder `dir`, cut to `size` bytes. 0; -1 with errno. */
int sysfs_read_word_at(int dir, const char *name, char *word, size_t size);

/** @return the domain of a powercap zone by its name; APAPI_DOMAIN_NONE if it is none known. */
enum apapi_domain sysfs_zone_domain(const char *zone_name);

#endif
