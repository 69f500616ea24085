/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCT_GATHER_SETTINGS_H
#define ACCT_GATHER_SETTINGS_H
#include <stdbool.h>

#include "keeper.h"

/** The process of Slurm that has loaded this plugin. */
enum role { ROLE_OTHER, ROLE_SLURMD, ROLE_STEP };

enum role settings_role(void);

struct settings {
    struct keeper_settings keeper;
    char live_dir[512]; /* "": none */
};

/**
 * Read apapi.conf, and find the name that this node has in Slurm. Problems go to slurmd's log.
 * @param role  of this process
 */
void settings_read(struct settings *settings, enum role role);

#endif
