/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_WRITTEN_H
#define SAMPLER_WRITTEN_H
#include "apapi/record.h"

/**
 * Find out whether an accounting file of a node has a record of a step, by job, step and start.
 * Looks at the day on which the given record ends and at the next day, as a later record may end
 * then.
 * @return 1: it has, and it is on the disk; 0: it has not, or there is no such file; -1 with errno.
 */
int written_find(const char *acct_dir, const char *node, const struct apapi_record *record,
                 struct apapi_error *err);

#endif
