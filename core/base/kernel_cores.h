/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_KERNEL_CORES_H
#define APAPI_BASE_KERNEL_CORES_H
#include <stdint.h>

/** @return how many cores of this machine are online, each with all its threads; 0: not known. */
uint32_t kernel_cores(void);

#endif
