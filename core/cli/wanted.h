/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_WANTED_H
#define APAPI_CLI_WANTED_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"
#include "apapi/interval.h"

#define WANTED_MAX 128

/** The components that a command's words name, or all that can be named. */
struct wanted {
    bool named;
    size_t count;
    char names[WANTED_MAX][APAPI_COMPONENT_SIZE];
};

/**
 * Parse "rapl" and "rapl:nvml"; without words: all components that can be named here.
 * @return 0; -1 with errno EINVAL, ENOENT (an unknown name: `err` has the nearest).
 */
int wanted_parse(int count, char *const words[], struct wanted *wanted, struct apapi_error *err);

#endif
