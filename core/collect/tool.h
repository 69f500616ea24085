/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_COLLECT_TOOL_H
#define APAPI_COLLECT_TOOL_H
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** How to run Slurm's commands as the user. */
struct tool_place {
    char folder[PATH_MAX];     /* of the commands; "": PATH */
    char slurm_conf[PATH_MAX]; /* "": the default */
};

enum tool_state {
    TOOL_IDLE, /* none was started, or its end was reported */
    TOOL_RUNNING,
    TOOL_DONE,
    TOOL_FAILED /* it could not be started, or its exit status is not 0 */
};

/** A command in the background. */
struct tool {
    pid_t pid;  /* 0: none */
    int output; /* reads what it writes */
    uint64_t deadline_ns;
    size_t length;
    char text[32768]; /* what it has written, with a NUL */
};

/**
 * Start a command.
 * @param words  the name and the arguments, up to a NULL
 * @return 0; -1: tool_look() says TOOL_FAILED once, and `text` says why.
 */
int tool_start(struct tool *tool, const struct tool_place *place, const char *const words[]);

/** Read what it has written. Never blocks. TOOL_DONE and TOOL_FAILED are returned once. */
enum tool_state tool_look(struct tool *tool);

#endif
