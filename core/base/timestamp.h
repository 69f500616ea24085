/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_TIMESTAMP_H
#define APAPI_BASE_TIMESTAMP_H
#include <stddef.h>
#include <stdint.h>

#define TIMESTAMP_SIZE 40 /* bytes of a timestamp with its NUL */

/** Write as "2026-11-21T11:20:01.123456789Z". */
void timestamp_format(char *text, size_t size, int64_t unix_ns);

/** Parse it, with 0 to 9 decimals. 0; -1 with EINVAL (not a valid time), ERANGE (over 64 bits). */
int timestamp_parse(const char *text, int64_t *unix_ns);

/** The day in UTC as "2026-11-21". */
void timestamp_day(char *text, size_t size, int64_t unix_ns);

#endif
