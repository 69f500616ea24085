/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_WRITER_H
#define SAMPLER_WRITER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"
#include "sampler/user.h"

/**
 * A process that has become the user, holds one socket only, and writes one file. So root opens no
 * file that a user names, and only this process waits for a file system that hangs.
 */
struct writer {
    int fd; /* data to write; never blocks; -1: no writer */
    pid_t pid;
};

#define WRITER_NONE ((struct writer){.fd = -1, .pid = -1})

/**
 * Create the process. The calling process must have no other threads.
 * @return 0; -1 with errno.
 */
int writer_start(struct writer *writer, const struct user *user, struct apapi_error *err);

/** Set the file; it is emptied or created. @param path  absolute. @return 0; -1 with errno. */
int writer_open(const struct writer *writer, const char *path, struct apapi_error *err);

/** Write a whole text. @return 0; -1 with errno ETIMEDOUT, EPIPE, ... */
int writer_put(const struct writer *writer, const char *text, size_t size, uint64_t deadline_ns);

/**
 * End the file.
 * @return 0 if everything was written; -1 with errno and the reason in `err`: that of the process,
 * which names the file, or ETIMEDOUT. The writer is WRITER_NONE afterwards.
 */
int writer_finish(struct writer *writer, uint64_t deadline_ns, struct apapi_error *err);

/** Abandon it without a message. */
void writer_abandon(struct writer *writer);

#endif
