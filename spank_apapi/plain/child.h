/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CHILD_H
#define SPANK_APAPI_CHILD_H
#include <stdint.h>

#include "apapi/error.h"
#include "channel/message.h"

/*
 * Helper processes. A helper is nobody's child (the one that starts it ends at once) and leads a
 * session of its own, holds no descriptor of its maker but the channel, and sees nothing of the
 * user's environment: so Slurm neither reaps it, kills it nor waits for it.
 */
struct spank_apapi_child {
    int channel; /* socket to the helper, close-on-exec; -1: none */
    int pidfd;   /* the helper, close-on-exec; -1: none, for example on an old kernel */
};

#define SPANK_APAPI_CHILD_NONE ((struct spank_apapi_child){.channel = -1, .pidfd = -1})

/** What to start. */
struct spank_apapi_program {
    const char *dir;  /* absolute path of its folder */
    const char *name; /* in that folder */
    int listener;     /* becomes APAPI_LISTEN_FD; -1: none */
};

/**
 * Start a helper; returns when it has been executed.
 * @param child  result, set on success only; to be closed by spank_apapi_child_close()
 * @return 0; -1 with errno of the call that failed, exec() included.
 * Thread-safety: one at a time.
 */
int spank_apapi_child_start(struct spank_apapi_child *child,
                            const struct spank_apapi_program *program, struct apapi_error *err);

/**
 * Give a new descriptor a number above those of the standard ones, which its host may lack: nobody
 * shall print into it.
 * @return the descriptor, close-on-exec; -1 with errno, `fd` is closed then. -1 is allowed as `fd`.
 */
int spank_apapi_child_keep_away(int fd);

/**
 * Take over why a helper has failed, as one line.
 * @param message  APAPI_WORD_FAILED
 * @return -1 with errno EIO.
 */
int spank_apapi_child_reason(const struct message *message, struct apapi_error *err);

/** Kill the helper if it can be done without hitting anybody else. */
void spank_apapi_child_kill(const struct spank_apapi_child *child);

/** Close the descriptors. The helper sees the end of its channel. */
void spank_apapi_child_close(struct spank_apapi_child *child);

#endif
