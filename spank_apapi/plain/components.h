/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_COMPONENTS_H
#define SPANK_APAPI_COMPONENTS_H
#include <stdbool.h>
#include <stddef.h>

/**
 * @return whether every word of a well-formed list is in components.def, or it is "off" or "all".
 */
bool components_known(const char *list);

/**
 * Write the names in components.def that are nearest to the first unknown word of a well-formed
 * list: ": did you mean 'rapl'?"; "" if none is near.
 */
void components_nearest(const char *list, char *text, size_t size);

/** @return the names in components.def, "rapl, powercap". Static storage. */
const char *components_names(void);

#endif
