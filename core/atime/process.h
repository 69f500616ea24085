/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_PROCESS_H
#define ATIME_PROCESS_H
#include <stddef.h>
#include <sys/types.h>

#include "apapi/error.h"
#include "base/child.h"

/** A running process of any user. */
struct process {
    pid_t pid;
    int fd; /* pidfd; -1: not supported by the kernel, the process is polled */
};

/** @return 0; -1 with errno ESRCH (no such process), EMFILE, ENOMEM. */
int process_open(pid_t pid, struct process *process, struct apapi_error *err);

/** Wait until it ends or a signal arrives. */
void process_wait(const struct process *process, const struct signals *signals);

/** The name of its program; "" if not known. */
void process_name(pid_t pid, char *name, size_t size);

/** Close what process_open() opened. */
void process_close(const struct process *process);

#endif
