/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_EXEC_H
#define SPANK_APAPI_EXEC_H
#include <limits.h>
#include <stddef.h>

/** Everything that the new process needs, made before the fork: after it, nothing may allocate. */
struct spank_apapi_exec {
    int channel;  /* becomes APAPI_CHANNEL_FD */
    int listener; /* becomes APAPI_LISTEN_FD; -1: none */
    int handover; /* open until exec */
    char path[PATH_MAX];
    char name[64];
    char failure[PATH_MAX + 128]; /* the message that is sent where exec fails, without reason */
    size_t failure_length;
    int descriptors; /* fewer than this may be open; used where close_range() is missing */
};

/**
 * Fill in path, name, failure and descriptors.
 * @return 0; -1 with errno ENAMETOOLONG.
 */
int spank_apapi_exec_prepare(struct spank_apapi_exec *exec, const char *dir, const char *name);

/** Become the helper. Called in a forked process with all signals blocked. */
_Noreturn void spank_apapi_exec_run(const struct spank_apapi_exec *exec);

#endif
