/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_ROCM_DRIVER_H
#define APAPI_SOURCES_ROCM_DRIVER_H
#include "sources/gpu/gpu_reader.h"

/* AMD's two libraries. Newer hardware does not support the older one, which the newer one uses. */
extern const struct gpu_driver rocm_smi_driver, amd_smi_driver;

/*
 * AMD does not document how often its energy accumulator is updated. The kernel asks the GPU's
 * firmware at most once a millisecond.
 */
#define ROCM_ENERGY_UPDATE_NS 10000000

/** Convert a number of steps of `step_uj` each to microjoules, as PAPI does. */
uint64_t rocm_microjoules(uint64_t steps, float step_uj);

/**
 * Check for an AMD GPU with its driver. Without one, AMD's libraries print to standard error.
 * @return 0; -1 with errno ENODEV.
 */
int rocm_available(struct apapi_error *err);

#endif
