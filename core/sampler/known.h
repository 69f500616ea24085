/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_KNOWN_H
#define SAMPLER_KNOWN_H
#include "apapi/error.h"

/**
 * Remove the components that are not known here from a list. A user cannot correct apapi.conf.
 * @param list  "rapl:nvml", is changed
 * @return 0; -1 with errno ENOENT if nothing is left. `err` names the last one then.
 */
int known_components(char *list, struct apapi_error *err);

#endif
