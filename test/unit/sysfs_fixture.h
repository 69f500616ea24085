/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_SYSFS_FIXTURE_H
#define UNIT_SYSFS_FIXTURE_H
/* Files of a kernel that is not there, and what is read of them. */
#include "fake/powercap_tree.h"
#include "sources/sources.h"
#include "unit/unit.h"

static struct powercap_tree tree;

static inline int make_tree(void **state)
{
    (void)state;
    powercap_tree_create(&tree);
    return 0;
}

static inline int remove_tree(void **state)
{
    (void)state;
    powercap_tree_destroy(&tree);
    return 0;
}

static inline struct apapi_reader *open_sysfs(const char *component)
{
    struct apapi_error err = {""};
    struct apapi_reader *reader = apapi_source_sysfs.open(component, &err);

    if (!reader) {
        fail_msg("%s", err.text);
    }
    return reader;
}

#endif
