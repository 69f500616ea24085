/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_OPTIONS_H
#define SPANK_APAPI_OPTIONS_H
#include <slurm/spank.h>

#include "choice.h"

/**
 * Load the site's configuration, register --apapi and the related options, and let Slurm read their
 * environment variables. Called in slurm_spank_init of srun, sbatch, salloc and slurmstepd. In
 * slurmstepd, problems of the configuration go to the log at once.
 */
void spank_apapi_options_init(spank_t spank, int count, char *const words[]);

/** After the options were read: restore the environment. Not remote. */
void spank_apapi_options_finish(void);

/** Print the problems of the configuration if the user gave -v. Once srun has read it. */
void spank_apapi_options_report(void);

/**
 * In a batch step with sbatch --export=NONE, Slurm loses the options, but not in the environment
 * for the script's sruns: read them from there.
 */
void spank_apapi_options_recover(spank_t spank);

/** The options chosen so far, and the configuration. */
extern struct spank_apapi_choice spank_apapi_choice;
static struct spank_apapi_choice *const choice = &spank_apapi_choice;

/** slurmd, root, once: log the problems of the configuration. */
int spank_apapi_daemon_init(int count, char *const words[]);

#endif
