/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef THRESHOLD_THRESHOLD_LIST_H
#define THRESHOLD_THRESHOLD_LIST_H
#include <stddef.h>

#include "apapi/error.h"
#include "threshold/types.h"

/** The thresholds of a session. All members 0: none. */
struct threshold_list {
    size_t count;
    struct threshold thresholds[THRESHOLDS_MAX];
};

/**
 * Parse one threshold and append it.
 * @return 0; -1 with errno as threshold_parse(), E2BIG (too many), EEXIST (the same meter and
 *         condition are in the list). `list` is unchanged then.
 */
int threshold_list_add(struct threshold_list *list, const char *text, struct apapi_error *err);

/** Append each line of a text. Empty lines are skipped. @return 0; -1 as threshold_list_add(). */
int threshold_list_parse(struct threshold_list *list, const char *lines, struct apapi_error *err);

#endif
