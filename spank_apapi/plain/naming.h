/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_NAMING_H
#define SPANK_APAPI_NAMING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"

/**
 * Looks into the environment of srun, or of the step.
 * @return whether the variable is there, and there is room for its value
 */
typedef bool (*spank_apapi_look_f)(void *context, const char *variable, char *value, size_t size);

/** Look into that of this process. */
bool spank_apapi_look_here(void *unused, const char *variable, char *value, size_t size);

/** What a file name may be made of. */
struct spank_apapi_naming {
    uint32_t job;
    const char *step; /* "0", "batch" */
    const char *node;
    uint32_t node_index;
    const char *user; /* "": not known, and his number stands for it; NULL: looked up by it */
    uid_t uid;
    spank_apapi_look_f look;
    void *context; /* for look */
};

/**
 * Make a file name of a pattern of config/filename.h.
 * @return 0; -1 with errno EINVAL, ENAMETOOLONG.
 */
int spank_apapi_name(const char *pattern, const struct spank_apapi_naming *naming, char *name,
                     size_t size, struct apapi_error *err);

/**
 * The pattern of a trace, so that no two processes write the same file: ".%N" is appended where a
 * step of several nodes has neither %N nor %n, ".batch" where a batch step has neither %s nor %J,
 * as its script's sruns have the same option.
 * @return 0; -1 with errno ENAMETOOLONG.
 */
int spank_apapi_name_trace(const char *pattern, uint32_t nodes, bool batch, char *unique,
                           size_t size);

#endif
