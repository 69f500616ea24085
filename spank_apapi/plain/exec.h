/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_EXEC_H
#define SPANK_APAPI_EXEC_H
#include "child.h"

/**
 * Execute a helper without a Slurm process as parent. Returns after exec().
 * @param channel  becomes APAPI_CHANNEL_FD
 * @param pidfd    result, close-on-exec; -1 if not supported by the kernel
 * @return 0; -1 with errno of the call that failed, ENAMETOOLONG. Thread-safety: one at a time.
 */
int spank_apapi_exec(const struct spank_apapi_program *program, int channel, int *pidfd);

#endif
