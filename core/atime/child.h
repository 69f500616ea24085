/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_CHILD_H
#define ATIME_CHILD_H
#include <stdint.h>
#include <sys/resource.h>

#include "apapi/error.h"
#include "atime/signals.h"

#define CHILD_NOT_EXECUTABLE 126
#define CHILD_NOT_FOUND 127

/** How a program ended. */
struct child_end {
    int status;          /* as from waitpid() */
    uint64_t elapsed_ns; /* from its start to its end [ns] */
    struct rusage usage; /* of it and all its descendants that it waited for */
};

/**
 * Run a program and wait for its end. It has this process' descriptors and environment, and its
 * signal mask and dispositions as they were before signals_catch(). Signals that are meant for this
 * process are passed on to it instead; they are held back before and after.
 * @param argv  as for execvp(), NULL-terminated, argv[0] searched in PATH
 * @return 0; -1 with errno, for child_start_failure().
 */
int child_run(char *const argv[], const struct signals *signals, struct child_end *end,
              struct apapi_error *err);

/** @return what a shell would return for a program that could not be started with this errno. */
int child_start_failure(int error);

/** @return the program's exit status; 128 + signal if it was killed. */
int child_exit_code(int status);

/** @return the time of `usage` as user, or as system [s]. */
double child_user_s(const struct child_end *end);
double child_system_s(const struct child_end *end);

/** @return the most memory that the program, or one of its descendants, had at once [bytes]. */
uint64_t child_peak_bytes(const struct child_end *end);

#endif
