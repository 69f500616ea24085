/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_LACKING_H
#define APAPI_SUM_LACKING_H
#include <stdint.h>

#include "base/names.h"

/**
 * Which nodes of a step have no record.
 * @param list     of all its nodes, as a record has it; "": not known
 * @param nodes    how many these are
 * @param own      nodes that have a record, each once, sorted by namelist_sort()
 * @param lacking  result: the others, sorted; to be freed by namelist_free(), whatever is returned
 * @return 1; 0: the list is not believed, as it is none, has another number of nodes, or not all of
 *         `own`; -1 with ENOMEM.
 */
int lacking_nodes(const char *list, uint32_t nodes, const struct namelist *own,
                  struct namelist *lacking);

#endif
