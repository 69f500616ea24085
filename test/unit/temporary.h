/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_TEMPORARY_H
#define UNIT_TEMPORARY_H
#include <stdio.h>
#include <stdlib.h>

/** The folder of the test that runs. */
static char base[64];

/** Make it, empty, below another. 0 or -1, as a setup function returns. */
static inline int make_base_below(const char *parent)
{
    snprintf(base, sizeof base, "%s/apapi-test-XXXXXX", parent);
    return mkdtemp(base) ? 0 : -1;
}

static inline int make_base(void **state)
{
    (void)state;
    return make_base_below("/tmp");
}

/** Remove a folder with all that is in it. 0 or -1. */
static inline int remove_folder(const char *path)
{
    char command[256];

    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -r '%s'", path, path);
    return system(command) == 0 ? 0 : -1;
}

static inline int remove_base(void **state)
{
    (void)state;
    return remove_folder(base);
}

/** A path in it, which lives until the fourth call from now. */
static inline const char *in_base(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

#endif
