/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_LIVEFILE_H
#define SAMPLER_LIVEFILE_H
#include <limits.h>

#include "apapi/live.h"
#include "sampler/step.h"

/*
 * The file of a live page, <live_dir>/<node>/<uid>/<job>.<step>. It is root's: its owner could take
 * the memory away from under whoever writes to it. A lock for writing says that its writer lives;
 * it ends with the process. Who has the lock may remove the file.
 */

struct livefile {
    struct apapi_live_page *page; /* NULL: none */
    int folder, file;             /* -1: not open */
    char path[PATH_MAX];          /* "": it has no name (any more) */
};

#define LIVEFILE_NONE ((struct livefile){.folder = -1, .file = -1})

/**
 * Make the page, with all of its memory, say whose it is, and remove what dead writers have left.
 * Nobody sees it yet. Folders that are not there are made: for all to enter, but the node's for
 * nobody to list, and in there the user's for him alone. One of mode 0700 that is ours is taken for
 * new.
 * @return 0; -1 with errno of the call that failed, EPERM (others could change what is in the
 *         folder), EMEDIUMTYPE (no memory file system), ENOSPC (too
 *         little of it is free: others need the last tenth, or 64 MiB), EINVAL (a name).
 */
int livefile_create(struct livefile *live, const struct step *step, struct apapi_error *err);

/**
 * Lock it, let the step's user read it and give it its name.
 * @return 0; 1: but only its owner can read it, and `err` says why; -1 with errno of the call that
 *         failed, EEXIST (somebody writes a page of this name).
 */
int livefile_publish(struct livefile *live, const struct step *step, struct apapi_error *err);

/** Take its name away. What is written to the page from now on is for those who have it open. */
void livefile_withdraw(struct livefile *live);

/** Withdraw and let go of the page. */
void livefile_close(struct livefile *live);

#endif
