/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCT_GATHER_SLURM_CALLS_H
#define ACCT_GATHER_SLURM_CALLS_H
#include <slurm/slurm.h>

/*
 * What Slurm looks up in an energy plugin. Its own header of this is not installed; what that
 * declares with types of its own is `void *` here. slurmd and slurmstepd call from one thread at a
 * time, slurmctld calls init() and fini() and the conf functions. No call takes more than 50 us,
 * but for the first one of a process.
 */

int init(void);
int fini(void);

/** The node's figures are to be renewed. */
int acct_gather_energy_p_update_node_energy(void);

/** @param data  result: an acct_gather_energy_t, time_t or uint16_t, as `type` says */
int acct_gather_energy_p_get_data(enum acct_energy_type type, void *data);
int acct_gather_energy_p_set_data(enum acct_energy_type type, void *data);

/** acct_gather.conf. */
void acct_gather_energy_p_conf_options(void *options, int *count);
void acct_gather_energy_p_conf_set(int context, void *table);
void acct_gather_energy_p_conf_values(void *list);

#endif
