/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_KNOWN_H
#define SAMPLER_KNOWN_H
#include "apapi/error.h"

/**
 * Take out of a list what nothing here knows: what apapi.conf says wrongly no user can mend.
 * @param list  "rapl:nvml", changed
 * @return 0; -1 with errno ENOENT if nothing is left, `err` names the last one.
 */
int known_components(char *list, struct apapi_error *err);

#endif
