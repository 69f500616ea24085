/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_GPU_PAPI_H
#define SOURCES_GPU_PAPI_H
#include "apapi/source.h"

/*
 * PAPI's components for GPUs, where they can do what is wanted: PAPI measures every GPU or none,
 * and only some versions have the energy counter. Both are called "papi".
 */

/** PAPI's component if it counts energy. */
extern const struct apapi_source apapi_source_papi_gpu_counter;

/** PAPI's component, with or without a counter. */
extern const struct apapi_source apapi_source_papi_gpu;

#endif
