/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_GPU_PAPI_H
#define APAPI_SOURCES_GPU_PAPI_H
#include "apapi/source.h"

/**
 * PAPI's components for GPUs, called "papi" like all of PAPI: they measure every GPU or none, one
 * GPU that is lost fails them all, and only some versions have the energy counter. Where that is
 * missing, the power is integrated.
 */
extern const struct apapi_source apapi_source_papi_gpu;

#endif
