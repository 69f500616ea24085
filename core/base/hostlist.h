/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_HOSTLIST_H
#define APAPI_BASE_HOSTLIST_H
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define HOSTLIST_MAX 65536 /* names that one list may hold */

/** @return 0 to go on; -1 with errno to stop. */
typedef int (*hostlist_visit_f)(void *context, const char *name);

/**
 * Visit every name of a list as Slurm writes it: "login,n[001-004,7],r[1-2]n[1-4]".
 * @return how many there are; -1 with errno EINVAL (not such a list, or more than HOSTLIST_MAX
 *         names; some may have been visited) or that of `visit`.
 */
ssize_t hostlist_each(const char *list, hostlist_visit_f visit, void *context);

/**
 * Write names as such a list, sorted, cut after about `columns` bytes: "n[1-4,7] and 3 more".
 * @param names  are sorted in place
 */
void hostlist_put(FILE *out, const char **names, size_t count, size_t columns);

#endif
