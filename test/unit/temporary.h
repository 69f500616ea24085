/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_TEMPORARY_H
#define UNIT_TEMPORARY_H
#include <stdio.h>
#include <stdlib.h>

/** Make an empty folder and set `path` to it. 0 or -1, as a setup function returns. */
static inline int temporary_make(char path[64])
{
    snprintf(path, 64, "/tmp/apapi-test-XXXXXX");
    return mkdtemp(path) ? 0 : -1;
}

/** Remove a folder with all that is in it. 0 or -1, as a teardown function returns. */
static inline int temporary_remove(const char *path)
{
    char command[256];

    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -r '%s'", path, path);
    return system(command) == 0 ? 0 : -1;
}

#endif
