/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENTS_PATTERN_H
#define EVENTS_PATTERN_H
#include <stdbool.h>

/** @return whether `name` is the same text as `pattern`, or fits its `*`, `?`, `[a-z]`, `[!a]`. */
bool apapi_pattern_matches(const char *pattern, const char *name);

#endif
