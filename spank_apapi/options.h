/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_OPTIONS_H
#define SPANK_APAPI_OPTIONS_H
#include <slurm/spank.h>

#include "choice.h"

/**
 * Register --apapi and the related options, and let Slurm read their environment variables. Called
 * in slurm_spank_init of srun, sbatch, salloc and slurmstepd.
 * @param config  borrowed until the plugin is unloaded
 */
void spank_apapi_options_register(spank_t spank, const struct config *config);

/** After the options were read: restore the environment. Not remote. */
void spank_apapi_options_finish(void);

/**
 * In a batch step with sbatch --export=NONE, Slurm loses the options, but not in the environment
 * for the script's sruns: read them from there.
 */
void spank_apapi_options_recover(spank_t spank);

/** @return the options chosen. Static storage. */
struct spank_apapi_choice *spank_apapi_options_choice(void);

#endif
