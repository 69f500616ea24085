/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_NODELIST_H
#define SPANK_APAPI_NODELIST_H
#include <stddef.h>
#include <stdint.h>

/**
 * How many nodes srun's step has. Slurm counts those of a heterogeneous job's first component only;
 * there srun's environment knows better.
 * @param counted  what Slurm says
 */
uint32_t spank_apapi_nodelist_count(uint32_t counted);

/**
 * The names of the nodes of srun's step, as far as srun's environment tells: it holds the nodes of
 * the allocation, which are those of the step when there are as many.
 * @param nodes  how many the step has
 * @return "n[1-4,7]"; NULL where not known (always in a heterogeneous job)
 */
const char *spank_apapi_nodelist(uint32_t nodes);

/** Write the name of the first node of srun's allocation; "" where not known. */
void spank_apapi_nodelist_first(char *name, size_t size);

#endif
