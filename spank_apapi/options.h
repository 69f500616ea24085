/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_OPTIONS_H
#define SPANK_APAPI_OPTIONS_H
#include <slurm/spank.h>

#include "arguments.h"

/**
 * Register --apapi and --apapi-interval. Called in slurm_spank_init of srun, sbatch, salloc and
 * slurmstepd.
 * @param arguments  borrowed until the plugin is unloaded
 */
void spank_apapi_options_register(spank_t spank, const struct spank_apapi_arguments *arguments);

/** @return the components to measure, NULL where nothing is to be measured. */
const char *spank_apapi_options_components(void);

/** @return the sampling intervals, "" where nobody has said any. */
const char *spank_apapi_options_interval(void);

#endif
