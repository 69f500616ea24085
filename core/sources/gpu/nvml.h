/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_NVML_H
#define APAPI_SOURCES_NVML_H
#include "apapi/error.h"

/** Check for an NVIDIA driver before asking it. 0; -1 with errno ENODEV, ENOSYS. */
int nvml_available(struct apapi_error *err);

#endif
