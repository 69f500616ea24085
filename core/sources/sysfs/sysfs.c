/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters and gauges that the kernel offers as text files: opened once, pread at each reading. */
#include "sources/sysfs/sysfs_family.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "sources/sources.h"

#define FAMILY(name) &sysfs_##name,
static const struct sysfs_family *const families[] = {SYSFS_FAMILIES(FAMILY)};
#define FAMILY_COUNT COUNT_OF(families)

static const struct sysfs_family *find_family(const char *component)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (strcmp(families[i]->component, component) == 0) {
            return families[i];
        }
    }
    return NULL;
}

static int sysfs_probe(const char *component, struct apapi_error *err)
{
    return find_family(component)
               ? 0
               : apapi_fail(err, ENOENT, "sysfs has no component '%s'", component);
}

static void sysfs_list(apapi_component_f visit, void *context)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        visit(families[i]->component, context);
    }
}

static void sysfs_close(struct apapi_reader *base)
{
    struct sysfs_reader *reader = (struct sysfs_reader *)base;
    int saved = errno;

    for (size_t i = 0; reader && i < base->count; i++) {
        if (reader->meters[i].fd >= 0) {
            close(reader->meters[i].fd);
        }
    }
    if (reader) {
        if (reader->state) {
            reader->family->end(reader);
        }
        free(reader->meters);
        free(reader->events);
        free(reader);
    }
    errno = saved;
}

static struct apapi_reader *sysfs_open(const char *component, struct apapi_error *err)
{
    const struct sysfs_family *family = find_family(component);
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
    if (sysfs_discover(reader, family, err)) {
        sysfs_close(&reader->base);
        return NULL;
    }
    return &reader->base;
}

static void sysfs_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct sysfs_reader *reader = (struct sysfs_reader *)base;

    if (reader->family->read) {
        reader->family->read(reader, readings);
    } else {
        sysfs_read_files(reader, readings);
    }
}

static void sysfs_describe(const struct apapi_reader *base, size_t index, char *text, size_t size)
{
    const struct sysfs_reader *reader = (const struct sysfs_reader *)base;

    snprintf(text, size, "%s", reader->meters[index].text);
}

const struct apapi_source apapi_source_sysfs = {
    .name = "sysfs",
    .common = true,
    .probe = sysfs_probe,
    .list = sysfs_list,
    .open = sysfs_open,
    .read = sysfs_read,
    .describe = sysfs_describe,
    .close = sysfs_close,
};
