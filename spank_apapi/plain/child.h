/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHILD_H
#define SPANK_APAPI_CHILD_H
#include <stdbool.h>

#include "apapi/error.h"
#include "channel/channel.h"

/*
 * Helper processes. A helper has no Slurm process as parent (the process that starts it ends at
 * once), has a session of its own, holds only the channel and what struct spank_apapi_program adds,
 * and gets none of the user's environment. So Slurm does not reap it, kill it or wait for it.
 */
struct spank_apapi_child {
    int channel; /* socket to the helper, close-on-exec; -1: none */
    int pidfd;   /* of the helper, close-on-exec; -1: none, for example on an old kernel */
};

#define SPANK_APAPI_CHILD_NONE ((struct spank_apapi_child){.channel = -1, .pidfd = -1})

/** The program to start. */
struct spank_apapi_program {
    const char *dir;  /* absolute path of the program's folder */
    const char *name; /* within that folder */
    int listener;     /* becomes APAPI_LISTEN_FD; -1: none */
    bool speaks;      /* keeps standard error */
};

/**
 * Start a helper. Returns after its exec().
 * @param child  result, set on success only; close it with spank_apapi_child_close()
 * @return 0; -1 with errno of the call that failed, exec() included, or ENAMETOOLONG.
 * Thread-safety: one at a time.
 */
int spank_apapi_child_start(struct spank_apapi_child *child,
                            const struct spank_apapi_program *program, struct apapi_error *err);

/**
 * Move a new descriptor above the standard ones, which the host may have closed: otherwise others
 * would print into it.
 * @return the descriptor, close-on-exec; -1 with errno, `fd` is closed then. `fd` may be -1.
 */
int spank_apapi_child_keep_away(int fd);

/**
 * Read why a helper failed, as one line.
 * @param message  APAPI_WORD_FAILED
 * @return -1 with errno EIO.
 */
int spank_apapi_child_reason(const struct message *message, struct apapi_error *err);

/** Kill the helper, if its pidfd is known. */
void spank_apapi_child_kill(const struct spank_apapi_child *child);

/** Close the descriptors. The helper sees the end of the channel. */
void spank_apapi_child_close(struct spank_apapi_child *child);

#endif
