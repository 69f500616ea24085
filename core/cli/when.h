/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_WHEN_H
#define APAPI_CLI_WHEN_H
#include <stdint.h>

#include "apapi/error.h"

#define WHEN_FORMS                                                                                 \
    "as 2026-11-21[T11:20[:30]][Z], 11/21, 11:20, today, yesterday, now-1hour, 90m or 7d"

/**
 * Parse a point in time: all forms of sacct(1); a day or a time, local unless it ends with "Z"; how
 * long ago it was, in s, m, h, d or w.
 * @param now_ns   the current time [ns since 1970]
 * @param unix_ns  result, set on success only
 * @return 0; -1 with errno EINVAL.
 */
int when_parse(const char *text, int64_t now_ns, int64_t *unix_ns, struct apapi_error *err);

#endif
