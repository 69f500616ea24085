/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_WRITER_H
#define SAMPLER_WRITER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"

#define WRITER_GROUPS_MAX 1024

/** Whose right a file is opened and written with. */
struct writer_user {
    uid_t uid;
    gid_t gid;
    size_t group_count;
    gid_t groups[WRITER_GROUPS_MAX];
    mode_t umask;
};

/**
 * A process that has become the user, holds nothing but one socket, and writes one file: nothing
 * that a user names is opened by root, and a file system that hangs is waited for by that process
 * only.
 */
struct writer {
    int fd; /* what is written here comes into the file; never blocks; -1: there is no writer */
    pid_t pid;
};

#define WRITER_NONE ((struct writer){.fd = -1, .pid = -1})

/**
 * Make the process, as long as this one has no other threads.
 * @return 0; -1 with errno.
 */
int writer_start(struct writer *writer, const struct writer_user *user, struct apapi_error *err);

/** Say which file; it is emptied or created. @param path  absolute. @return 0; -1 with errno. */
int writer_open(const struct writer *writer, const char *path, struct apapi_error *err);

/** Write all of a text. @return 0; -1 with errno ETIMEDOUT, EPIPE, ... */
int writer_put(const struct writer *writer, const char *text, size_t size, uint64_t deadline_ns);

/**
 * End the file.
 * @return 0 if all is written; -1 with errno and the reason in `err`: that of the process, which
 *         names the file, or ETIMEDOUT. The writer is WRITER_NONE then.
 */
int writer_finish(struct writer *writer, uint64_t deadline_ns, struct apapi_error *err);

/** Let go of it without a word. */
void writer_abandon(struct writer *writer);

#endif
