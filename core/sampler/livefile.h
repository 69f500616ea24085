/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_LIVEFILE_H
#define SAMPLER_LIVEFILE_H
#include <limits.h>

#include "apapi/live.h"
#include "sampler/step.h"

/*
 * The file of a live page, <live_dir>/<node>/<uid>/<job>.<step>. It belongs to root, because an
 * owner could truncate it under the writer. A write lock shows that its writer lives; the lock ends
 * with the process. The holder of the lock may remove the file.
 */

struct livefile {
    struct apapi_live_page *page; /* NULL: none */
    int folder, file;             /* -1: not open */
    char path[PATH_MAX];          /* "": no name (any more) */
};

#define LIVEFILE_NONE ((struct livefile){.folder = -1, .file = -1})

/**
 * Create a page without a name, with all its memory, set its owner, and remove pages of dead
 * writers. Missing folders are created: everyone can enter, but no one can list the node's folder,
 * and only the user can enter the user's folder. An own folder of mode 0700 is treated as new.
 * @return 0; -1 with errno of the call that failed, EPERM (others could change what is in the
 * folder), EMEDIUMTYPE (not a memory file system), ENOSPC (its last tenth, or 64 MiB, is kept for
 * others), EINVAL (the node's name is not valid).
 */
int livefile_create(struct livefile *live, const struct step *step, struct apapi_error *err);

/** Write the user's name into the page, if there is one. It may be published by then. */
void livefile_name_user(struct livefile *live, const char *user);

/**
 * Lock the page, let the step's user read it, and give it its name.
 * @return 0; 1: only root can read it, `err` says why; -1 with errno of the call that failed,
 * EEXIST (another process writes a page of this name), EINVAL (the step's name is not valid).
 */
int livefile_publish(struct livefile *live, const struct step *step, struct apapi_error *err);

/** Remove the page's name. Only processes that have the page open see later changes. */
void livefile_withdraw(struct livefile *live);

/** Withdraw and release the page. */
void livefile_close(struct livefile *live);

#endif
