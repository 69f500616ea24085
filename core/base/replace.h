/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_REPLACE_H
#define APAPI_BASE_REPLACE_H
#include <stddef.h>
#include <sys/types.h>

#include "apapi/error.h"

/**
 * Replace or create the file `path`. Readers see the old or the new file, never a part, and a power
 * failure leaves no partial file. Only regular files are replaced, not links.
 * @return 0; -1 with errno of the call that failed, EPERM: not a regular file. Nothing is left
 * behind.
 */
int replace_file(const char *path, mode_t mode, const char *text, size_t size,
                 struct apapi_error *err);

#endif
