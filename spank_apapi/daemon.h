/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_DAEMON_H
#define SPANK_APAPI_DAEMON_H
#include <slurm/spank.h>

/** slurmd, root, once: log the problems of the configuration. */
int spank_apapi_daemon_init(spank_t spank, int count, char *const words[]);

#endif
