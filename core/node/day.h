/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_DAY_H
#define NODE_DAY_H
#include "store/hour.h"

/**
 * Add up the hours that a node's own record has of the day in which `unix_ns` lies.
 * @return 0; -1 with errno ENOENT: it has none, or of hours_read()
 */
int node_day_read(const char *acct_dir, const char *node, int64_t unix_ns, struct hour *day,
                  struct apapi_error *err);

#endif
