/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_REPLACE_H
#define APAPI_BASE_REPLACE_H
#include <stddef.h>
#include <sys/types.h>

#include "apapi/error.h"

/**
 * Put a file in the place of `path`, or of nothing; readers see the one or the other, never a part,
 * nor does a power cut leave one.
 * What is no regular file, a link also, is left alone.
 * @return 0; -1 with errno of the call that failed, EPERM: no regular file. Nothing is left behind.
 */
int replace_file(const char *path, mode_t mode, const char *text, size_t size,
                 struct apapi_error *err);

#endif
