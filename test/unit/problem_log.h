/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_PROBLEM_LOG_H
#define UNIT_PROBLEM_LOG_H
#include <stdio.h>
#include <string.h>

#include "apapi/events.h"

/** The reports of a parser: counts, and all texts one after the other. */
struct problem_log {
    size_t errors;
    size_t warnings;
    size_t rests; /* "... and N more" */
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

/** The name of a file of the source tree, by its path from the root, in which tests run. */
static inline const char *source_file(const char *path)
{
    static char name[1024];
    const char *here = __FILE__;

    if (*here != '/') { /* as ccache may write it */
        return path;
    }
    snprintf(name, sizeof name, "%.*s../../%s", (int)(strrchr(here, '/') + 1 - here), here, path);
    return name;
}

static inline void problem_log_destroy(struct apapi_eventops **ops)
{
    apapi_eventops_destroy(*ops);
}

/* Of the end of the block. */
#define DESTROYED __attribute__((cleanup(problem_log_destroy)))

#endif
