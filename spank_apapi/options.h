/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_OPTIONS_H
#define SPANK_APAPI_OPTIONS_H
#include <slurm/spank.h>

#include "choice.h"

/**
 * Register --apapi and its kin, and let Slurm take their environment variables for them. Called in
 * slurm_spank_init of srun, sbatch, salloc and slurmstepd.
 * @param config  borrowed until the plugin is unloaded
 */
void spank_apapi_options_register(spank_t spank, const struct config *config);

/** The options have been read: take back from the environment what was put there. Not remote. */
void spank_apapi_options_finish(void);

/**
 * In a batch step: Slurm forgets the options of sbatch --export=NONE there, but not in the
 * environment for the script's sruns.
 */
void spank_apapi_options_recover(spank_t spank);

/** @return what was chosen. Static storage. */
struct spank_apapi_choice *spank_apapi_options_choice(void);

#endif
