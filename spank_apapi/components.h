/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_COMPONENTS_H
#define SPANK_APAPI_COMPONENTS_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

#define SPANK_APAPI_LIST_SIZE 1024 /* bytes of a list that a user gives, with its NUL */
#define SPANK_APAPI_OFF "off"      /* instead of a list: do not measure */

/**
 * Check the form of a component list: words between colons, none of them empty; "off" stands
 * alone. Says nothing about whether the components exist.
 * @return 0; -1 with errno EINVAL, `err` names the word.
 */
int spank_apapi_components_check(const char *list, struct apapi_error *err);

/** @return whether every word of a well-formed list is in components.def, or the list is "off". */
bool spank_apapi_components_known(const char *list);

/** @return the names in components.def, "rapl, powercap". Static storage. */
const char *spank_apapi_components_names(void);

#endif
