/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_OUTPUT_H
#define ATIME_OUTPUT_H
#include "apapi/error.h"

/**
 * Create or truncate a file that a user named.
 * @return a descriptor above standard error, close-on-exec; -1 with errno of open()
 */
int output_open(const char *path, struct apapi_error *err);

#endif
