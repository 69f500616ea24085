/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_SYNC_H
#define SYNC_SYNC_H
#include "sync/batch.h"

/** Run. Messages go to standard output and error. 0; -1 with errno. */
int sync_run(const struct sync_options *options, struct sync_outcome *outcome,
             struct apapi_error *err);

#endif
