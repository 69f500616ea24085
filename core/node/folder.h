/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_FOLDER_H
#define NODE_FOLDER_H
#include <stddef.h>

#include "apapi/error.h"

/* What the node sampler has in <live_dir>/<node>, besides the folders of the users. */
#define NODE_PAGE "node"     /* a live page: all that the node drew since it was started */
#define NODE_SHARES "shares" /* what each step was given of it */
#define NODE_STATE ".state"  /* what the next node sampler goes on from */

/**
 * Open the folder of a node. Missing folders are created, as those of live pages are.
 * @return descriptor; -1 with errno of the call that failed, EPERM: others could change what is in
 * it, EMEDIUMTYPE: not on a memory file system, EINVAL: `node` cannot be a name.
 */
int node_folder_open(const char *live_dir, const char *node, struct apapi_error *err);

/**
 * Open, or make, a file of root's in it that is mapped and has at least `size` bytes of memory.
 * @param file  result: its descriptor
 * @return its memory; NULL with errno
 */
void *node_folder_map(int folder, const char *name, size_t size, int *file,
                      struct apapi_error *err);

#endif
