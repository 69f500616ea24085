/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_LIST_H
#define MS_COMMON_LIST_H
#include "ms_common/interface.h"
#include "ms_common/resource.h"

/* Lists of measurements, one for each resource. */

/** Append a measurement with all figures 0. @return 0; -1: no memory */
int list_append(struct ms_list **list, enum resource resource);

/** @return the measurement of this resource; NULL: the list has none. NULL is allowed. */
void *list_find(const struct ms_list *list, enum resource resource);

/** Free a list and its measurements. NULL is allowed. */
void list_free(struct ms_list *list);

#endif
