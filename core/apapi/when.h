/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PROGRAM_WHEN_H
#define APAPI_PROGRAM_WHEN_H
#include <stdint.h>

#include "apapi/error.h"

#define WHEN_FORMS "as 2026-11-21, 2026-11-21T11:20[:30][Z], now, today, yesterday, 90m, 12h or 7d"

/**
 * A point in time as people write it: a day or a time of a day, local unless "Z" ends it; now,
 * today, yesterday; or how long ago it was, in s, m, h, d or w.
 * @param now_ns   what now is [ns since 1970]
 * @param unix_ns  result, set on success only
 * @return 0; -1 with errno EINVAL.
 */
int when_parse(const char *text, int64_t now_ns, int64_t *unix_ns, struct apapi_error *err);

#endif
