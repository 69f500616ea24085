/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_NEEDS_H
#define APAPI_SOURCES_PAPI_NEEDS_H
#include "apapi/error.h"

/**
 * Is there what a component of PAPI needs? Asked before PAPI, where its own look does harm.
 * @return 0; -1 with errno ENODEV, EIO. `err` may be NULL.
 */
int papi_needs_check(const char *component, struct apapi_error *err);

#endif
