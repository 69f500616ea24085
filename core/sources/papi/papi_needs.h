/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_NEEDS_H
#define APAPI_SOURCES_PAPI_NEEDS_H
#include "apapi/error.h"

/**
 * Check for what a component of PAPI needs, before PAPI itself does harm by looking.
 * @return 0; -1 with errno ENODEV, EIO. `err` may be NULL.
 */
int papi_needs_check(const char *component, struct apapi_error *err);

#endif
