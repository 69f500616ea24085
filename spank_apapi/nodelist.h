/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_NODELIST_H
#define SPANK_APAPI_NODELIST_H
#include <stddef.h>
#include <stdint.h>

/**
 * Number of nodes of srun's step. Slurm counts only the first component of a heterogeneous job; the
 * environment has all.
 * @param counted  Slurm's number
 */
uint32_t nodelist_count(uint32_t counted);

/**
 * Names of the nodes of srun's step, as far as srun's environment tells: it has the nodes of the
 * allocation, which are those of the step if their number is the same.
 * @param nodes  of the step
 * @return "n[1-4,7]"; NULL if not known (always in a heterogeneous job)
 */
const char *spank_apapi_nodelist(uint32_t nodes);

/** Write the name of the first node of srun's allocation; "" if not known. */
void nodelist_first(char *name, size_t size);

#endif
