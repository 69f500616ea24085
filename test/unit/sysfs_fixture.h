/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_SYSFS_FIXTURE_H
#define UNIT_SYSFS_FIXTURE_H
/* Files of a simulated kernel, and what is read from them. */
#include "fake/powercap_tree.h"
#include "sources/sources.h"
#include "unit/unit.h"

#define READINGS_MAX 32 /* of a reader */

static struct powercap_tree tree;
static struct apapi_reader *reader; /* latest reader opened */
static struct apapi_reading readings[READINGS_MAX];

static inline void make_tree(void)
{
    powercap_tree_create(&tree);
}

static inline void close_sysfs(void)
{
    if (reader) {
        apapi_source_sysfs.close(reader);
    }
    reader = NULL;
}

static inline void remove_tree(void)
{
    close_sysfs();
    powercap_tree_destroy(&tree);
}

/* For the next row of a table. */
static inline void renew_tree(void)
{
    remove_tree();
    make_tree();
}

#define WITH_TREE(name) TEST_WITH(name, make_tree, remove_tree)

static inline void open_sysfs(const char *component)
{
    close_sysfs();
    reader = apapi_source_sysfs.open(component, &why);
    fail_if(!reader, "%s", why.text);
}

static inline void read_sysfs(void)
{
    assert_true(reader->count <= READINGS_MAX);
    apapi_source_sysfs.read(reader, readings);
}

/* All events with a reading, one a line: "NAME DOMAIN KIND VALUE: DESCRIPTION". */
static inline void assert_listed(const char *wanted)
{
    char listed[4096] = "", text[256];
    size_t length = 0;

    read_sysfs();
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];

        assert_int_equal(readings[i].error, 0);
        apapi_source_sysfs.describe(reader, i, text, sizeof text);
        length += (size_t)snprintf(listed + length, sizeof listed - length, "%s %s %s %llu: %s\n",
                                   event->name, apapi_domain_name(event->domain),
                                   apapi_kind_name(event->kind),
                                   (unsigned long long)readings[i].raw, text);
        assert_true(length < sizeof listed);
    }
    assert_string_equal(listed, wanted);
}

#endif
