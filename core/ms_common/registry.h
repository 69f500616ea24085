/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_REGISTRY_H
#define MS_COMMON_REGISTRY_H
#include "ms_common/measure.h"

/* The systems that ms_init() has made, so that others are not taken for them. Any thread. */

/** @return the system, with what can be measured in its configuration; NULL: no memory */
struct ms_system *registry_add(struct measure *measure);

/** @return what measures for a system; NULL: ms_init() has not made it, or ms_fini() ended it. */
struct measure *registry_find(const struct ms_system *system);

/** @return what measures for it, which the caller owns from now on; NULL as above. */
struct measure *registry_remove(struct ms_system *system);

/** No system stores anything in this list any more. */
void registry_forget(const struct ms_list *list);

#endif
