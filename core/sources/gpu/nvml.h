/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_NVML_H
#define APAPI_SOURCES_NVML_H
#include "apapi/error.h"

/** Is there an NVIDIA driver, so that it makes sense to ask it? 0; -1 with errno ENODEV, ENOSYS. */
int nvml_available(struct apapi_error *err);

#endif
