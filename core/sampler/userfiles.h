/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_USERFILES_H
#define SAMPLER_USERFILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"
#include "sampler/step.h"
#include "session/trace.h"

#define USER_GROUPS_MAX 1024

/** The rights of a step's user. */
struct user {
    uid_t uid;
    gid_t gid;
    size_t group_count;
    gid_t groups[USER_GROUPS_MAX];
    mode_t umask;
};

/** Read the rights that the plugin has sent. @return 0; -1 with errno EINVAL: some are unknown. */
int user_parse(const struct step *step, struct user *user, struct apapi_error *err);

/** Become the user for good, in a process that is root or the user already. @return 0; -1 with
 * errno. */
int user_become(const struct user *user);

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

/** Set the file, which is emptied or created. @param path  absolute. @return 0; -1 with errno. */
int writer_open(const struct writer *writer, const char *path, struct apapi_error *err);

/** Write a whole text. @return 0; -1 with errno ETIMEDOUT, EPIPE, ... */
int writer_put(const struct writer *writer, const char *text, size_t size, uint64_t deadline_ns);

/**
 * End the file.
 * @return 0 if everything was written; -1 with errno EIO and the reason in `err`, in which the
 * process names the file, or ETIMEDOUT. The writer is WRITER_NONE afterwards.
 */
int writer_finish(struct writer *writer, uint64_t deadline_ns, struct apapi_error *err);

/** Kill the process and close the socket, without a message. */
void writer_abandon(struct writer *writer);

/** The files that a user has named for a step: the report of a batch step, and the trace. */
struct userfiles {
    struct writer report, trace;
    struct trace *tracer;  /* NULL: none */
    char folder[PATH_MAX]; /* of the job; names may be relative to it */
    char trace_path[PATH_MAX];
    struct apapi_error trouble; /* "": none */
};

/** Create the writer processes, before there are any threads. */
void userfiles_prepare(struct userfiles *files, const struct step *step);

/** @return whether there are processes of the user. */
bool userfiles_have_writers(const struct userfiles *files);

/** Start the trace's thread, if there is a trace. */
void userfiles_start_trace(struct userfiles *files);

/** Open the trace's file when the step begins. @param folder  of the job, "" if not known */
void userfiles_begin(struct userfiles *files, const struct step *step, const char *folder);

/** Write the report. @return whether there is a file for it and it was written. */
bool userfiles_report(struct userfiles *files, const struct step *step, const char *text);

/** End the trace while the traced session still exists. */
void userfiles_end_trace(struct userfiles *files);

/** Close everything. */
void userfiles_close(struct userfiles *files);

#endif
