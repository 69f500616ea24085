/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_PROBLEM_LOG_H
#define UNIT_PROBLEM_LOG_H
#include <stdio.h>
#include <string.h>

#include "apapi/events.h"

/** Reports of a parser: how many there were, and all of their texts in a row. */
struct problem_log {
    size_t errors;
    size_t warnings;
    size_t rests; /* reports of the form "... and N more" */
    size_t line;  /* of the first error */
    size_t column;
    char text[65536];
};

static inline void log_problem(const struct apapi_problem *problem, void *context)
{
    struct problem_log *log = context;
    size_t used = strlen(log->text);

    if (problem->line == 0) {
        log->rests++;
    } else if (problem->warning) {
        log->warnings++;
    } else if (log->errors++ == 0) {
        log->line = problem->line;
        log->column = problem->column;
    }
    snprintf(log->text + used, sizeof log->text - used, "%s\n", problem->text);
}

/** @return the name of a file of the source tree, from its path below the root, where tests run. */
static inline const char *source_file(const char *path)
{
    static char name[1024];
    const char *here = __FILE__;

    if (*here != '/') { /* ccache may make it relative */
        return path;
    }
    snprintf(name, sizeof name, "%.*s../../%s", (int)(strrchr(here, '/') + 1 - here), here, path);
    return name;
}

static inline void problem_log_destroy(struct apapi_eventops **ops)
{
    apapi_eventops_destroy(*ops);
}

/* An object with this attribute is destroyed at the end of its block. */
#define DESTROYED __attribute__((cleanup(problem_log_destroy)))

#endif
