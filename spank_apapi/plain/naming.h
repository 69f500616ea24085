/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_NAMING_H
#define SPANK_APAPI_NAMING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"

/**
 * Looks up a variable in the environment of srun or of the step.
 * @return whether it exists and its value fits
 */
typedef bool (*spank_apapi_look_f)(void *context, const char *variable, char *value, size_t size);

/** Look it up in the environment of this process. */
bool spank_apapi_look_here(void *unused, const char *variable, char *value, size_t size);

/** Values for the patterns in a file name. */
struct spank_apapi_naming {
    uint32_t job;
    const char *step; /* "0", "batch" */
    const char *node;
    uint32_t node_index;
    const char *user; /* "": not known, the uid is used instead; NULL: look it up when needed */
    uid_t uid;
    spank_apapi_look_f look;
    void *context; /* for look */
};

/**
 * Make a file name from a pattern of config/filename.h.
 * @return 0; -1 with errno EINVAL, ENAMETOOLONG.
 */
int spank_apapi_name(const char *pattern, const struct spank_apapi_naming *naming, char *name,
                     size_t size, struct apapi_error *err);

/**
 * Complete the pattern of a trace, so that no two processes write the same file: append ".%N" for a
 * step of several nodes without %N or %n, and ".batch" for a batch step without %s or %J, as the
 * script's sruns inherit the option.
 * @return 0; -1 with errno ENAMETOOLONG.
 */
int spank_apapi_name_trace(const char *pattern, uint32_t nodes, bool batch, char *unique,
                           size_t size);

#endif
